/* A table that numbers pairs of numbers: a call path by its caller's path and function, an edge by caller and callee. */
#ifndef LX_VIEW_EXPORT_PAIRS_H
#define LX_VIEW_EXPORT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct lx_pairs {
	uint64_t *keys;      /* a << 32 | b by number */
	uint32_t count, room;
	uint32_t *slots;     /* hash table of number + 1; a power of two */
	uint32_t slot_count;
};

#define LX_PAIR_NONE UINT32_MAX

/* The number of the pair, from 0 as they come: a new one has the count before. LX_PAIR_NONE without memory. */
uint32_t lx_pairs_number(struct lx_pairs *pairs, uint32_t a, uint32_t b);
void lx_pairs_free(struct lx_pairs *pairs);

static inline uint32_t lx_pair_a(const struct lx_pairs *pairs, uint32_t number)
{
	return (uint32_t)(pairs->keys[number] >> 32);
}

static inline uint32_t lx_pair_b(const struct lx_pairs *pairs, uint32_t number)
{
	return (uint32_t)pairs->keys[number];
}

/* `items` (NULL at first) with room for `count` of them, new ones zero; *room is kept. NULL without memory: `items` stays. */
void *lx_items_reserve(void *items, uint32_t *room, uint32_t count, size_t size);

#endif
