#include "core/annotation.h"

struct region {
	PyObject_HEAD
	struct lx_annotation place;
	PyObject *comp;      /* what was given as comp and is no lx_comp; NULL: nothing */
};

static PyObject *region_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"category", "name", "comp", "function", NULL};
	PyObject *category, *name = NULL, *comp = NULL, *function = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "U|OUO:region", names, &category, &name, &comp, &function))
		return NULL;
	if (name == Py_None)
		name = NULL;
	if (name && !PyUnicode_Check(name))
		return PyErr_Format(PyExc_TypeError, "the name of a region is a str, not %.100s", Py_TYPE(name)->tp_name);
	struct region *self = (struct region *)type->tp_alloc(type, 0);

	if (self && lx_annotation_set(&self->place, category, name, comp, function == Py_None ? NULL : function) != 0)
		Py_CLEAR(self);
	if (self && comp && PyUnicode_GET_LENGTH(comp) > 0 && self->place.comp == LX_COMP_NONE)
		self->comp = Py_NewRef(comp);
	return (PyObject *)self;
}

static void region_dealloc(struct region *self)
{
	lx_annotation_clear(&self->place);
	Py_XDECREF(self->comp);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *region_enter(struct region *self, PyObject *Py_UNUSED(none))
{
	static PyObject *comp;

	if (!lx_annotation_ready(&self->place))
		return Py_NewRef(self);
	lx_region_begin(self, self->place.word, self->place.plan);
	if (self->comp) {
		if ((!comp && !(comp = PyUnicode_InternFromString("comp"))) || lx_value_add(comp, self->comp, LX_AS_ANY) != 0)
			PyErr_Clear();
	}
	return Py_NewRef(self);
}

static PyObject *region_exit(struct region *self, PyObject *const *args, Py_ssize_t count)
{
	if (lx_session_active() && lx_annotation_attend())
		lx_region_end(self, self->place.plan, count > 0 && args[0] != Py_None);
	if (*lx_attention & LX_ATTENTION_WORK)
		lx_annotation_attend();
	Py_RETURN_FALSE;
}

/* Another region of the same name: what two coroutines open at the same time must not share. */
static PyObject *region_again(struct region *self, PyObject *Py_UNUSED(none))
{
	struct region *other = (struct region *)Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);

	if (other) {
		other->place = self->place;
		Py_INCREF(other->place.title);
		Py_XINCREF(other->place.file);
		other->comp = Py_XNewRef(self->comp);
	}
	return (PyObject *)other;
}

static PyObject *region_repr(struct region *self)
{
	return PyUnicode_FromFormat("<lextrace.region %R>", self->place.title);
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
	.tp_doc = PyDoc_STR("region(category, name=None, comp='', function=None)\n--\n\n"
			    "A named stretch of the program, shown in the trace as \"category/name\" (domain User).\n\n"
			    "comp: what it does, one of io, mem, cpu, comm. function: whose file and line it has.\n\n"
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
