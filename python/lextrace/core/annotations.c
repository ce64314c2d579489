/* The functions that add to what is recorded: arguments, spans told afterwards, moments, counters, metadata. */
#include "core/annotation.h"

#include <string.h>

static PyObject *update(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
	if (count != 2 || !PyUnicode_Check(args[0]))
		return PyErr_Format(PyExc_TypeError, "update(key, value): the key is a str");
	if (!lx_session_active() || !lx_annotation_attend() || !lx_argument_wanted())
		Py_RETURN_FALSE;
	if (lx_value_add(args[0], args[1], LX_AS_ANY) != 0)
		return NULL;
	Py_RETURN_TRUE;
}

/* ---- Arguments from a dict ---- */

struct arguments {
	struct lx_argument *list;
	PyObject **keep;
	size_t count;
};

static void release(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		Py_XDECREF(arguments->keep[i]);
	PyMem_Free(arguments->list);
	PyMem_Free(arguments->keep);
}

/* A key that is no str is written as str() has it. 0 or -1 with an exception; release() in both cases. */
static int read_arguments(PyObject *dict, struct arguments *out)
{
	bool given = dict && dict != Py_None;
	PyObject *items = given && PyDict_Check(dict) ? PyDict_Items(dict) : NULL;
	Py_ssize_t count = items ? PyList_GET_SIZE(items) : 0;
	int result = given && !items ? -1 : 0;

	if (given && !PyDict_Check(dict))
		PyErr_Format(PyExc_TypeError, "arguments are a dict, not %.100s", Py_TYPE(dict)->tp_name);
	out->count = 0;
	out->list = PyMem_New(struct lx_argument, (size_t)count + 1);
	out->keep = PyMem_New(PyObject *, (size_t)count + 1);
	if (!out->list || !out->keep) {
		PyErr_NoMemory();
		result = -1;
	}
	for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
		PyObject *item = PyList_GET_ITEM(items, i);
		PyObject *name = PyObject_Str(PyTuple_GET_ITEM(item, 0));
		struct lx_argument *argument = &out->list[out->count];

		if (!name) {
			result = -1;
			break;
		}
		PyUnicode_InternInPlace(&name);
		argument->key = lx_key_of(name);
		Py_DECREF(name);
		result = lx_value_of(PyTuple_GET_ITEM(item, 1), LX_AS_ANY, &argument->value, &out->keep[out->count]);
		if (result == 0)
			out->count++;
	}
	Py_XDECREF(items);
	return result;
}

/*
 * The shared place that an event of its own stands for, ready: to be given back. NULL: it is not recorded here and now, or
 * there is an exception. No code of the program runs between this and the event.
 */
static struct lx_shared_place *find_place(PyObject *category, PyObject *name, PyObject *comp)
{
	struct lx_shared_place *shared = lx_place_get(category, name, comp);

	if (shared && !lx_annotation_ready(&shared->place)) {
		lx_place_put(shared);
		return NULL;
	}
	return shared;
}

static bool nobody_records(void)
{
	return !lx_session_active() && !lx_starter;
}

static PyObject *none_or_error(int result)
{
	return result == 0 && !PyErr_Occurred() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *span(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"category", "name", "begin_ns", "duration_ns", "args", "comp", NULL};
	PyObject *category, *name, *values = NULL, *comp = NULL;
	long long begin, duration;
	struct lx_shared_place *shared;
	struct arguments arguments;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "UULL|OU:span", names, &category, &name, &begin, &duration, &values,
					 &comp))
		return NULL;
	if (nobody_records())
		Py_RETURN_NONE;
	int result = read_arguments(values, &arguments);

	if (result == 0 && (shared = find_place(category, name, comp))) {
		lx_span_add(shared->place.word, shared->place.plan, begin, duration > 0 ? (uint64_t)duration : 0,
			    arguments.list, arguments.count);
		lx_place_put(shared);
	}
	release(&arguments);
	return none_or_error(result);
}

static PyObject *point(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
	static char *names[] = {"category", "name", "args", NULL};
	PyObject *category, *name, *values = NULL;
	struct lx_shared_place *shared;
	struct arguments arguments;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "UU|O:point", names, &category, &name, &values))
		return NULL;
	if (nobody_records())
		Py_RETURN_NONE;
	int result = read_arguments(values, &arguments);

	if (result == 0 && (shared = find_place(category, name, NULL))) {
		lx_point_add(shared->place.word, shared->place.plan, arguments.list, arguments.count);
		lx_place_put(shared);
	}
	release(&arguments);
	return none_or_error(result);
}

static PyObject *counter(PyObject *Py_UNUSED(module), PyObject *args)
{
	PyObject *category, *name;
	struct lx_shared_place *shared;
	double value;

	if (!PyArg_ParseTuple(args, "UUd:counter", &category, &name, &value))
		return NULL;
	if (nobody_records())
		Py_RETURN_NONE;
	shared = find_place(category, name, NULL);
	if (shared) {
		lx_counter_add(shared->place.word, shared->place.plan, value);
		lx_place_put(shared);
	}
	return none_or_error(0);
}

static PyObject *metadata(PyObject *Py_UNUSED(module), PyObject *args)
{
	PyObject *key, *value, *keep;
	struct lx_arg_value out;

	if (!PyArg_ParseTuple(args, "UO:metadata", &key, &value))
		return NULL;
	if (!lx_session_active() || !lx_annotation_attend())
		Py_RETURN_NONE;
	if (lx_value_of(value, PyLong_Check(value) ? LX_AS_ANY : LX_AS_STR, &out, &keep) != 0)
		return NULL;
	char digits[32];

	if (out.kind == LX_ARG_INT) {
		int size = snprintf(digits, sizeof(digits), "%lld", (long long)out.integer);

		out = (struct lx_arg_value){.kind = LX_ARG_TEXT, .form = LX_TEXT_NUMBER, .text = digits, .size = (size_t)size};
	}
	uint32_t word = lx_key_of(key);

	if (word)
		lx_metadata_add(word, &out);
	Py_XDECREF(keep);
	Py_RETURN_NONE;
}

static PyObject *when_recording(PyObject *Py_UNUSED(module), PyObject *callable)
{
	lx_starter_set(callable == Py_None ? NULL : Py_NewRef(callable));
	Py_RETURN_NONE;
}

static PyObject *now_ns(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
	return PyLong_FromUnsignedLongLong(lx_clock_ns(CLOCK_REALTIME));
}

static PyMethodDef functions[] = {
	{"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL,
	 PyDoc_STR("update(key, value)\n--\n\nAdd an argument to the innermost region open in this thread; False where none is recorded.\n\n"
		   "The value is recorded as a number, a text or JSON; whatever else as str() has it. A key that comes again\n"
		   "replaces the value.\n\n>>> with lextrace.region(\"IO\", \"read\"):\n...     lextrace.update(\"bytes\", 4096)\n")},
	{"span", (PyCFunction)(void (*)(void))span, METH_VARARGS | METH_KEYWORDS,
	 PyDoc_STR("A whole span, told afterwards: begin in ns since the epoch, duration in ns.")},
	{"point", (PyCFunction)(void (*)(void))point, METH_VARARGS | METH_KEYWORDS, PyDoc_STR("A moment, with arguments.")},
	{"counter", counter, METH_VARARGS, PyDoc_STR("counter(category, name, value): what a quantity is from here on.")},
	{"metadata", metadata, METH_VARARGS, PyDoc_STR("metadata(key, value): what holds for the whole process.")},
	{"when_recording", when_recording, METH_O,
	 PyDoc_STR("What is called, once, when an annotation is met while nothing records; None: nothing.")},
	{"now_ns", now_ns, METH_NOARGS, PyDoc_STR("Nanoseconds since the epoch.")},
	{NULL, NULL, 0, NULL},
};

int lx_annotations_ready(PyObject *module)
{
	return PyModule_AddFunctions(module, functions);
}
