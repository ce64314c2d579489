#include "core/region.h"

#include <string.h>

#include "capture/annotate.h"
#include "capture/python.h"

struct region {
	PyObject_HEAD
	PyObject *name;      /* "category/name" */
	uint32_t word, generation, plan;
};

static PyObject *region_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"category", "name", NULL};
	PyObject *category, *name = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "U|U:region", names, &category, &name))
		return NULL;
	PyObject *whole = name ? PyUnicode_FromFormat("%U/%U", category, name) : Py_NewRef(category);

	if (!whole)
		return NULL;
	struct region *self = (struct region *)type->tp_alloc(type, 0);

	if (!self) {
		Py_DECREF(whole);
		return NULL;
	}
	self->name = whole;
	return (PyObject *)self;
}

static void region_dealloc(struct region *self)
{
	Py_XDECREF(self->name);
	Py_TYPE(self)->tp_free(self);
}

/* Regions open in a greenlet belong to its stack: the switch is noticed here, too, not at the next function only. */
static bool on_running_stack(void)
{
	struct lx_thread *thread = lx_thread_self ? lx_thread_self : lx_python_thread_first();

	if (thread && lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED)) && !thread->busy) {
		lx_guard(thread, 1);
		lx_python_attend(thread);
		lx_guard(thread, 0);
	}
	return thread != NULL;
}

static PyObject *region_enter(struct region *self, PyObject *Py_UNUSED(none))
{
	if (!lx_session_active())
		return Py_NewRef(self);
	if (!on_running_stack())
		return Py_NewRef(self);
	if (self->generation != lx_generation) {
		uint32_t generation = lx_generation;
		static char name[LX_DEFINITION_TEXT_MAX + 4]; /* the GIL is held; the stack may be a small one */

		self->word = lx_region_look(name, lx_text_of(self->name, name, sizeof(name)), &self->plan);
		if (self->word)
			self->generation = generation;
	}
	lx_region_begin(self, self->word, self->plan);
	return Py_NewRef(self);
}

static PyObject *region_exit(struct region *self, PyObject *const *args, Py_ssize_t count)
{
	if (lx_session_active() && on_running_stack())
		lx_region_end(self, self->plan, count > 0 && args[0] != Py_None);
	if (*lx_attention & LX_ATTENTION_WORK)
		on_running_stack();
	Py_RETURN_FALSE;
}

/* Another region of the same name: what two coroutines open at the same time must not share. */
static PyObject *region_again(struct region *self, PyObject *Py_UNUSED(none))
{
	struct region *other = (struct region *)Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);

	if (other) {
		other->name = Py_NewRef(self->name);
		other->word = self->word;
		other->generation = self->generation;
		other->plan = self->plan;
	}
	return (PyObject *)other;
}

static PyObject *region_repr(struct region *self)
{
	return PyUnicode_FromFormat("<lextrace.region %R>", self->name);
}

static PyMethodDef region_methods[] = {
	{"__enter__", (PyCFunction)region_enter, METH_NOARGS, PyDoc_STR("Begin the region.")},
	{"__exit__", (PyCFunction)(void (*)(void))region_exit, METH_FASTCALL, PyDoc_STR("End the region.")},
	{"again", (PyCFunction)region_again, METH_NOARGS, PyDoc_STR("Another region of the same name.")},
	{NULL, NULL, 0, NULL},
};

static PyTypeObject region_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace.region",
	.tp_basicsize = sizeof(struct region),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = region_new,
	.tp_dealloc = (destructor)region_dealloc,
	.tp_repr = (reprfunc)region_repr,
	.tp_methods = region_methods,
	.tp_doc = PyDoc_STR("region(category, name=None)\n--\n\n"
			    "A named stretch of the program, shown in the trace as \"category/name\" (domain User).\n\n"
			    "A context manager; may be entered again and again, also while it is open. Costs next to nothing\n"
			    "while nothing is recorded. Suspended with the generator or coroutine it is open in.\n\n"
			    ">>> with lextrace.region(\"IO\", \"read_loop\"):\n...     pass\n"),
};

int lx_region_ready(PyObject *module)
{
	if (PyType_Ready(&region_type) < 0)
		return -1;
	return PyModule_AddObjectRef(module, "region", (PyObject *)&region_type);
}
