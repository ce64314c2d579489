#include "view/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A zeroed array of `count` that holds `old` (`old_count`, may be NULL) from `at` on; frees old. NULL: no memory. */
static void *widen(void *old, uint32_t old_count, uint32_t at, uint32_t count, size_t size)
{
	char *now = calloc(count, size);

	if (now && old)
		memcpy(now + at * size, old, old_count * size);
	if (now)
		free(old);
	return now;
}

bool lx_histogram_grow(struct lx_histogram *histogram, uint32_t bucket)
{
	uint32_t first = bucket & ~(LX_HISTOGRAM_OCTAVE - 1), end = first + LX_HISTOGRAM_OCTAVE;
	uint32_t *buckets;
	uint64_t *aside;

	if (histogram->count) {
		first = first < histogram->first ? first : histogram->first;
		end = end > histogram->first + histogram->count ? end : histogram->first + histogram->count;
	}
	if (histogram->aside) {
		aside = widen(histogram->aside, histogram->count, histogram->first - first, end - first, sizeof(*aside));
		if (!aside)
			return false;
		histogram->aside = aside;
	}
	buckets = widen(histogram->buckets, histogram->count, histogram->count ? histogram->first - first : 0, end - first,
			sizeof(*buckets));
	if (!buckets)
		return false;
	histogram->buckets = buckets;
	histogram->first = first;
	histogram->count = end - first;
	return true;
}

bool lx_histogram_carry(struct lx_histogram *histogram, uint32_t at)
{
	if (!histogram->aside)
		histogram->aside = calloc(histogram->count, sizeof(*histogram->aside));
	if (!histogram->aside)
		return false;
	histogram->aside[at] += 1ull << 32;
	return true;
}

static uint64_t count_at(const struct lx_histogram *histogram, uint32_t at)
{
	return histogram->buckets[at] + (histogram->aside ? histogram->aside[at] : 0);
}

bool lx_histogram_merge(struct lx_histogram *to, const struct lx_histogram *from)
{
	if (!from->count)
		return true;
	if (from->first - to->first >= to->count && !lx_histogram_grow(to, from->first))
		return false;
	if (from->first + from->count > to->first + to->count && !lx_histogram_grow(to, from->first + from->count - 1))
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		uint32_t at = from->first - to->first + i;
		uint64_t sum = to->buckets[at] + count_at(from, i);

		to->buckets[at] = (uint32_t)sum;
		for (uint64_t carry = sum >> 32; carry; carry--)
			if (!lx_histogram_carry(to, at))
				return false;
	}
	return true;
}

/* The middle of a bucket. */
static uint64_t value_of(uint32_t bucket)
{
	uint32_t octave = bucket >> LX_HISTOGRAM_BITS;

	if (octave < 2)
		return bucket;
	octave--;
	return ((uint64_t)(bucket - (octave << LX_HISTOGRAM_BITS)) << octave) + (1ull << octave) / 2;
}

uint64_t lx_histogram_count(const struct lx_histogram *histogram)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < histogram->count; i++)
		total += count_at(histogram, i);
	return total;
}

uint64_t lx_histogram_quantile(const struct lx_histogram *histogram, double share, uint64_t max)
{
	uint64_t total = lx_histogram_count(histogram), rank, below = 0, value;
	uint32_t at = 0;

	rank = (uint64_t)ceil(share * (double)total);
	if (rank >= total)
		return total ? max : 0;
	while (at < histogram->count && (below += count_at(histogram, at)) < (rank ? rank : 1))
		at++;
	value = value_of(histogram->first + at);
	return value < max ? value : max;
}

void lx_histogram_free(struct lx_histogram *histogram)
{
	free(histogram->buckets);
	free(histogram->aside);
	*histogram = (struct lx_histogram){ 0 };
}
