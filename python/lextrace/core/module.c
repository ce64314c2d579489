/* lextrace._core: the session, the hooks of the running interpreter, regions. The thin Python face stands on it. */
#include "capture/python.h"

#include <errno.h>
#include <string.h>

#include "capture/pfw_export.h"
#include "capture/control.h"
#include "capture/control_file.h"
#include "core/annotation.h"
#include "lextrace/version.h"

/* A session, with everything that stands around it. 0, or -1 with an exception. */
static int open_session(const struct lx_session_options *options, const char *config)
{
	int error = lx_control_start(config, options->c_calls);

	if (error) {
		errno = -error;
		PyErr_SetFromErrnoWithFilename(PyExc_OSError, config ? config : options->run);
		return -1;
	}
	lx_meters_start();
	if (lx_mode(LX_DOMAIN_PYTHON) != LX_MODE_OFF && lx_python_hooks_reserve() != 0)
		return -1;
	error = lx_session_start(options);
	if (error) {
		lx_python_hooks_clear();
		errno = -error;
		PyErr_SetFromErrnoWithFilename(PyExc_OSError, options->run);
		return -1;
	}
	lx_control_started();
	return 0;
}

static PyObject *start(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"run",	   "program",  "executable", "python", "argv", "c_calls",
				"follow", "announce", "null_sink",  "config", "annotations", NULL};
	struct lx_session_options options = {.follow = true};
	int c_calls = 0, follow = 1, announce = 0, null_sink = 0, annotations = 0;
	PyObject *config_path = Py_None;
	Py_ssize_t argv_size;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "yyyyy#|ppppOp:start", names, &options.run, &options.program,
					 &options.executable, &options.python, &options.argv, &argv_size, &c_calls, &follow,
					 &announce, &null_sink, &config_path, &annotations))
		return NULL;
	const char *config = config_path == Py_None ? NULL : PyBytes_AsString(config_path);

	if (config_path != Py_None && !config)
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
	lx_annotations_only = annotations;
	if (lx_python_audit() != 0 || (!joins && open_session(&options, config) != 0))
		return NULL;
	if (lx_codes_start() != 0) {
		PyErr_NoMemory();
		goto fail;
	}
	lx_callables_start();
	lx_python_look_for_greenlet();
	if (!joins) {
		lx_suspended_forget();
		if (!annotations || lx_control_path()) /* a program that is not traced keeps its handlers */
			lx_python_signal_take();
		if (!lx_thread_self)
			lx_python_thread_first();
		else
			lx_meter_thread_placed(lx_thread_self);
	}
	if (lx_python_mode_apply() == 0)
		Py_RETURN_NONE;
fail:
	if (!joins) {
		struct lx_exception saved = lx_exception_save();

		lx_python_hooks_clear();
		lx_python_signal_give_back();
		lx_session_stop();
		lx_exception_restore(saved);
	}
	return NULL;
}

static PyObject *stop(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	lx_python_hooks_clear();
	if (lx_session_active())
		lx_python_signal_give_back();
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
	lx_python_threads_forget();
	lx_suspended_forget();
	if (!lx_session_wanted())
		lx_python_hooks_clear();
	else if (lx_mode(LX_DOMAIN_PYTHON) != LX_MODE_OFF)
		lx_python_hooks_restart(); /* the windows of the parent are not the child's */
	Py_RETURN_NONE;
}

/* ---- Control ---- */

static PyObject *reload(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return lx_python_reload() != 0 ? NULL : Py_NewRef(Py_None);
}

/* modes() -> {domain: mode}; modes("Python=STANDBY") sets. */
static PyObject *modes(PyObject *Py_UNUSED(module), PyObject *text)
{
	int8_t wanted[LX_RULED_DOMAINS];
	char message[256];
	Py_ssize_t size;
	const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
	struct lx_thread *thread = lx_thread_get();

	if (!bytes || !thread)
		return NULL;
	if (size > 0) {
		if (!lx_modes_parse(bytes, (size_t)size, '=', wanted, message, sizeof(message)))
			return PyErr_Format(PyExc_ValueError, "%s", message);
		lx_guard(thread, thread->busy + 1);
		bool changed = lx_control_modes(thread, wanted, "api");
		int result = changed && lx_session_active() ? lx_python_mode_apply() : 0;

		lx_guard(thread, thread->busy - 1);
		if (result != 0)
			return NULL;
	}
	PyObject *all = PyDict_New();

	for (uint32_t domain = 0; all && domain < LX_RULED_DOMAINS; domain++) {
		PyObject *name = PyUnicode_FromString(lx_mode_name(lx_mode(domain)));

		if (!name || PyDict_SetItemString(all, lx_domain_info(domain)->name, name) != 0)
			Py_CLEAR(all);
		Py_XDECREF(name);
	}
	return all;
}

/* knob(name) -> (value,) or None */
static PyObject *knob(PyObject *Py_UNUSED(module), PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	struct lx_knob found;

	if (!text)
		return NULL;
	if (!lx_control_knob(text, &found))
		Py_RETURN_NONE;
	if (found.kind == LX_KNOB_INT)
		return Py_BuildValue("(L)", (long long)found.integer);
	return found.kind == LX_KNOB_DOUBLE ? Py_BuildValue("(d)", found.real) : Py_BuildValue("(s)", found.text);
}

static PyObject *active(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyBool_FromLong(lx_session_active());
}

static PyObject *folder(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyUnicode_DecodeFSDefault(lx_session_run_folder());
}

static PyObject *process_folder(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyUnicode_DecodeFSDefault(lx_session_folder());
}

/* What the last recording of the process has lost: "", or as "98 events: disk full 90, no memory 8". */
static PyObject *lost(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	static const char *const causes[LX_LOSS_COUNT] = {
#define LX_X(number, NAME, field, text) [number] = text,
		LX_LOSSES(LX_X)
#undef LX_X
	};
	const struct lx_state *state = lx_session_state();
	char text[512] = "";
	uint64_t all = 0;
	size_t used = 0;

	for (int i = 0; i < LX_LOSS_COUNT; i++) {
		all += state->lost[i];
		if (state->lost[i] > 0 && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s %llu", used ? "," : "", causes[i],
						 (unsigned long long)state->lost[i]);
	}
	return all ? PyUnicode_FromFormat("%llu events:%s", (unsigned long long)all, text) : PyUnicode_FromString("");
}

static int read_metric(const char *name, enum lx_pfw_metric *metric)
{
	static const char *const names[] = {[LX_PFW_US] = "US", [LX_PFW_NS] = "NS", [LX_PFW_MS] = "MS", [LX_PFW_SEC] = "SEC"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*metric = (enum lx_pfw_metric)i;
			return 0;
		}
	PyErr_Format(PyExc_ValueError, "the unit of time %s: one of US NS MS SEC", name);
	return -1;
}

static PyObject *write_pfw(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"folder", "out", "text", "dialect", "metric", "remove", NULL};
	PyObject *folder = NULL, *out = NULL, *result = NULL;
	struct lx_pfw_options options = {0};
	int text = 0, dialect = 2, remove = 0, error;
	const char *metric = "US";
	char message[1024] = "";

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O&|pisp:write_pfw", names, PyUnicode_FSConverter, &folder,
					 PyUnicode_FSConverter, &out, &text, &dialect, &metric, &remove))
		return NULL;
	options.text = text;
	options.dialect = dialect == 1 ? LX_PFW_1 : LX_PFW_2;
	if (read_metric(metric, &options.metric) != 0)
		goto end;
	Py_BEGIN_ALLOW_THREADS
	error = lx_pfw_export(PyBytes_AS_STRING(folder), PyBytes_AS_STRING(out), &options, remove, message, sizeof(message));
	Py_END_ALLOW_THREADS
	if (error == 0) {
		result = Py_NewRef(Py_None);
	} else {
		PyObject *value = Py_BuildValue("(iNN)", -error, PyUnicode_DecodeFSDefault(message),
						PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(out)));

		if (value)
			PyErr_SetObject(PyExc_OSError, value);
		Py_XDECREF(value);
	}
end:
	Py_DECREF(folder);
	Py_DECREF(out);
	return result;
}

static PyMethodDef methods[] = {
	{"start", (PyCFunction)(void (*)(void))start, METH_VARARGS | METH_KEYWORDS,
	 PyDoc_STR("Start a session and set the hooks of this interpreter; `annotations`: the Python domain stays off.")},
	{"process_folder", process_folder, METH_NOARGS, PyDoc_STR("The folder of this process in the run; '' without a recording.")},
	{"lost", lost, METH_NOARGS, PyDoc_STR("What the last recording of this process has lost, as a text; '' for nothing.")},
	{"write_pfw", (PyCFunction)(void (*)(void))write_pfw, METH_VARARGS | METH_KEYWORDS,
	 PyDoc_STR("A process folder that has ended as a .pfw file.")},
	{"stop", stop, METH_NOARGS,
	 PyDoc_STR("stop()\n--\n\nStop recording and complete the trace. Nothing happens when nothing is recorded.")},
	{"leave", leave, METH_VARARGS, PyDoc_STR("stop() as the end of a `with` block.")},
	{"after_fork_child", after_fork_child, METH_NOARGS, PyDoc_STR("For os.register_at_fork.")},
	{"reload", reload, METH_NOARGS,
	 PyDoc_STR("reload()\n--\n\nRead the configuration file again, as SIGUSR1 does. Nothing happens where there is none.\n\n"
		   "Raises ValueError when the file is wrong or cannot be read: everything then stays as it is.\n\n"
		   ">>> lextrace.reload()\n")},
	{"modes", modes, METH_O, PyDoc_STR("The modes of all domains, after those that the text names were set.")},
	{"knob", knob, METH_O, PyDoc_STR("The value of a knob in a tuple, or None.")},
	{"active", active, METH_NOARGS, PyDoc_STR("active()\n--\n\nWhether this process records now.")},
	{"folder", folder, METH_NOARGS, PyDoc_STR("folder()\n--\n\nThe run folder of the recording at hand; '' without one.")},
	{NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
	static int (*const parts[])(PyObject *module) = {
		lx_region_ready, lx_decorated_ready, lx_decorate_ready, lx_runs_ready, lx_steps_ready, lx_scope_ready,
		lx_annotations_ready,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i](module) != 0)
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
