#include "view/counted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/modes.h"

/* "mode Python MONITORING by …": the domain, and whether it is MONITORING now. */
static uint32_t mode_in(const char *text, bool *monitoring)
{
	const char *at = text + 5;

	if (strncmp(text, "mode ", 5) != 0)
		return LX_DOMAIN_COUNT;
	for (uint32_t domain = 0; domain < LX_DOMAIN_COUNT; domain++) {
		size_t size = strlen(lx_domain_name(domain));

		if (strncmp(at, lx_domain_name(domain), size) != 0 || at[size] != ' ')
			continue;
		*monitoring = strncmp(at + size + 1, "MONITORING ", 11) == 0;
		return domain;
	}
	return LX_DOMAIN_COUNT;
}

/* The times at which some domain was MONITORING. */
static int find_spans(struct lx_counted *counted, const struct lx_process *process)
{
	uint32_t now = 0; /* domains, as bits */

	counted->spans = calloc(process->journal_count + 1, sizeof(*counted->spans));
	if (!counted->spans)
		return -ENOMEM;
	for (size_t i = 0; i < process->journal_count; i++) {
		uint64_t ticks = process->journal[i].ticks;
		bool monitoring = false;
		uint32_t domain = mode_in(process->journal[i].text, &monitoring), before = now;

		if (domain == LX_DOMAIN_COUNT)
			continue;
		now = monitoring ? now | 1u << domain : now & ~(1u << domain);
		if (now && !before)
			counted->spans[counted->span_count++] = (struct lx_counted_span){ ticks, UINT64_MAX };
		else if (!now && before)
			counted->spans[counted->span_count - 1].to = ticks;
	}
	return 0;
}

int lx_counted_init(struct lx_counted *counted, const struct lx_process *process)
{
	bool any = false;
	int error;

	counted->from = UINT64_MAX;
	for (size_t i = 0; i < process->row_count && !any; i++)
		any = process->rows[i].exclusive > 0;
	if (!any)
		return 0;
	error = find_spans(counted, process);
	if (counted->span_count)
		counted->from = counted->spans[0].from;
	return error;
}

void lx_counted_free(struct lx_counted *counted)
{
	lx_pairs_free(&counted->pairs);
	free(counted->spans);
	free(counted->below);
	free(counted->exposed);
	*counted = (struct lx_counted){ 0 };
}

static uint64_t overlap(const struct lx_counted *counted, const struct lx_span *span)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counted->span_count && counted->spans[i].from < span->end; i++) {
		uint64_t from = counted->spans[i].from > span->begin ? counted->spans[i].from : span->begin;
		uint64_t to = counted->spans[i].to < span->end ? counted->spans[i].to : span->end;

		sum += to > from ? to - from : 0;
	}
	return sum;
}

void lx_counted_leave(struct lx_counted *counted, const struct lx_thread_info *thread, const struct lx_span *span)
{
	uint64_t *below = lx_items_reserve(counted->below, &counted->below_room, span->depth + 2, sizeof(*below));
	uint64_t all = overlap(counted, span), own, *exposed;
	uint32_t pair;

	if (!below) {
		counted->failed = true;
		return;
	}
	counted->below = below;
	own = all > below[span->depth + 1] ? all - below[span->depth + 1] : 0;
	below[span->depth + 1] = 0;
	below[span->depth] = span->parent ? below[span->depth] + all : 0;
	if (!own)
		return;
	pair = lx_pairs_number(&counted->pairs, thread->number, span->lexgion);
	exposed = pair == LX_PAIR_NONE ? NULL
		  : lx_items_reserve(counted->exposed, &counted->exposed_room, pair + 1, sizeof(*exposed));
	if (!exposed) {
		counted->failed = true;
		return;
	}
	counted->exposed = exposed;
	exposed[pair] += own;
}

int lx_counted_finish(const struct lx_counted *counted, const struct lx_process *process,
		      void (*tell)(void *context, uint32_t thread, uint32_t lexgion, uint64_t ticks), void *context)
{
	double *known = calloc(process->thread_count + 1, sizeof(*known)), *all = calloc(process->thread_count + 1, sizeof(*all));
	int error = known && all && !counted->failed ? 0 : -ENOMEM;

	for (size_t i = 0; i < process->row_count && !error; i++)
		known[process->rows[i].thread] += (double)process->rows[i].exclusive;
	for (uint32_t pair = 0; pair < counted->pairs.count && !error; pair++)
		all[lx_pair_a(&counted->pairs, pair)] += (double)counted->exposed[pair];
	for (uint32_t pair = 0; pair < counted->pairs.count && !error; pair++) {
		uint32_t thread = lx_pair_a(&counted->pairs, pair);
		double share = known[thread] < all[thread] ? known[thread] / all[thread] : 1;

		tell(context, thread, lx_pair_b(&counted->pairs, pair), (uint64_t)((double)counted->exposed[pair] * share));
	}
	free(known);
	free(all);
	return error;
}
