/* What may be decorated: functions, and what stands in a class in their place. It stays what it is. */
#include "core/annotation.h"

#include <string.h>

static PyObject *decorate_any(PyObject *function, const struct lx_wish *wish);

/* staticmethod, classmethod: the same around a decorated function. */
static PyObject *decorate_inside(PyObject *function, const struct lx_wish *wish)
{
	PyObject *inner = PyObject_GetAttrString(function, "__func__");
	PyObject *made = inner ? decorate_any(inner, wish) : NULL;
	PyObject *result = made ? PyObject_CallOneArg((PyObject *)Py_TYPE(function), made) : NULL;

	Py_XDECREF(made);
	Py_XDECREF(inner);
	return result;
}

static PyObject *decorate_property(PyObject *function, const struct lx_wish *wish)
{
	static const char *const names[] = {"fget", "fset", "fdel"};
	PyObject *parts[4] = {NULL, NULL, NULL, NULL}, *result = NULL;

	for (int i = 0; i < 3; i++) {
		PyObject *part = PyObject_GetAttrString(function, names[i]);

		if (!part)
			goto end;
		parts[i] = part == Py_None ? Py_NewRef(part) : decorate_any(part, wish);
		Py_DECREF(part);
		if (!parts[i])
			goto end;
	}
	parts[3] = PyObject_GetAttrString(function, "__doc__");
	if (parts[3])
		result = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(function), parts[0], parts[1], parts[2], parts[3], NULL);
end:
	for (int i = 0; i < 4; i++)
		Py_XDECREF(parts[i]);
	return result;
}

/* Functions of these names are class methods without being told so, as long as they are plain functions. */
static bool is_class_method_by_name(PyObject *function)
{
	PyObject *name = PyFunction_Check(function) ? ((PyFunctionObject *)function)->func_name : NULL;

	return name && (PyUnicode_CompareWithASCIIString(name, "__init_subclass__") == 0 ||
			PyUnicode_CompareWithASCIIString(name, "__class_getitem__") == 0);
}

/*
 * A class stays the class that it is: its own __init__, or else __new__, is what is recorded. One that has neither makes
 * nothing of its own: it is left as it is, since what is put into it would come in the way of who inherits from several.
 */
static PyObject *decorate_class(PyObject *class, const struct lx_wish *wish)
{
	static const char *const slots[] = {"__init__", "__new__"};

	if (!(((PyTypeObject *)class)->tp_flags & Py_TPFLAGS_HEAPTYPE))
		return lx_decorated_new(class, wish);
	PyObject *own = PyObject_GetAttrString(class, "__dict__");

	for (int i = 0; own && i < 2; i++) {
		PyObject *inner = PyMapping_GetItemString(own, slots[i]);

		if (!inner) {
			PyErr_Clear();
			continue;
		}
		PyObject *made = decorate_any(inner, wish);
		int result = made ? PyObject_SetAttrString(class, slots[i], made) : -1;

		Py_XDECREF(made);
		Py_DECREF(inner);
		Py_DECREF(own);
		return result == 0 ? Py_NewRef(class) : NULL;
	}
	Py_XDECREF(own);
	return own ? Py_NewRef(class) : NULL;
}

static PyObject *decorate_any(PyObject *function, const struct lx_wish *wish)
{
	if (PyObject_TypeCheck(function, &PyStaticMethod_Type) || PyObject_TypeCheck(function, &PyClassMethod_Type))
		return decorate_inside(function, wish);
	if (PyObject_TypeCheck(function, &PyProperty_Type))
		return decorate_property(function, wish);
	if (PyType_Check(function))
		return decorate_class(function, wish);
	const char *type = Py_TYPE(function)->tp_name;

	if (strcmp(type, "cached_property") == 0 || strcmp(type, "partialmethod") == 0) { /* of functools: they call `func` */
		PyObject *inner = PyObject_GetAttrString(function, "func"), *made = inner ? decorate_any(inner, wish) : NULL;
		int result = made ? PyObject_SetAttrString(function, "func", made) : -1;

		Py_XDECREF(made);
		Py_XDECREF(inner);
		return result == 0 ? Py_NewRef(function) : NULL;
	}
	if (!PyCallable_Check(function))
		return PyErr_Format(PyExc_TypeError, "what is decorated is a function, method or class, not %.100s",
				    Py_TYPE(function)->tp_name);
	PyObject *made = lx_decorated_new(function, wish);

	if (made && is_class_method_by_name(function))
		Py_SETREF(made, PyClassMethod_New(made));
	return made;
}

static PyObject *decorate(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"function", "category", "name", "comp", "parameters", "self_attributes", NULL};
	PyObject *function, *nothing = PyTuple_New(0), *no_comp = PyUnicode_FromString(""), *result = NULL;
	struct lx_wish wish = {.comp = no_comp, .parameters = nothing, .attributes = nothing};

	if (nothing && no_comp &&
	    PyArg_ParseTupleAndKeywords(args, keywords, "OUU|UO!O!:decorate", names, &function, &wish.category, &wish.name,
					&wish.comp, &PyTuple_Type, &wish.parameters, &PyTuple_Type, &wish.attributes))
		result = decorate_any(function, &wish);
	Py_XDECREF(nothing);
	Py_XDECREF(no_comp);
	return result;
}

static PyMethodDef functions[] = {
	{"decorate", (PyCFunction)(void (*)(void))decorate, METH_VARARGS | METH_KEYWORDS,
	 PyDoc_STR("The function (method, class, property, ...) as a region CATEGORY/NAME.")},
	{NULL, NULL, 0, NULL},
};

int lx_decorate_ready(PyObject *module)
{
	return PyModule_AddFunctions(module, functions);
}
