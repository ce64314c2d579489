/* What the files of decide/ share: memory of the rules, names as patterns. */
#ifndef LX_DECIDE_OWN_H
#define LX_DECIDE_OWN_H

#include <locale.h>
#include <regex.h>

#include "decide/rules.h"

/* Whether the words are the same but for the case of ASCII letters, whatever the process has as its locale. */
static inline bool lx_same_word(const char *one, const char *other, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char a = (unsigned char)one[i], b = (unsigned char)other[i];

		a = a >= 'A' && a <= 'Z' ? a | 0x20 : a;
		b = b >= 'A' && b <= 'Z' ? b | 0x20 : b;
		if (a != b)
			return false;
	}
	return true;
}

enum lx_name_kind { LX_NAME_IS_TEXT, LX_NAME_IS_WILD, LX_NAME_IS_EXPRESSION };

struct lx_pattern {
	const char *file;      /* NULL: any */
	bool file_is_wild;
	const char *name;
	size_t name_size;
	enum lx_name_kind kind;
	uint32_t line;         /* first line of the function; 0: any */
	regex_t expression;
	locale_t locale;       /* of wildcards and expressions */
	uint32_t key;          /* of exact names: a hash of name, file and line */
	uint32_t next;         /* in the same place of the index; 0: none; else number of a section + 1 */
};

/* A hash of names: positions of what has them, counted from 1. All zeros is empty; `slots` is freed at the end. */
struct lx_names {
	uint32_t *slots;
	size_t space, used;
};

/* The rules with what is not for others. */
struct lx_own_rules {
	struct lx_rules rules;
	struct chunk *chunks;  /* memory of all that hangs on the rules */
	size_t chunk_used, chunk_space;
	bool no_memory;
	bool c_calls;          /* on by default */
	locale_t locale;       /* characters are UTF-8, whatever the process has set; (locale_t)0: no wildcard needs it yet */
	size_t section_space, knob_space;
	struct lx_names titles;  /* of sections, while the text is read */
	struct lx_names knobs;
	uint32_t swept[LX_RULED_DOMAINS][LX_PUNIT_KINDS_MAX]; /* sections of punits before this one were all removed */
	uint32_t *by_name;     /* by key, of exact names: as lx_pattern.next */
	size_t name_space;
	uint32_t *patterns;    /* numbers of the sections with wildcards and expressions, in file order */
	size_t pattern_count;
	bool lines;            /* an exact name has a line */
	struct lx_section *domains[LX_RULED_DOMAINS], *lexgion, *lexgion_domains[LX_RULED_DOMAINS];
	struct lx_section **punits; /* in file order */
	size_t punit_count;
	uint32_t groups;
};

/* Zeroed memory that lives as long as the rules; NULL and no_memory without. */
void *lx_rules_take(struct lx_own_rules *rules, size_t size);
const char *lx_rules_text(struct lx_own_rules *rules, const char *text, size_t size);

typedef const char *(*lx_name_at_fn)(const struct lx_own_rules *rules, uint32_t number);
/* The position of that name counted from 1, or 0. */
uint32_t lx_names_find(const struct lx_own_rules *rules, const struct lx_names *names, lx_name_at_fn name_at, const char *text,
		       size_t size);
/* The name of that position leads to it from now on. False: no memory. */
bool lx_names_set(const struct lx_own_rules *rules, struct lx_names *names, lx_name_at_fn name_at, uint32_t number);
const char *lx_knob_name(const struct lx_own_rules *rules, uint32_t number);

/* The pattern of a name as written. NULL: what is wrong stands in `message`. */
struct lx_pattern *lx_pattern_make(struct lx_own_rules *rules, uint32_t domain, const char *text, size_t size,
				   char *message, size_t message_size);
void lx_pattern_free(struct lx_pattern *pattern); /* its expression; NULL is allowed */
enum lx_strength lx_pattern_strength(const struct lx_pattern *pattern);
/* After the last line: removed sections go, and what lx_rules_section looks names up in is made. */
void lx_rules_index(struct lx_own_rules *rules);

uint32_t lx_text_hash(const char *text, size_t size);

#endif
