/* Which section applies: exact names by hash, then wildcards and expressions in file order. */
#include <stdlib.h>
#include <string.h>

#include "decide/own.h"

/* ---- Keys of exact names ---- */

#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u

uint32_t lx_text_hash(const char *text, size_t size)
{
	uint32_t hash = FNV_BASIS;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * FNV_PRIME;
	return hash;
}

static uint32_t with(uint32_t key, uint32_t number)
{
	return (key ^ number) * FNV_PRIME;
}

/*
 * A key grows from a name's end to its front and on into the file, so that a place's name and path give the keys of all
 * ways to write it in one walk: "run", "solver.run", "pkg.solver.run"; "solver.py:run", "pkg/solver.py:run".
 */
static uint32_t with_text(uint32_t key, const char *text, size_t size)
{
	while (size-- > 0)
		key = with(key, (unsigned char)text[size]);
	return key;
}

static uint32_t key_of_line(uint32_t key, uint32_t line)
{
	return with(with(key, '@'), line);
}

static uint32_t key_of_pattern(const struct lx_pattern *pattern, uint32_t domain)
{
	uint32_t key = with_text(with(FNV_BASIS, domain), pattern->name, pattern->name_size);

	if (pattern->file)
		key = with_text(with(key, ':'), pattern->file, strlen(pattern->file));
	return pattern->line ? key_of_line(key, pattern->line) : key;
}

/* ---- After the last line of the text ---- */

/* Removed sections leave the list. */
static void sweep(struct lx_own_rules *rules)
{
	size_t kept = 0;

	for (size_t i = 0; i < rules->rules.section_count; i++) {
		struct lx_section *section = rules->rules.sections[i];

		if (section->removed) {
			lx_pattern_free(section->pattern);
			continue;
		}
		section->number = (uint32_t)kept;
		rules->rules.sections[kept++] = section;
	}
	rules->rules.section_count = kept;
	free(rules->titles.slots); /* they led to places in the list of before */
	rules->titles = (struct lx_names){NULL, 0, 0};
}

static void index_names(struct lx_own_rules *rules)
{
	for (size_t i = rules->rules.section_count; i-- > 0;) {
		struct lx_section *section = rules->rules.sections[i];
		struct lx_pattern *pattern = section->pattern;

		if (!pattern || section->strength == LX_NAME_PATTERN)
			continue;
		pattern->key = key_of_pattern(pattern, section->domain);
		uint32_t *head = &rules->by_name[pattern->key & (rules->name_space - 1)];

		pattern->next = *head;
		*head = (uint32_t)i + 1;
		rules->lines |= pattern->line != 0;
	}
	for (size_t i = 0; i < rules->rules.section_count; i++)
		if (rules->rules.sections[i]->pattern && rules->rules.sections[i]->strength == LX_NAME_PATTERN)
			rules->patterns[rules->pattern_count++] = (uint32_t)i;
}

void lx_rules_index(struct lx_own_rules *rules)
{
	size_t named = 0;

	sweep(rules);
	rules->punits = lx_rules_take(rules, rules->rules.section_count * sizeof(*rules->punits));
	for (size_t i = 0; i < rules->rules.section_count; i++) {
		struct lx_section *section = rules->rules.sections[i];

		named += section->kind == LX_SECTION_NAMED;
		if (section->kind == LX_SECTION_PUNIT && rules->punits)
			rules->punits[rules->punit_count++] = section;
	}
	for (rules->name_space = 16; rules->name_space < named * 2;)
		rules->name_space *= 2;
	rules->by_name = lx_rules_take(rules, rules->name_space * sizeof(*rules->by_name));
	rules->patterns = lx_rules_take(rules, (named + 1) * sizeof(*rules->patterns));
	if (!rules->no_memory)
		index_names(rules);
}

/* ---- Looking up ---- */

struct search {
	const struct lx_own_rules *rules;
	const struct lx_subject *subject;
	const struct lx_section *best;
};

/* A name with a file or line before one without, one with a line before one with a file alone, then file order. */
static bool is_better(const struct lx_section *one, const struct lx_section *other)
{
	if (!other || one->strength != other->strength)
		return !other || one->strength < other->strength;
	if (!one->pattern->line != !other->pattern->line)
		return one->pattern->line;
	return one->number < other->number;
}

static void try_key(struct search *search, uint32_t key)
{
	const struct lx_own_rules *rules = search->rules;

	for (uint32_t at = rules->by_name[key & (rules->name_space - 1)]; at;) {
		const struct lx_section *section = rules->rules.sections[at - 1];

		at = section->pattern->next;
		if (section->pattern->key == key && is_better(section, search->best) && lx_section_matches(section, search->subject))
			search->best = section;
	}
}

static void try_keys(struct search *search, uint32_t key)
{
	try_key(search, key);
	if (search->rules->lines)
		try_key(search, key_of_line(key, search->subject->line));
}

/* The keys that go on into the path, `size` bytes of it: each of its ends that is whole parts. */
static void try_path(struct search *search, uint32_t key, size_t size, bool as_module)
{
	const char *path = search->subject->file;

	for (size_t at = size; at-- > 0;) {
		key = with(key, as_module && path[at] == '/' ? '.' : (unsigned char)path[at]);
		if (at == 0 || path[at - 1] == '/')
			try_keys(search, key);
	}
}

static bool ends_with(const struct lx_subject *subject, const char *end)
{
	size_t size = strlen(end);

	return subject->file_size > size && memcmp(subject->file + subject->file_size - size, end, size) == 0;
}

const struct lx_section *lx_rules_section(const struct lx_rules *public_rules, const struct lx_subject *subject)
{
	const struct lx_own_rules *rules = (const struct lx_own_rules *)public_rules;
	struct search search = {.rules = rules, .subject = subject};
	uint32_t key = with_text(with(FNV_BASIS, subject->domain), subject->name, subject->name_size);

	try_keys(&search, key);
	if (subject->domain == LX_DOMAIN_PYTHON && subject->file_size > 0) {
		try_path(&search, with(key, ':'), subject->file_size, false);
		if (ends_with(subject, ".py"))
			try_path(&search, with(key, '.'), subject->file_size - strlen(".py"), true);
		if (ends_with(subject, "/__init__.py"))
			try_path(&search, with(key, '.'), subject->file_size - strlen("/__init__.py"), true);
	}
	for (size_t i = 0; i < rules->pattern_count && !search.best; i++)
		if (lx_section_matches(public_rules->sections[rules->patterns[i]], subject))
			search.best = public_rules->sections[rules->patterns[i]];
	return search.best ? search.best : rules->lexgion_domains[subject->domain];
}
