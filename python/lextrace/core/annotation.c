#include "core/annotation.h"

#include <string.h>

PyObject *lx_starter;
__thread bool lx_reading;

void lx_starter_set(PyObject *callable)
{
	Py_XSETREF(lx_starter, callable);
}

void lx_starter_call(void)
{
	PyObject *starter = lx_starter;
	struct lx_exception saved = lx_exception_save();

	lx_starter = NULL;
	PyObject *result = PyObject_CallNoArgs(starter);

	if (!result && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		PyErr_Clear();
		PyErr_SetInterrupt(); /* it comes again, where the program can take it */
	} else if (!result) {
		PyErr_WriteUnraisable(starter);
	}
	Py_XDECREF(result);
	Py_DECREF(starter);
	lx_exception_restore(saved);
}

/* Regions open in a greenlet belong to its stack: the switch is noticed here, too, not at the next function only. */
bool lx_annotation_attend(void)
{
	struct lx_thread *thread = lx_thread_self ? lx_thread_self : lx_python_thread_first();

	if (thread && __atomic_load_n(lx_attention, __ATOMIC_RELAXED) && !thread->busy) {
		lx_guard(thread, 1);
		lx_python_attend(thread);
		lx_guard(thread, 0);
	}
	return thread != NULL;
}

/* ---- Places ---- */

static enum lx_comp comp_of(PyObject *comp)
{
#define LX_X(number, NAME, name)                                                                   \
	if (PyUnicode_CompareWithASCIIString(comp, name) == 0)                                     \
		return LX_COMP_##NAME;
	LX_COMPS(LX_X)
#undef LX_X
	return LX_COMP_NONE;
}

/* File and line of what is decorated: of the function innermost in its wrappers. */
static void locate(struct lx_annotation *place, PyObject *function)
{
	PyObject *inner = Py_NewRef(function);

	for (int depth = 0; depth < 100 && !PyFunction_Check(inner); depth++) {
		PyObject *next = PyObject_GetAttrString(inner, "__wrapped__");

		if (!next)
			break;
		Py_SETREF(inner, next);
	}
	PyErr_Clear();
	if (PyFunction_Check(inner)) {
		const PyCodeObject *code = (const PyCodeObject *)PyFunction_GET_CODE(inner);

		place->file = Py_NewRef(code->co_filename);
		place->line = (uint32_t)code->co_firstlineno;
	}
	Py_DECREF(inner);
}

int lx_annotation_set(struct lx_annotation *place, PyObject *category, PyObject *name, PyObject *comp, PyObject *function)
{
	place->title = name ? PyUnicode_FromFormat("%U/%U", category, name) : Py_NewRef(category);
	if (!place->title)
		return -1;
	place->category = name ? PyUnicode_GET_LENGTH(category) : 0;
	place->comp = comp ? comp_of(comp) : LX_COMP_NONE;
	if (function)
		locate(place, function);
	return 0;
}

void lx_annotation_clear(struct lx_annotation *place)
{
	Py_CLEAR(place->title);
	Py_CLEAR(place->file);
}

void lx_annotation_look(struct lx_annotation *place)
{
	static char name[LX_DEFINITION_TEXT_MAX + 4], file[LX_DEFINITION_TEXT_MAX + 4]; /* the stack may be a small one */
	struct lx_region_place region = {.name = name, .file = file, .line = place->line, .comp = place->comp};
	uint32_t generation = lx_generation;

	region.name_size = lx_text_of(place->title, name, sizeof(name));
	region.file_size = place->file ? lx_text_of(place->file, file, sizeof(file)) : 0;
	if (place->category > 0) { /* in bytes: what comes before the slash that follows so many characters */
		Py_ssize_t left = place->category;
		size_t at = 0;

		for (; at < region.name_size; at++)
			if (((unsigned char)name[at] & 0xC0) != 0x80 && left-- == 0)
				break;
		region.category_size = at;
	}
	place->word = lx_region_define(&region, &place->plan);
	if (place->word) /* else there was no room for its name: next time perhaps */
		place->generation = generation;
}

/* ---- Places that are named where they are used ---- */

#define PLACES 1024u /* one for each hash; the last one met there holds it */

static struct lx_shared_place *places[PLACES];

static struct lx_shared_place *new_place(PyObject *category, PyObject *name, PyObject *comp)
{
	struct lx_shared_place *shared = PyMem_Calloc(1, sizeof(*shared));

	if (!shared) {
		PyErr_NoMemory();
		return NULL;
	}
	shared->category = Py_NewRef(category);
	shared->name = Py_XNewRef(name);
	shared->comp = Py_XNewRef(comp);
	shared->users = 1;
	if (lx_annotation_set(&shared->place, category, name, comp, NULL) == 0)
		return shared;
	lx_place_put(shared);
	return NULL;
}

struct lx_shared_place *lx_place_get(PyObject *category, PyObject *name, PyObject *comp)
{
	size_t at = (lx_code_hash(category) ^ lx_code_hash(name) * 3 ^ lx_code_hash(comp) * 5) & (PLACES - 1);
	struct lx_shared_place *shared = places[at];

	if (lx_unlikely(!shared || shared->category != category || shared->name != name || shared->comp != comp)) {
		shared = new_place(category, name, comp);
		if (!shared)
			return NULL;
		if (places[at])
			lx_place_put(places[at]);
		places[at] = shared;
	}
	shared->users++;
	return shared;
}

void lx_place_put(struct lx_shared_place *shared)
{
	if (--shared->users > 0)
		return;
	Py_XDECREF(shared->category);
	Py_XDECREF(shared->name);
	Py_XDECREF(shared->comp);
	lx_annotation_clear(&shared->place);
	PyMem_Free(shared);
}

/* ---- Keys ---- */

#define KEYS 256u /* one place for each hash; the last key met there holds it */

uint32_t lx_key_of(PyObject *key)
{
	static struct {
		PyObject *key;
		uint32_t word, session;
	} keys[KEYS];
	unsigned at = (unsigned)(lx_code_hash(key) & (KEYS - 1));

	if (keys[at].key == key && keys[at].session == lx_session_generation)
		return keys[at].word;
	static char name[LX_DEFINITION_TEXT_MAX + 4];
	uint32_t word = lx_key_look(name, lx_text_of(key, name, sizeof(name)));

	if (word) {
		Py_XSETREF(keys[at].key, Py_NewRef(key));
		keys[at].word = word;
		keys[at].session = lx_session_generation;
	}
	return word;
}

/* ---- Values ---- */

/* An exception of the program's own methods goes away, but for what ends the program. */
static int swallow(void)
{
	if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)) {
		PyErr_Clear();
		return 0;
	}
	return -1;
}

static int set_text(struct lx_arg_value *out, enum lx_text_form form, const char *text, Py_ssize_t size)
{
	*out = (struct lx_arg_value){.kind = LX_ARG_TEXT, .form = form, .text = text, .size = (size_t)size};
	return 0;
}

/* `string` is a new reference, or NULL with an exception: then the type's name stands for the value. */
static int set_string(struct lx_arg_value *out, enum lx_text_form form, PyObject *string, PyObject *value, PyObject **keep)
{
	Py_ssize_t size;

	if (!string && swallow() != 0)
		return -1;
	if (!string)
		string = PyUnicode_FromFormat("<%s object>", Py_TYPE(value)->tp_name);
	const char *text = string ? PyUnicode_AsUTF8AndSize(string, &size) : NULL;

	if (!text && string) { /* lone surrogates */
		PyErr_Clear();
		Py_SETREF(string, PyUnicode_AsEncodedString(string, "utf-8", "surrogatepass"));
		text = string ? PyBytes_AS_STRING(string) : NULL;
		size = string ? PyBytes_GET_SIZE(string) : 0;
	}
	*keep = string;
	if (!text) {
		PyErr_Clear();
		return set_text(out, LX_TEXT_STRING, "<no memory>", 11);
	}
	return set_text(out, form, text, size);
}

static int set_int(struct lx_arg_value *out, PyObject *number, PyObject **keep)
{
	int overflow;
	long long integer = PyLong_AsLongLongAndOverflow(number, &overflow);

	if (!overflow) {
		*out = (struct lx_arg_value){.kind = LX_ARG_INT, .integer = integer};
		return 0;
	}
	PyObject *digits = PyLong_Type.tp_repr(number);

	if (digits)
		return set_string(out, LX_TEXT_NUMBER, digits, number, keep);
	if (swallow() != 0)
		return -1;
	/* more digits than the interpreter writes in decimal */
	return set_string(out, LX_TEXT_STRING, PyNumber_ToBase(number, 16), number, keep);
}

static int set_float(struct lx_arg_value *out, double value)
{
	*out = (struct lx_arg_value){.kind = LX_ARG_FLOAT, .real = value};
	return 0;
}

static int set_json(struct lx_arg_value *out, PyObject *value, PyObject **keep)
{
	PyObject *module = PyImport_ImportModule("json");
	PyObject *dumps = module ? PyObject_GetAttrString(module, "dumps") : NULL;
	PyObject *args = Py_BuildValue("(O)", value), *options = Py_BuildValue("{s:O}", "default", &PyUnicode_Type);
	PyObject *text = dumps && args && options ? PyObject_Call(dumps, args, options) : NULL;

	Py_XDECREF(options);
	Py_XDECREF(args);
	Py_XDECREF(dumps);
	Py_XDECREF(module);
	if (text)
		return set_string(out, LX_TEXT_JSON, text, value, keep);
	if (swallow() != 0)
		return -1;
	return set_string(out, LX_TEXT_STRING, PyObject_Str(value), value, keep);
}

/* `value` as the number it is asked for as; false: it is none. */
static int set_number(PyObject *value, enum lx_as as, struct lx_arg_value *out, PyObject **keep, bool *done)
{
	PyObject *number = as == LX_AS_INT ? PyNumber_Long(value) : PyNumber_Float(value);

	*done = number != NULL;
	if (!number)
		return swallow();
	int result = as == LX_AS_INT ? set_int(out, number, keep) : set_float(out, PyFloat_AS_DOUBLE(number));

	Py_DECREF(number);
	return result;
}

static int read_value(PyObject *value, enum lx_as as, struct lx_arg_value *out, PyObject **keep)
{
	bool done = false;

	*keep = NULL;
	if (as == LX_AS_STR && !PyUnicode_Check(value))
		return set_string(out, LX_TEXT_STRING, PyObject_Str(value), value, keep);
	if ((as == LX_AS_INT && !PyLong_Check(value)) || (as == LX_AS_FLOAT && !PyFloat_Check(value))) {
		int result = value == Py_None ? 0 : set_number(value, as, out, keep, &done);

		if (result != 0 || done)
			return result;
	}
	if (PyLong_Check(value))
		return set_int(out, value, keep);
	if (PyFloat_Check(value))
		return set_float(out, PyFloat_AS_DOUBLE(value));
	if (PyUnicode_Check(value))
		return set_string(out, LX_TEXT_STRING, Py_NewRef(value), value, keep);
	if (PyBytes_Check(value)) {
		*keep = Py_NewRef(value);
		return set_text(out, LX_TEXT_STRING, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
	}
	if (value == Py_None || PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value))
		return set_json(out, value, keep);
	if (PyIndex_Check(value)) { /* numpy's integers */
		PyObject *number = PyNumber_Index(value);
		int result = number ? set_int(out, number, keep) : swallow();

		done = number != NULL;
		Py_XDECREF(number);
		if (result != 0 || done)
			return result;
	}
	return set_string(out, LX_TEXT_STRING, PyObject_Str(value), value, keep);
}

int lx_value_of(PyObject *value, enum lx_as as, struct lx_arg_value *out, PyObject **keep)
{
	bool before = lx_reading;

	lx_reading = true;
	int result = read_value(value, as, out, keep);

	lx_reading = before;
	return result;
}

int lx_value_add(PyObject *key, PyObject *value, enum lx_as as)
{
	struct lx_arg_value out;
	PyObject *keep;
	int result = lx_value_of(value, as, &out, &keep);
	uint32_t word = result == 0 ? lx_key_of(key) : 0;

	if (word)
		lx_argument_add(word, &out);
	Py_XDECREF(keep);
	return result;
}

int lx_comp_add(PyObject *comp)
{
	static PyObject *key;

	if (PyUnicode_GET_LENGTH(comp) == 0)
		return 0;
	if (!key && !(key = PyUnicode_InternFromString("comp")))
		return -1;
	return lx_value_add(key, comp, LX_AS_ANY);
}

/* ---- Regions of `with` statements and loops ---- */

int lx_place_begin(struct lx_shared_place *shared, const void *key)
{
	if (!lx_annotation_ready(&shared->place))
		return 0;
	lx_region_begin(key, shared->place.word, shared->place.plan);
	if (lx_unlikely(shared->comp != NULL) && shared->place.comp == LX_COMP_NONE && lx_comp_add(shared->comp) != 0)
		return -1;
	return 1;
}

void lx_place_end(const struct lx_annotation *place, const void *key, bool unwinding)
{
	if (lx_session_active() && lx_annotation_attend())
		lx_region_leave_with(key, place->plan, unwinding);
	if (*lx_attention & LX_ATTENTION_WORK)
		lx_annotation_attend();
}

/* ---- Attributes ---- */

PyObject *lx_attribute_of(PyObject *object, PyObject *name, PyObject *inner)
{
	PyObject *value = PyObject_GenericGetAttr(object, name);

	if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	PyErr_Clear();
	return PyObject_GetAttr(inner, name);
}
