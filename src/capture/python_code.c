#include "capture/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SPACE 4096u
#define INTERPRETERS 64 /* code objects of later ones are looked up by their text each time: right, only slower */

static struct lx_code_entry none; /* so that the table is never NULL */
struct lx_code_entry *lx_codes = &none;
size_t lx_codes_mask;
static size_t used;

static Py_ssize_t extra_index[INTERPRETERS]; /* + 1; 0: not asked for yet */

static struct lx_code_entry *find(struct lx_code_entry *table, size_t mask, const void *code)
{
	size_t at = lx_code_hash(code) & mask;

	while (table[at].code && table[at].code != code)
		at = (at + 1) & mask;
	return &table[at];
}

/* A code object dies: its address may soon be another's. */
static void forget(void *code)
{
	struct lx_code_entry *entry = find(lx_codes, lx_codes_mask, code);
	size_t hole, at;

	if (!entry->code)
		return;
	used--;
	/* Entries behind the hole move up, so that no search ends too early. */
	hole = (size_t)(entry - lx_codes);
	lx_codes[hole].code = NULL;
	for (at = (hole + 1) & lx_codes_mask; lx_codes[at].code; at = (at + 1) & lx_codes_mask) {
		size_t home = lx_code_hash(lx_codes[at].code) & lx_codes_mask;

		if (((at - home) & lx_codes_mask) >= ((at - hole) & lx_codes_mask)) {
			lx_codes[hole] = lx_codes[at];
			lx_codes[at].code = NULL;
			hole = at;
		}
	}
}

static int grow(void)
{
	size_t space = lx_codes == &none ? FIRST_SPACE : (lx_codes_mask + 1) * 2;
	struct lx_code_entry *larger = calloc(space, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	for (size_t i = 0; i <= lx_codes_mask; i++)
		if (lx_codes[i].code)
			*find(larger, space - 1, lx_codes[i].code) = lx_codes[i];
	if (lx_codes != &none)
		free(lx_codes);
	lx_codes = larger;
	lx_codes_mask = space - 1;
	return 0;
}

static void undecide(void);

int lx_codes_start(void)
{
	static uint32_t generation;
	int64_t interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());

	if (interpreter >= 0 && interpreter < INTERPRETERS && !extra_index[interpreter])
		extra_index[interpreter] = lx_code_extra_request(forget) + 1;
	lx_plans_void = undecide;
	if (generation != lx_session_generation) { /* the words of the session before are void */
		generation = lx_session_generation;
		memset(lx_codes, 0, (lx_codes_mask + 1) * sizeof(*lx_codes));
		used = 0;
	}
	return lx_codes == &none ? grow() : 0;
}

size_t lx_text_of(PyObject *string, char *out, size_t space)
{
	size_t size = 0;

	if (!PyUnicode_Check(string))
		return 0;
	int kind = PyUnicode_KIND(string);
	const void *data = PyUnicode_DATA(string);
	Py_ssize_t length = PyUnicode_GET_LENGTH(string);

	for (Py_ssize_t i = 0; i < length && size + 4 <= space; i++) {
		Py_UCS4 c = PyUnicode_READ(kind, data, i);

		if (c < 0x80) {
			out[size++] = (char)c;
		} else if (c < 0x800) {
			out[size++] = (char)(0xC0 | c >> 6);
			out[size++] = (char)(0x80 | (c & 0x3F));
		} else if (c < 0x10000) {
			out[size++] = (char)(0xE0 | c >> 12);
			out[size++] = (char)(0x80 | (c >> 6 & 0x3F));
			out[size++] = (char)(0x80 | (c & 0x3F));
		} else {
			out[size++] = (char)(0xF0 | c >> 18);
			out[size++] = (char)(0x80 | (c >> 12 & 0x3F));
			out[size++] = (char)(0x80 | (c >> 6 & 0x3F));
			out[size++] = (char)(0x80 | (c & 0x3F));
		}
	}
	return size;
}

/* The function of the import system that makes a module, and nothing else. */
static bool is_importer(const struct lx_place *place)
{
	static const char name[] = "_find_and_load", file[] = "<frozen importlib._bootstrap>";

	return place->name_size == sizeof(name) - 1 && memcmp(place->name, name, sizeof(name) - 1) == 0 &&
	       place->file_size == sizeof(file) - 1 && memcmp(place->file, file, sizeof(file) - 1) == 0;
}

static bool wants_imports(void)
{
	static const uint32_t nobody[LX_PUNIT_KINDS_MAX] = {LX_NO_PUNIT, LX_NO_PUNIT, LX_NO_PUNIT};
	const struct lx_section *section = lx_rules_domain(lx_rules_now, LX_DOMAIN_PYTHON);

	return lx_mode(LX_DOMAIN_PYTHON) == LX_MODE_TRACING &&
	       lx_rules_switches(lx_rules_now, section, LX_DOMAIN_PYTHON, nobody) & 1u << LX_IMPORT;
}

/* The word of the code, defined if it is 0, and what to do with its calls. */
static struct lx_code_entry decide(const PyCodeObject *code, uint32_t word)
{
	/* One byte more than is kept, so that the definition shows that it was cut. */
	static char name[LX_DEFINITION_TEXT_MAX + 4], file[LX_DEFINITION_TEXT_MAX + 4];
	const int generator = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
	struct lx_place place = {
		.name = name,
		.file = file,
		.name_size = lx_text_of(code->co_qualname, name, sizeof(name)),
		.file_size = lx_text_of(code->co_filename, file, sizeof(file)),
		.line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
		.domain = LX_DOMAIN_PYTHON,
		.flags = code->co_flags & generator ? LX_LEXGION_GENERATOR : 0,
	};

	static const char greenlet[] = "greenlet/__init__.py";

	if (place.file_size >= sizeof(greenlet) - 1 &&
	    memcmp(file + place.file_size - (sizeof(greenlet) - 1), greenlet, sizeof(greenlet) - 1) == 0)
		lx_attention_set(LX_ATTENTION_STACKS); /* it is being imported: no greenlet has run yet */
	struct lx_code_entry found = {code, word ? word : lx_lexgion_define(&place), 0};

	if (found.word == 0)
		return found;
	const struct lx_subject subject = {LX_DOMAIN_PYTHON, name, file, place.name_size, place.file_size, place.line};

	found.plan = lx_meter_plan(&subject, found.word, false);
	if (is_importer(&place) && wants_imports())
		found.plan |= LX_PLAN_SLOW | LX_PLAN_IMPORT;
	return found;
}

struct lx_code_entry lx_code_known(const PyCodeObject *code)
{
	return *find(lx_codes, lx_codes_mask, code);
}

/* The plans are void: decided anew when their code is met. */
static void undecide(void)
{
	for (size_t i = 0; i <= lx_codes_mask; i++)
		lx_codes[i].plan = LX_PLAN_SLOW | LX_PLAN_UNDECIDED;
	lx_callables_undecide();
}

struct lx_code_entry lx_code_look(PyCodeObject *code)
{
	struct lx_code_entry *entry = find(lx_codes, lx_codes_mask, code);

	if (entry->code == code) {
		if (entry->plan & LX_PLAN_UNDECIDED) {
			*entry = decide(code, entry->word);
			if (entry->plan & LX_PLAN_C)
				lx_python_hooks_want_c(code);
		}
		return *entry;
	}
	struct lx_code_entry made = decide(code, 0);

	if (made.word == 0) /* no room for its name: next time perhaps */
		return made;
	if (made.plan & LX_PLAN_C)
		lx_python_hooks_want_c(code);
	int64_t interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());

	if (interpreter < 0 || interpreter >= INTERPRETERS || !extra_index[interpreter])
		return made;
	if ((used + 1) * 2 > lx_codes_mask && grow() != 0)
		return made;
	/* The extra slot tells when the code object dies; without it the entry could outlive it and name another. */
	struct lx_exception saved = lx_exception_save();

	if (lx_code_extra_set((PyObject *)code, extra_index[interpreter] - 1, code) != 0) {
		lx_exception_restore(saved);
		return made;
	}
	lx_exception_restore(saved);
	*find(lx_codes, lx_codes_mask, code) = made;
	used++;
	return made;
}
