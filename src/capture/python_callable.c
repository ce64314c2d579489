#include "capture/python.h"

#include <stdio.h>
#include <string.h>

/*
 * C callables by what stays: the method definition or slot of a function, the type of anything else. The second key
 * (a definition's name, a slot's class) and for types the name's hash guard against an address that serves another
 * definition later.
 */
struct lx_callable_entry lx_callables[LX_CALLABLES];

struct callable {
	const void *key, *key2;
	const char *owner;  /* class (as __qualname__ has it) or module before the dot; NULL: none */
	const char *name;
};

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* The class in the method resolution order of `type` whose method table holds this definition. */
static const char *owner_of(PyTypeObject *type, const PyMethodDef *method)
{
	PyObject *mro = type->tp_mro;

	for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
		PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);

		for (const PyMethodDef *at = base->tp_methods; at && at->ml_name; at++)
			if (at == method)
				return base->tp_name;
	}
	return type->tp_name;
}

static const char *module_name(PyObject *module, char *out, size_t space)
{
	if (!module || !PyUnicode_Check(module))
		return NULL;
	size_t size = lx_text_of(module, out, space - 1);

	out[size] = '\0';
	return strcmp(out, "builtins") == 0 ? NULL : out;
}

static struct callable look_at(PyObject *callable, char *buffer, size_t space)
{
	PyTypeObject *type = Py_TYPE(callable);
	struct callable found = {type, NULL, NULL, type->tp_name};

	if (PyMethod_Check(callable)) /* of a C function or object */
		return look_at(PyMethod_GET_FUNCTION(callable), buffer, space);
	if (PyCFunction_Check(callable)) {
		const PyMethodDef *method = ((PyCFunctionObject *)callable)->m_ml;
		PyObject *self = ((PyCFunctionObject *)callable)->m_self;

		found = (struct callable){method, method->ml_name, NULL, method->ml_name}; /* as lx_callable_word has it */
		if (!self || PyModule_Check(self))
			found.owner = module_name(((PyCFunctionObject *)callable)->m_module, buffer, space);
		else
			found.owner = last_part(owner_of(PyType_Check(self) ? (PyTypeObject *)self : Py_TYPE(self), method));
	} else if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type) {
		const PyMethodDef *method = ((PyMethodDescrObject *)callable)->d_method;

		found = (struct callable){method, method->ml_name, last_part(PyDescr_TYPE(callable)->tp_name), method->ml_name};
	} else if (type == &PyWrapperDescr_Type) {
		const struct wrapperbase *slot = ((PyWrapperDescrObject *)callable)->d_base;

		found = (struct callable){slot, PyDescr_TYPE(callable), last_part(PyDescr_TYPE(callable)->tp_name), slot->name};
	} else if (PyType_Check(callable)) {
		found = (struct callable){callable, NULL, NULL, ((PyTypeObject *)callable)->tp_name};
	}
	return found;
}

static uint64_t hash_of(const struct callable *callable)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *at = callable->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	return hash;
}

static struct lx_callable_entry define(const struct callable *callable, uint64_t hash)
{
	char name[1024];
	int size;

	if (callable->owner)
		size = snprintf(name, sizeof(name), "%s.%s", callable->owner, callable->name);
	else
		size = snprintf(name, sizeof(name), "%s", callable->name);
	struct lx_callable_entry made = {callable->key, callable->key2, hash, 0, 0};

	if (size < 0)
		return made;
	struct lx_place place = {.name = name,
				 .name_size = (size_t)size < sizeof(name) ? (size_t)size : sizeof(name) - 1,
				 .file = "",
				 .domain = LX_DOMAIN_PYTHON,
				 .flags = LX_LEXGION_C};

	const struct lx_subject subject = {LX_DOMAIN_PYTHON, name, "", place.name_size, 0, 0};

	made.word = lx_lexgion_define(&place);
	if (made.word)
		made.plan = lx_meter_plan(&subject, made.word, true);
	return made;
}

struct lx_callable_entry lx_callable_look_slow(PyObject *callable)
{
	char buffer[512];
	struct callable found = look_at(callable, buffer, sizeof(buffer));
	/* Definitions of functions are static data; a type's memory may be another type's later. */
	uint64_t hash = PyType_Check(callable) || found.key == Py_TYPE(callable) ? hash_of(&found) : 0;
	struct lx_callable_entry *entry = lx_callable_entry(found.key);

	if (entry->key == found.key && entry->key2 == found.key2 && entry->name_hash == hash)
		return *entry;
	struct lx_callable_entry made = define(&found, hash);

	if (made.word) /* else there was no room for its name: next time perhaps */
		*entry = made;
	return made;
}

void lx_callables_undecide(void)
{
	memset(lx_callables, 0, sizeof(lx_callables));
}

void lx_callables_start(void)
{
	static uint32_t generation;

	if (generation != lx_session_generation) {
		generation = lx_session_generation;
		lx_callables_undecide();
	}
}
