/*
 * gzip to bytes, as a stream of any length: members one after the other, zeros between and behind them. Input is asked for
 * and output handed over by calls, so that it suits a thread of its own.
 */
#ifndef LX_TRANSFORM_INFLATE_H
#define LX_TRANSFORM_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lx_inflated {
	LX_INFLATED,          /* to the end */
	LX_INFLATED_CUT,      /* the input ends inside a member */
	LX_INFLATED_DAMAGED,  /* it is no gzip, or a checksum is wrong */
	LX_INFLATED_FOLLOWED, /* something that is no gzip follows the last member */
	LX_INFLATED_STOPPED,  /* full() said so */
	LX_INFLATED_NO_MEMORY,
	LX_INFLATED_NO_LIBRARY, /* ISA-L, which does the work, is not there */
};

struct lx_inflate {
	/* Reads up to `size` bytes (`size` is never 0); 0 at the end. */
	size_t (*more)(void *context, void *to, size_t size);
	/* out has reached limit: moves both. False: no more is wanted. */
	bool (*full)(void *context, struct lx_inflate *inflate);
	void *context;
	uint8_t *out, *limit; /* what was written ends at out, in any case */
};

/* Inflates all there is; bytes that were read before come first. What is whole was handed over whatever the result is. */
enum lx_inflated lx_inflate(struct lx_inflate *inflate, const void *first, size_t first_size);

#endif
