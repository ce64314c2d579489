/*
 * A log-linear histogram of durations: 16 buckets an octave, so that a value read from it is at most 1/32 off. Only the
 * octaves that are met take memory.
 */
#ifndef LX_VIEW_HISTOGRAM_H
#define LX_VIEW_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define LX_HISTOGRAM_BITS 4
#define LX_HISTOGRAM_OCTAVE (1u << LX_HISTOGRAM_BITS)

/* All zeros is an empty one. An octave is one cache line; what does not fit into 32 bits is put aside. */
struct lx_histogram {
	uint32_t *buckets;
	uint64_t *aside;       /* likewise, multiples of 2^32; NULL: none */
	uint32_t first, count; /* buckets[0] is bucket number `first`; both multiples of an octave */
};

static inline uint32_t lx_histogram_bucket(uint64_t value)
{
	unsigned octave;

	if (value < LX_HISTOGRAM_OCTAVE)
		return (uint32_t)value;
	octave = 63 - (unsigned)__builtin_clzll(value) - LX_HISTOGRAM_BITS;
	return (octave << LX_HISTOGRAM_BITS) + (uint32_t)(value >> octave);
}

/* Makes room for bucket number `bucket`; false: no memory. */
bool lx_histogram_grow(struct lx_histogram *histogram, uint32_t bucket);

/* buckets[at] came round to zero: counts 2^32 aside; false: no memory. */
bool lx_histogram_carry(struct lx_histogram *histogram, uint32_t at);

/* False: no memory, the value is not counted. */
static inline bool lx_histogram_add(struct lx_histogram *histogram, uint64_t value)
{
	uint32_t bucket = lx_histogram_bucket(value);

	if (__builtin_expect(bucket - histogram->first >= histogram->count, 0) && !lx_histogram_grow(histogram, bucket))
		return false;
	bucket -= histogram->first;
	return __builtin_expect(++histogram->buckets[bucket] != 0, 1) || lx_histogram_carry(histogram, bucket);
}

/* Adds what `from` holds to `to`; false: no memory. */
bool lx_histogram_merge(struct lx_histogram *to, const struct lx_histogram *from);

/* Number of values. */
uint64_t lx_histogram_count(const struct lx_histogram *histogram);

/* The value that `share` (0 to 1) of all values do not exceed, `max` being the largest of them; 0 if it is empty. */
uint64_t lx_histogram_quantile(const struct lx_histogram *histogram, double share, uint64_t max);

void lx_histogram_free(struct lx_histogram *histogram);

#endif
