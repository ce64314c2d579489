/*
 * The decorated function: a C callable that begins a region, calls, and ends it. What it does not have it takes from the
 * function, so that signatures, documentation and the tests for coroutine functions see that.
 */
#include "core/annotation.h"

#include <stddef.h>
#include <string.h>

static PyTypeObject method_type, plain_type;

/* ---- Calls ---- */

static PyObject *argument_of(const struct lx_parameter *parameter, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	if (parameter->index >= 0 && parameter->index < count)
		return Py_NewRef(args[parameter->index]);
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);

		if (name == parameter->name || PyUnicode_Compare(name, parameter->name) == 0)
			return Py_NewRef(args[count + i]);
	}
	return Py_XNewRef(parameter->otherwise);
}

/* An attribute that the object or its class stores; nothing that a property or __getattr__ would have to make up. */
static PyObject *stored_attribute(PyObject *object, PyObject *name)
{
	PyObject *of_class = _PyType_Lookup(Py_TYPE(object), name); /* borrowed */

	if (of_class && Py_TYPE(of_class)->tp_descr_get && !Py_IS_TYPE(of_class, &PyMemberDescr_Type))
		return NULL;
	PyObject *value = _PyObject_GenericGetAttrWithDict(object, name, NULL, 1);

	if (!value)
		PyErr_Clear();
	return value;
}

void lx_parameters_take(lx_decorated *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **values)
{
	for (Py_ssize_t i = 0; i < self->parameter_count; i++) {
		const struct lx_parameter *parameter = &self->parameters[i];

		values[i] = NULL;
		if (!parameter->attribute)
			values[i] = argument_of(parameter, args, count, names);
		else if (count > 0)
			values[i] = stored_attribute(args[0], parameter->name);
	}
}

int lx_parameters_add(lx_decorated *self, PyObject *const *values)
{
	if (!lx_argument_wanted())
		return 0;
	if (self->comp && lx_comp_add(self->comp) != 0)
		return -1;
	for (Py_ssize_t i = 0; i < self->parameter_count; i++)
		if (values && values[i] && lx_value_add(self->parameters[i].name, values[i], self->parameters[i].as) != 0)
			return -1;
	return 0;
}

static void drop(PyObject **values, Py_ssize_t count)
{
	for (Py_ssize_t i = 0; i < count; i++)
		Py_XDECREF(values[i]);
}

/* Reads the arguments of the call into the region that has just begun. */
static int add_arguments(lx_decorated *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	PyObject *few[8], **values = self->parameter_count <= 8 ? few : PyMem_New(PyObject *, (size_t)self->parameter_count);

	if (!values)
		return 0;
	lx_parameters_take(self, args, count, names, values);
	int result = lx_parameters_add(self, values);

	drop(values, self->parameter_count);
	if (values != few)
		PyMem_Free(values);
	return result;
}

static PyObject *call_function(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
	lx_decorated *self = (lx_decorated *)callable;

	if (!lx_annotation_ready(&self->place))
		return PyObject_Vectorcall(self->function, args, flags, names);
	PyObject *result = NULL;

	Py_INCREF(self); /* the call may replace it where it stands */
	lx_region_begin(self, self->place.word, self->place.plan);
	if (lx_likely((!self->parameter_count && !self->comp) || lx_reading) || add_arguments(self, args, PyVectorcall_NARGS(flags), names) == 0)
		result = PyObject_Vectorcall(self->function, args, flags, names);
	if (lx_likely(lx_session_active())) {
		if (lx_unlikely(*lx_attention))
			lx_annotation_attend();
		lx_region_end(self, self->place.plan, result == NULL);
		if (lx_unlikely(*lx_attention & LX_ATTENTION_WORK))
			lx_annotation_attend();
	}
	Py_DECREF(self);
	return result;
}

/* Functions whose calls give a generator, coroutine or async generator: the region is its run. */
static PyObject *call_for_run(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
	lx_decorated *self = (lx_decorated *)callable;
	PyObject *inner = PyObject_Vectorcall(self->function, args, flags, names);

	if (!inner || !lx_annotation_ready(&self->place))
		return inner;
	PyObject **values = self->parameter_count > 0 && !lx_reading ? PyMem_New(PyObject *, (size_t)self->parameter_count) : NULL;

	if (values)
		lx_parameters_take(self, args, PyVectorcall_NARGS(flags), names, values);
	return lx_run_new(self, inner, values);
}

#define RUNS (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE)

int lx_code_flags(PyObject *function)
{
	PyObject *code = PyObject_GetAttrString(function, "__code__");
	int flags = code && PyCode_Check(code) ? ((PyCodeObject *)code)->co_flags : 0;

	PyErr_Clear();
	Py_XDECREF(code);
	return flags;
}

/* ---- As an attribute of a class ---- */

static PyObject *bind(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
	return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

/* Whether binding it to an instance means to pass the instance as its first argument, as for functions. */
static bool binds_as_method(PyObject *function)
{
	return PyType_HasFeature(Py_TYPE(function), Py_TPFLAGS_METHOD_DESCRIPTOR);
}

static PyObject *around(PyObject *function, const lx_decorated *like);

/* What binds in a way of its own does so, and what comes of it is decorated; what does not bind stays. */
static PyObject *bind_otherwise(PyObject *object, PyObject *instance, PyObject *type)
{
	PyObject *function = ((lx_decorated *)object)->function;
	descrgetfunc get = Py_TYPE(function)->tp_descr_get;
	PyObject *bound = get ? get(function, instance, type) : NULL;

	if (!get)
		return Py_NewRef(object);
	PyObject *result = bound ? around(bound, (lx_decorated *)object) : NULL;

	Py_XDECREF(bound);
	return result;
}

/* ---- Attributes ---- */

static PyObject *get_attribute(PyObject *object, PyObject *name)
{
	return lx_attribute_of(object, name, ((lx_decorated *)object)->function);
}

/* What the function runs by is set where it runs. */
static int set_attribute(PyObject *object, PyObject *name, PyObject *value)
{
	static const char *const of_function[] = {"__code__", "__defaults__", "__kwdefaults__", "__signature__"};

	for (size_t i = 0; i < sizeof(of_function) / sizeof(*of_function); i++)
		if (PyUnicode_CompareWithASCIIString(name, of_function[i]) == 0)
			return PyObject_SetAttr(((lx_decorated *)object)->function, name, value);
	return PyObject_GenericSetAttr(object, name, value);
}

/* As functools.wraps does: its own copies of the names, the rest is looked up in the function. */
static int take_attributes(lx_decorated *self)
{
	static const char *const names[] = {"__module__", "__name__", "__qualname__", "__doc__"};
	PyObject *own = PyObject_GetAttrString(self->function, "__dict__");

	self->dict = PyDict_New();
	if (!self->dict)
		return -1;
	if (own && PyDict_Check(own) && PyDict_Update(self->dict, own) != 0) {
		Py_DECREF(own);
		return -1;
	}
	PyErr_Clear();
	Py_XDECREF(own);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		PyObject *value = PyObject_GetAttrString(self->function, names[i]);
		int result = value ? PyDict_SetItemString(self->dict, names[i], value) : 0;

		if (!value)
			PyErr_Clear();
		Py_XDECREF(value);
		if (result != 0)
			return -1;
	}
	return PyDict_SetItemString(self->dict, "__wrapped__", self->function);
}

static PyObject *reduce(PyObject *self, PyObject *Py_UNUSED(none))
{
	return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *repr(lx_decorated *self)
{
	return PyObject_Repr(self->function);
}

static int traverse(lx_decorated *self, visitproc visit, void *arg)
{
	Py_VISIT(self->function);
	Py_VISIT(self->dict);
	for (Py_ssize_t i = 0; i < self->parameter_count; i++)
		Py_VISIT(self->parameters[i].otherwise);
	return 0;
}

static int clear(lx_decorated *self)
{
	Py_CLEAR(self->dict);
	for (Py_ssize_t i = 0; i < self->parameter_count; i++)
		Py_CLEAR(self->parameters[i].otherwise);
	return 0; /* the function stays: who still calls it gets what it always did */
}

static void dealloc(lx_decorated *self)
{
	PyObject_GC_UnTrack(self);
	if (self->weak)
		PyObject_ClearWeakRefs((PyObject *)self);
	clear(self);
	Py_CLEAR(self->function);
	Py_CLEAR(self->comp);
	for (Py_ssize_t i = 0; i < self->parameter_count; i++)
		Py_CLEAR(self->parameters[i].name);
	PyMem_Free(self->parameters);
	lx_annotation_clear(&self->place);
	Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
	{"__reduce__", reduce, METH_NOARGS, PyDoc_STR("By name.")},
	{NULL, NULL, 0, NULL},
};

/* For whoever asks, as inspect does, it is what it stands for; the interpreter itself goes by the type. */
static PyObject *get_class(lx_decorated *self, void *Py_UNUSED(unused))
{
	return Py_NewRef(Py_TYPE(self->function));
}

static PyGetSetDef own_attributes[] = {
	{"__class__", (getter)get_class, NULL, NULL, NULL},
	{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

#define DECORATED                                                                                  \
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace.decorated",                             \
	.tp_basicsize = sizeof(lx_decorated), .tp_vectorcall_offset = offsetof(lx_decorated, call), \
	.tp_call = PyVectorcall_Call, .tp_getattro = get_attribute, .tp_setattro = set_attribute,  \
	.tp_repr = (reprfunc)repr, .tp_traverse = (traverseproc)traverse, .tp_clear = (inquiry)clear, \
	.tp_dealloc = (destructor)dealloc, .tp_methods = methods, .tp_getset = own_attributes,                                  \
	.tp_dictoffset = offsetof(lx_decorated, dict), .tp_weaklistoffset = offsetof(lx_decorated, weak)

#define FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL)

/* What becomes a method in a class, and what stays what it is there. */
static PyTypeObject method_type = {DECORATED, .tp_flags = FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR, .tp_descr_get = bind};
static PyTypeObject plain_type = {DECORATED, .tp_flags = FLAGS, .tp_descr_get = bind_otherwise};

static lx_decorated *make(PyObject *function)
{
	PyTypeObject *type = binds_as_method(function) ? &method_type : &plain_type;
	lx_decorated *self = (lx_decorated *)type->tp_alloc(type, 0);

	if (self) {
		self->function = Py_NewRef(function);
		self->call = lx_code_flags(function) & RUNS ? call_for_run : call_function;
	}
	return self;
}

/* The same place around another callable: its parameters stand elsewhere, and are not recorded. */
static PyObject *around(PyObject *function, const lx_decorated *like)
{
	lx_decorated *self = make(function);

	if (!self)
		return NULL;
	self->place = like->place;
	Py_INCREF(self->place.title);
	Py_XINCREF(self->place.file);
	self->comp = Py_XNewRef(like->comp);
	if (take_attributes(self) != 0)
		Py_CLEAR(self);
	return (PyObject *)self;
}

/* ---- Decorating ---- */

/* The position of a name among the positional parameters; -1. */
static Py_ssize_t position(const PyCodeObject *code, PyObject *names, PyObject *name)
{
	for (Py_ssize_t i = 0; i < code->co_argcount; i++)
		if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0)
			return i;
	return -1;
}

static PyObject *default_of(PyObject *function, const PyCodeObject *code, PyObject *name, Py_ssize_t index)
{
	PyObject *defaults = PyFunction_GET_DEFAULTS(function), *by_name = PyFunction_GET_KW_DEFAULTS(function);
	Py_ssize_t at = defaults && index >= 0 ? index - (code->co_argcount - PyTuple_GET_SIZE(defaults)) : -1;

	if (at >= 0)
		return Py_NewRef(PyTuple_GET_ITEM(defaults, at));
	return by_name ? Py_XNewRef(PyDict_GetItemWithError(by_name, name)) : NULL;
}

static int read_as(PyObject *text, enum lx_as *as)
{
	static const char *const names[] = {"any", "int", "float", "str"};

	for (int i = 0; i < 4; i++)
		if (PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, names[i]) == 0) {
			*as = (enum lx_as)i;
			return 0;
		}
	PyErr_Format(PyExc_ValueError, "how to record a parameter: %R? One of any int float str", text);
	return -1;
}

/* Adds those that the items name; of `attributes` those that are parameters are looked for as such. */
static int add_parameters(lx_decorated *self, PyObject *items, bool attributes)
{
	PyObject *function = self->function;
	const PyCodeObject *code = PyFunction_Check(function) ? (PyCodeObject *)PyFunction_GET_CODE(function) : NULL;
	PyObject *names = code ? PyCode_GetVarnames((PyCodeObject *)code) : NULL;
	int result = code && !names ? -1 : 0;

	for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
		PyObject *item = PyTuple_GET_ITEM(items, i), *name = item, *as = NULL;
		struct lx_parameter *parameter = &self->parameters[self->parameter_count];

		if (PyTuple_Check(item) && !PyArg_ParseTuple(item, "UO", &name, &as)) {
			result = -1;
			break;
		}
		if (!PyUnicode_Check(name)) {
			PyErr_Format(PyExc_TypeError, "the name of a parameter is a str, not %.100s", Py_TYPE(name)->tp_name);
			result = -1;
			break;
		}
		*parameter = (struct lx_parameter){.name = Py_NewRef(name), .index = -1, .attribute = attributes};
		self->parameter_count++;
		PyUnicode_InternInPlace(&parameter->name);
		if (as && read_as(as, &parameter->as) != 0)
			result = -1;
		if (code && !attributes) {
			parameter->index = position(code, names, name);
			parameter->otherwise = default_of(function, code, name, parameter->index);
		}
	}
	Py_XDECREF(names);
	return result;
}

PyObject *lx_decorated_new(PyObject *function, const struct lx_wish *wish)
{
	lx_decorated *self = make(function);

	if (!self)
		return NULL;
	self->parameters = PyMem_Calloc((size_t)(PyTuple_GET_SIZE(wish->parameters) + PyTuple_GET_SIZE(wish->attributes)) + 1,
					sizeof(*self->parameters));
	if (!self->parameters) {
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	if (lx_annotation_set(&self->place, wish->category, wish->name, wish->comp, function) != 0 || take_attributes(self) != 0 ||
	    add_parameters(self, wish->parameters, false) != 0 || add_parameters(self, wish->attributes, true) != 0)
		Py_CLEAR(self);
	else if (PyUnicode_GET_LENGTH(wish->comp) > 0 && self->place.comp == LX_COMP_NONE)
		self->comp = Py_NewRef(wish->comp);
	return (PyObject *)self;
}

int lx_decorated_ready(PyObject *Py_UNUSED(module))
{
	if (PyType_Ready(&method_type) < 0 || PyType_Ready(&plain_type) < 0)
		return -1;
	return 0;
}
