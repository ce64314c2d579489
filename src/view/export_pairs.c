#include "view/export_pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u

void *lx_items_reserve(void *items, uint32_t *room, uint32_t count, size_t size)
{
	uint32_t wanted = *room ? *room : FIRST_ROOM;
	char *grown;

	if (items && count <= *room)
		return items;
	while (wanted < count) {
		if (wanted > UINT32_MAX / 2)
			return NULL;
		wanted *= 2;
	}
	grown = realloc(items, wanted * size);
	if (!grown)
		return NULL;
	memset(grown + *room * size, 0, (wanted - *room) * size);
	*room = wanted;
	return grown;
}

static uint32_t hash(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(key >> 32);
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *find_slot(const struct lx_pairs *pairs, uint64_t key)
{
	uint32_t mask = pairs->slot_count - 1, at = hash(key) & mask;

	while (pairs->slots[at] && pairs->keys[pairs->slots[at] - 1] != key)
		at = (at + 1) & mask;
	return &pairs->slots[at];
}

/* Room for one more pair, slots for twice as many. */
static bool grow(struct lx_pairs *pairs)
{
	uint64_t *keys = lx_items_reserve(pairs->keys, &pairs->room, pairs->count + 1, sizeof(*keys));
	uint32_t *slots;

	if (!keys)
		return false;
	pairs->keys = keys;
	slots = calloc(2 * (size_t)pairs->room, sizeof(*slots));
	if (!slots)
		return false;
	free(pairs->slots);
	pairs->slots = slots;
	pairs->slot_count = 2 * pairs->room;
	for (uint32_t number = 0; number < pairs->count; number++)
		*find_slot(pairs, pairs->keys[number]) = number + 1;
	return true;
}

uint32_t lx_pairs_number(struct lx_pairs *pairs, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t *slot = pairs->slots ? find_slot(pairs, key) : NULL;

	if (slot && *slot)
		return *slot - 1;
	if (!slot || 2 * (pairs->count + 1) > pairs->slot_count) {
		if (pairs->count >= INT32_MAX / 2 || !grow(pairs))
			return LX_PAIR_NONE;
		slot = find_slot(pairs, key);
	}
	pairs->keys[pairs->count] = key;
	*slot = ++pairs->count;
	return pairs->count - 1;
}

void lx_pairs_free(struct lx_pairs *pairs)
{
	free(pairs->keys);
	free(pairs->slots);
	*pairs = (struct lx_pairs){ 0 };
}
