/* What the files behind the public C headers share: regions, keys and values as these have them. */
#ifndef LX_CAPTURE_ANNOTATE_C_H
#define LX_CAPTURE_ANNOTATE_C_H

#include "capture/annotate.h"
#include "lextrace/lextrace.h"

/*
 * Brings the region's word and plan up to date. False: there is no session. `placed`: the region has all members of
 * today's struct, else only those up to `plan`.
 */
bool lx_c_look(lextrace_region *region, bool placed);

static inline uint32_t lx_c_word(const lextrace_region *region)
{
	return __atomic_load_n(&region->word, __ATOMIC_RELAXED);
}

static inline uint32_t lx_c_plan(const lextrace_region *region)
{
	return __atomic_load_n(&region->plan, __ATOMIC_RELAXED);
}

#define LX_C_ROOM 40u /* bytes for a number as text */

/* The value as the trace has it; `room` is where a number that the format has no kind for is written. */
struct lx_arg_value lx_c_value(const lextrace_argument *argument, char room[LX_C_ROOM]);

/* ---- Words of arguments' names, found again without a lock: capture/annotate_key.c ---- */

/* The word of a key by its text; 0: no session, or no room for it. Any thread; no lock but for a text that is new. */
uint32_t lx_key_find(const char *name);

static inline uint32_t lx_key_session(void)
{
	return __atomic_load_n(&lx_session_generation, __ATOMIC_RELAXED);
}

/* The same at one place in the program, whose `found` holds session and word: 0 where it was not found in this session yet. */
static inline uint32_t lx_key_known(const uint64_t *found)
{
	uint64_t known = __atomic_load_n(found, __ATOMIC_RELAXED);

	return known >> 32 == lx_key_session() ? (uint32_t)known : 0;
}

/* `session`: lx_session_generation before the word was asked for. */
static inline uint32_t lx_key_keep(uint64_t *found, uint32_t session, uint32_t word)
{
	if (word)
		__atomic_store_n(found, (uint64_t)session << 32 | word, __ATOMIC_RELAXED);
	return word;
}

#endif
