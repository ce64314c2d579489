#include "view/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lx_histogram_grow(struct lx_histogram *histogram, uint32_t bucket)
{
	uint32_t first = bucket & ~(LX_HISTOGRAM_OCTAVE - 1), end = first + LX_HISTOGRAM_OCTAVE;
	uint64_t *buckets;

	if (histogram->count) {
		first = first < histogram->first ? first : histogram->first;
		end = end > histogram->first + histogram->count ? end : histogram->first + histogram->count;
	}
	buckets = calloc(end - first, sizeof(*buckets));
	if (!buckets)
		return false;
	if (histogram->count)
		memcpy(buckets + (histogram->first - first), histogram->buckets, histogram->count * sizeof(*buckets));
	free(histogram->buckets);
	*histogram = (struct lx_histogram){ buckets, first, end - first };
	return true;
}

bool lx_histogram_merge(struct lx_histogram *to, const struct lx_histogram *from)
{
	if (!from->count)
		return true;
	if (from->first - to->first >= to->count && !lx_histogram_grow(to, from->first))
		return false;
	if (from->first + from->count > to->first + to->count && !lx_histogram_grow(to, from->first + from->count - 1))
		return false;
	for (uint32_t i = 0; i < from->count; i++)
		to->buckets[from->first - to->first + i] += from->buckets[i];
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
		total += histogram->buckets[i];
	return total;
}

uint64_t lx_histogram_quantile(const struct lx_histogram *histogram, double share, uint64_t max)
{
	uint64_t total = lx_histogram_count(histogram), rank, below = 0, value;
	uint32_t at = 0;

	rank = (uint64_t)ceil(share * (double)total);
	if (rank >= total)
		return total ? max : 0;
	while (at < histogram->count && (below += histogram->buckets[at]) < (rank ? rank : 1))
		at++;
	value = value_of(histogram->first + at);
	return value < max ? value : max;
}

void lx_histogram_free(struct lx_histogram *histogram)
{
	free(histogram->buckets);
	*histogram = (struct lx_histogram){ 0 };
}
