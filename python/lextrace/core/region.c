#include "core/annotation.h"

struct region {
	PyObject_HEAD
	struct lx_shared_place *shared;
};

static PyTypeObject region_type;

/* `name` and `comp` may be None or NULL. */
static PyObject *make(PyObject *category, PyObject *name, PyObject *comp)
{
	PyObject *const strings[] = {category, name == Py_None ? NULL : name, comp == Py_None ? NULL : comp};
	struct region *self;

	for (int i = 0; i < 3; i++)
		if (strings[i] && !PyUnicode_Check(strings[i]))
			return PyErr_Format(PyExc_TypeError, "category, name and comp of a region are str, not %.100s",
					    Py_TYPE(strings[i])->tp_name);
	self = PyObject_New(struct region, &region_type);
	if (!self)
		return NULL;
	self->shared = lx_place_get(strings[0], strings[1], strings[2]);
	if (!self->shared)
		Py_CLEAR(self);
	return (PyObject *)self;
}

static PyObject *region_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"category", "name", "comp", NULL};
	PyObject *category, *name = NULL, *comp = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:region", names, &category, &name, &comp))
		return NULL;
	return make(category, name, comp);
}

/* Without a tuple for what is given by position. */
static PyObject *region_call(PyObject *type, PyObject *const *args, size_t flags, PyObject *names)
{
	Py_ssize_t count = PyVectorcall_NARGS(flags), more = names ? PyTuple_GET_SIZE(names) : 0;

	if (!more && count >= 1 && count <= 3)
		return make(args[0], count > 1 ? args[1] : NULL, count > 2 ? args[2] : NULL);
	PyObject *tuple = PyTuple_New(count), *dict = more ? PyDict_New() : NULL, *result = NULL;

	for (Py_ssize_t i = 0; tuple && i < count; i++)
		PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
	for (Py_ssize_t i = 0; dict && i < more; i++)
		if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), args[count + i]) != 0)
			Py_CLEAR(dict);
	if (tuple && (dict || !more))
		result = region_new((PyTypeObject *)type, tuple, dict);
	Py_XDECREF(tuple);
	Py_XDECREF(dict);
	return result;
}

static void region_dealloc(struct region *self)
{
	if (self->shared)
		lx_place_put(self->shared);
	PyObject_Free(self);
}

static PyObject *region_enter(struct region *self, PyObject *Py_UNUSED(none))
{
	return lx_place_begin(self->shared, self) < 0 ? NULL : Py_NewRef(self);
}

static PyObject *region_exit(struct region *self, PyObject *const *args, Py_ssize_t count)
{
	lx_place_end(&self->shared->place, self, count > 0 && args[0] != Py_None);
	Py_RETURN_FALSE;
}

/* Another region of the same name: what two coroutines open at the same time must not share. */
static PyObject *region_again(struct region *self, PyObject *Py_UNUSED(none))
{
	struct region *other = PyObject_New(struct region, &region_type);

	if (other) {
		other->shared = self->shared;
		other->shared->users++;
	}
	return (PyObject *)other;
}

static PyObject *region_repr(struct region *self)
{
	return PyUnicode_FromFormat("<lextrace.region %R>", self->shared->place.title);
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
	.tp_doc = PyDoc_STR("region(category, name=None, comp=None)\n--\n\n"
			    "A named stretch of the program, shown in the trace as \"category/name\" (domain User).\n\n"
			    "comp: what it does, one of io, mem, cpu, comm; another word is recorded as it is.\n\n"
			    "A context manager; may be entered again and again, also while it is open. Costs next to nothing\n"
			    "while nothing is recorded. Suspended with the generator or coroutine it is open in.\n\n"
			    ">>> with lextrace.region(\"IO\", \"read_loop\"):\n...     pass\n"),
};

int lx_region_ready(PyObject *module)
{
	region_type.tp_vectorcall = region_call;
	if (PyType_Ready(&region_type) < 0)
		return -1;
	return PyModule_AddObjectRef(module, "region", (PyObject *)&region_type);
}
