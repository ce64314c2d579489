/*
 * Spans in the order in which they begin. Files hold them as they ended, so most lie near their place: buckets by the
 * leading bits of the begin, in place, down to a few spans.
 */
#include <stdlib.h>

#include "transform/pfw.h"

#define FEW 24u
#define BITS 8u
#define BUCKETS (1u << BITS)

static inline bool before(const struct lx_pfw_span *a, const struct lx_pfw_span *b)
{
	if (a->begin != b->begin)
		return a->begin < b->begin;
	if (a->duration != b->duration)
		return a->duration > b->duration;
	return lx_pfw_order(a) > lx_pfw_order(b);
}

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a);
}

static void insertion_sort(struct lx_pfw_span *spans, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct lx_pfw_span moving = spans[i];
		size_t at = i;

		for (; at > 0 && before(&moving, &spans[at - 1]); at--)
			spans[at] = spans[at - 1];
		spans[at] = moving;
	}
}

static void sort(struct lx_pfw_span *spans, size_t count, uint64_t low, unsigned shift);

/* Each span into the bucket of its begin's bits; then each bucket by the next bits. */
static void distribute(struct lx_pfw_span *spans, size_t count, uint64_t low, unsigned shift)
{
	size_t next[BUCKETS] = { 0 }, end[BUCKETS], sum = 0;

	for (size_t i = 0; i < count; i++)
		next[(spans[i].begin - low) >> shift]++;
	for (unsigned b = 0; b < BUCKETS; b++) {
		size_t size = next[b];

		next[b] = sum;
		sum += size;
		end[b] = sum;
	}
	for (unsigned b = 0; b < BUCKETS; b++) {
		while (next[b] < end[b]) {
			struct lx_pfw_span *span = &spans[next[b]];
			unsigned wanted = (unsigned)((span->begin - low) >> shift);

			if (wanted == b) {
				next[b]++;
				continue;
			}
			struct lx_pfw_span other = spans[next[wanted]];

			spans[next[wanted]++] = *span;
			*span = other;
		}
	}
	for (unsigned b = 0; b < BUCKETS; b++) {
		size_t from = b > 0 ? end[b - 1] : 0;

		sort(spans + from, end[b] - from, low + ((uint64_t)b << shift), shift);
	}
}

/* Spans whose begins are within 1 << shift from `low` on. */
static void sort(struct lx_pfw_span *spans, size_t count, uint64_t low, unsigned shift)
{
	if (count <= FEW)
		insertion_sort(spans, count);
	else if (shift == 0)
		qsort(spans, count, sizeof(*spans), compare);
	else
		distribute(spans, count, low, shift > BITS ? shift - BITS : 0);
}

void lx_pfw_sort(struct lx_pfw_track *track)
{
	uint64_t low = UINT64_MAX, high = 0;
	unsigned bits = 0;

	if (!track->unsorted)
		return;
	for (size_t i = 0; i < track->count; i++) {
		uint64_t begin = track->spans[i].begin;

		low = begin < low ? begin : low;
		high = begin > high ? begin : high;
	}
	while (bits < 56 && (high - low) >> bits)
		bits++;
	sort(track->spans, track->count, low, bits);
}
