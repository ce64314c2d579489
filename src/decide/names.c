/* Positions found by their names: titles of sections, knobs. */
#include <stdlib.h>
#include <string.h>

#include "decide/own.h"

static size_t slot_of(const struct lx_own_rules *rules, const struct lx_names *names, lx_name_at_fn name_at, const char *text,
		      size_t size)
{
	size_t at = lx_text_hash(text, size) & (names->space - 1);

	for (; names->slots[at]; at = (at + 1) & (names->space - 1)) {
		const char *name = name_at(rules, names->slots[at] - 1);

		if (strncmp(name, text, size) == 0 && name[size] == '\0')
			break;
	}
	return at;
}

uint32_t lx_names_find(const struct lx_own_rules *rules, const struct lx_names *names, lx_name_at_fn name_at, const char *text,
		       size_t size)
{
	return names->space ? names->slots[slot_of(rules, names, name_at, text, size)] : 0;
}

static bool grow(const struct lx_own_rules *rules, struct lx_names *names, lx_name_at_fn name_at)
{
	struct lx_names larger = {.space = names->space ? names->space * 2 : 64, .used = names->used};

	larger.slots = calloc(larger.space, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < names->space; i++) {
		if (!names->slots[i])
			continue;
		const char *name = name_at(rules, names->slots[i] - 1);

		larger.slots[slot_of(rules, &larger, name_at, name, strlen(name))] = names->slots[i];
	}
	free(names->slots);
	*names = larger;
	return true;
}

bool lx_names_set(const struct lx_own_rules *rules, struct lx_names *names, lx_name_at_fn name_at, uint32_t number)
{
	const char *name = name_at(rules, number);

	if ((names->used + 1) * 2 > names->space && !grow(rules, names, name_at))
		return false;
	uint32_t *slot = &names->slots[slot_of(rules, names, name_at, name, strlen(name))];

	names->used += *slot == 0;
	*slot = number + 1;
	return true;
}
