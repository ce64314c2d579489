/*
 * lextrace._core.scope: what a class of annotations stands on that is a context manager with arguments of its own. Objects
 * of it are made anew for each `with` statement, so that making, entering and leaving one stays in C; what arguments mean is
 * the class's: `_begin_arguments(...)` takes those of the constructor beyond category and name, `_end_arguments()` gives
 * those of the region that ends (a dict) where there may be any.
 */
#include "core/annotation.h"

#include <stddef.h>
#include <structmember.h>

struct scope {
	PyObject_HEAD
	PyObject *category, *name, *comp; /* name None: not given */
	PyObject *kept;         /* arguments of each region of the object: a dict, or None */
	PyObject *own;          /* of the open one: a dict, or None */
	PyObject *dict;
	struct lx_shared_place *shared;
	long long begin;        /* ns since the epoch, of the making */
	char enabled;
	int open;               /* `with` blocks that it is entered in */
	uint64_t recorded;      /* a bit for each of them, the innermost last */
};

static PyObject *scope_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	struct scope *self = (struct scope *)type->tp_alloc(type, 0);

	if (!self)
		return NULL;
	self->kept = Py_NewRef(Py_None);
	self->own = Py_NewRef(Py_None);
	self->comp = Py_NewRef(Py_None);
	self->enabled = 1;
	self->begin = (long long)lx_clock_ns(CLOCK_REALTIME);
	Py_ssize_t count = PyTuple_GET_SIZE(args);

	if (!keywords && count == 2 && PyUnicode_CheckExact(PyTuple_GET_ITEM(args, 0)) &&
	    PyUnicode_CheckExact(PyTuple_GET_ITEM(args, 1))) {
		self->category = Py_NewRef(PyTuple_GET_ITEM(args, 0));
		self->name = Py_NewRef(PyTuple_GET_ITEM(args, 1));
		return (PyObject *)self;
	}
	PyObject *method = PyObject_GetAttrString((PyObject *)self, "_begin_arguments");
	PyObject *result = method ? PyObject_Call(method, args, keywords) : NULL;

	if (!result)
		Py_CLEAR(self);
	Py_XDECREF(method);
	Py_XDECREF(result);
	return (PyObject *)self;
}

/* Everything was done by scope_new(): object's own would refuse the arguments. */
static int scope_init(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
	return 0;
}

static int find_place(struct scope *self)
{
	PyObject *name = self->name == Py_None ? NULL : self->name, *comp = self->comp == Py_None ? NULL : self->comp;

	if (!self->category || !PyUnicode_Check(self->category) || (name && !PyUnicode_Check(name)) ||
	    (comp && !PyUnicode_Check(comp))) {
		PyErr_SetString(PyExc_TypeError, "category, name and comp of an annotation are str");
		return -1;
	}
	if (self->shared && self->shared->category == self->category && self->shared->name == name &&
	    self->shared->comp == comp)
		return 0;
	if (self->shared)
		lx_place_put(self->shared);
	self->shared = lx_place_get(self->category, name, comp);
	return self->shared ? 0 : -1;
}

static PyObject *scope_enter(struct scope *self, PyObject *Py_UNUSED(none))
{
	if (!self->enabled)
		return Py_NewRef(self);
	if (!self->open && find_place(self) != 0) /* an open one keeps its place: it ends where it began */
		return NULL;
	Py_SETREF(self->own, Py_NewRef(Py_None));
	self->open++;
	int begun = lx_place_begin(self->shared, self);

	self->recorded = self->recorded << 1 | (begun != 0);
	return begun < 0 ? NULL : Py_NewRef(self);
}

/* The arguments that the class gives. */
static int add_arguments(struct scope *self)
{
	PyObject *arguments = PyObject_CallMethod((PyObject *)self, "_end_arguments", NULL);
	PyObject *items = arguments && PyDict_Check(arguments) && lx_argument_wanted() ? PyDict_Items(arguments) : NULL;
	int result = arguments && !PyErr_Occurred() ? 0 : -1;

	for (Py_ssize_t i = 0; items && result == 0 && i < PyList_GET_SIZE(items); i++) {
		PyObject *item = PyList_GET_ITEM(items, i), *key = PyTuple_GET_ITEM(item, 0);

		if (PyUnicode_Check(key))
			result = lx_value_add(key, PyTuple_GET_ITEM(item, 1), LX_AS_ANY);
	}
	Py_XDECREF(items);
	Py_XDECREF(arguments);
	return result;
}

static PyObject *scope_exit(struct scope *self, PyObject *const *args, Py_ssize_t count)
{
	int result = 0;

	if (!self->open)
		Py_RETURN_NONE;
	if (self->own != Py_None || self->kept != Py_None || self->dict)
		result = add_arguments(self);
	bool recorded = self->recorded & 1;

	self->open--;
	self->recorded >>= 1;
	if (recorded)
		lx_place_end(&self->shared->place, self, count > 0 && args[0] != Py_None);
	if (result != 0)
		return NULL;
	Py_RETURN_NONE;
}

static int scope_traverse(struct scope *self, visitproc visit, void *arg)
{
	Py_VISIT(self->category);
	Py_VISIT(self->name);
	Py_VISIT(self->comp);
	Py_VISIT(self->kept);
	Py_VISIT(self->own);
	Py_VISIT(self->dict);
	return 0;
}

static int scope_clear(struct scope *self)
{
	Py_CLEAR(self->category);
	Py_CLEAR(self->name);
	Py_CLEAR(self->comp);
	Py_CLEAR(self->kept);
	Py_CLEAR(self->own);
	Py_CLEAR(self->dict);
	return 0;
}

static void scope_dealloc(struct scope *self)
{
	PyObject_GC_UnTrack(self);
	scope_clear(self);
	if (self->shared)
		lx_place_put(self->shared);
	Py_TYPE(self)->tp_free(self);
}

static PyMethodDef scope_methods[] = {
	{"__enter__", (PyCFunction)scope_enter, METH_NOARGS, PyDoc_STR("Begin the region.")},
	{"__exit__", (PyCFunction)(void (*)(void))scope_exit, METH_FASTCALL, PyDoc_STR("End the region.")},
	{NULL, NULL, 0, NULL},
};

static PyMemberDef scope_members[] = {
	{"_cat", T_OBJECT, offsetof(struct scope, category), 0, NULL},
	{"_given", T_OBJECT, offsetof(struct scope, name), 0, NULL},
	{"_comp", T_OBJECT, offsetof(struct scope, comp), 0, NULL},
	{"_kept", T_OBJECT, offsetof(struct scope, kept), 0, NULL},
	{"_own", T_OBJECT, offsetof(struct scope, own), 0, NULL},
	{"_begin", T_LONGLONG, offsetof(struct scope, begin), 0, NULL},
	{"_enable", T_BOOL, offsetof(struct scope, enabled), 0, NULL},
	{"_open", T_INT, offsetof(struct scope, open), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyTypeObject scope_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace._core.scope",
	.tp_basicsize = sizeof(struct scope),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.tp_new = scope_new,
	.tp_init = scope_init,
	.tp_dealloc = (destructor)scope_dealloc,
	.tp_traverse = (traverseproc)scope_traverse,
	.tp_clear = (inquiry)scope_clear,
	.tp_dictoffset = offsetof(struct scope, dict),
	.tp_methods = scope_methods,
	.tp_members = scope_members,
	.tp_doc = PyDoc_STR("A context manager with a category, a name and arguments, for classes of annotations."),
};

int lx_scope_ready(PyObject *module)
{
	if (PyType_Ready(&scope_type) < 0)
		return -1;
	return PyModule_AddObjectRef(module, "scope", (PyObject *)&scope_type);
}
