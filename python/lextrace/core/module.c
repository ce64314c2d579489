/* lextrace._core: the session, the hooks of the running interpreter, regions. The thin Python face stands on it. */
#include "capture/python.h"

#include <errno.h>
#include <string.h>

#include "capture/annotate.h"
#include "core/region.h"
#include "lextrace/version.h"

static PyObject *start(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"run",	   "program",  "executable", "python", "argv",
				"c_calls", "follow",   "announce",   "null_sink", NULL};
	struct lx_session_options options = {.follow = true};
	int c_calls = 0, follow = 1, announce = 0, null_sink = 0;
	Py_ssize_t argv_size;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "yyyyy#|pppp:start", names, &options.run, &options.program,
					 &options.executable, &options.python, &options.argv, &argv_size, &c_calls, &follow,
					 &announce, &null_sink))
		return NULL;
	options.argv_size = (size_t)argv_size;
	options.c_calls = c_calls;
	options.follow = follow;
	options.announce = announce;
	options.null_sink = null_sink;
	/* A second interpreter that shares the GIL joins the session that is there. */
	bool joins = lx_session_active() && PyInterpreterState_Get() != PyInterpreterState_Main();

	if (lx_session_active() && !joins)
		return PyErr_Format(PyExc_RuntimeError, "lextrace is recording already");
	if (lx_python_hooks_reserve() != 0)
		return NULL;
	int error = joins ? 0 : lx_session_start(&options);

	if (error || lx_codes_start() != 0) {
		lx_python_hooks_clear();
		if (!error)
			return PyErr_NoMemory();
		errno = -error;
		return PyErr_SetFromErrnoWithFilename(PyExc_OSError, options.run);
	}
	lx_callables_start();
	lx_python_look_for_greenlet();
	if (lx_python_hooks_set(c_calls) != 0) {
		if (!joins)
			lx_session_stop();
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *stop(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	lx_python_hooks_clear();
	lx_session_stop();
	Py_RETURN_NONE;
}

/* stop() for a `with` block, whatever ended it. */
static PyObject *leave(PyObject *module, PyObject *Py_UNUSED(exception))
{
	return stop(module, NULL);
}

/* In a forked child that is not to record, the hooks go. */
static PyObject *after_fork_child(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	if (!lx_session_wanted())
		lx_python_hooks_clear();
	Py_RETURN_NONE;
}

static PyObject *active(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyBool_FromLong(lx_session_active());
}

static PyObject *folder(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyUnicode_DecodeFSDefault(lx_session_run_folder());
}

static PyMethodDef methods[] = {
	{"start", (PyCFunction)(void (*)(void))start, METH_VARARGS | METH_KEYWORDS,
	 PyDoc_STR("Start a session and set the hooks of this interpreter.")},
	{"stop", stop, METH_NOARGS,
	 PyDoc_STR("stop()\n--\n\nStop recording and complete the trace. Nothing happens when nothing is recorded.")},
	{"leave", leave, METH_VARARGS, PyDoc_STR("stop() as the end of a `with` block.")},
	{"after_fork_child", after_fork_child, METH_NOARGS, PyDoc_STR("For os.register_at_fork.")},
	{"active", active, METH_NOARGS, PyDoc_STR("active()\n--\n\nWhether this process records now.")},
	{"folder", folder, METH_NOARGS, PyDoc_STR("folder()\n--\n\nThe run folder of the recording at hand; '' without one.")},
	{NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
	if (lx_region_ready(module) != 0)
		return -1;
	return PyModule_AddStringConstant(module, "version", LX_VERSION);
}

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030c0000
	/* In interpreters that share the GIL; one with a GIL of its own refuses the import, and runs untraced. */
	{Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_SUPPORTED},
#endif
	{0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "lextrace._core",
	.m_doc = PyDoc_STR("The C side of lextrace."),
	.m_methods = methods,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
