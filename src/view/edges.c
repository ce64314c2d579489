#include "view/edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a span is to the chosen functions, kept in its data. A chosen call directly below chosen ones goes on with them
 * (HEAD): recursion of f by f is one long call of f. One that comes back through other functions lies INSIDE.
 */
enum place { OUTSIDE, HEAD, INSIDE };

static enum place place_of(const struct lx_span *span)
{
	return span ? (enum place)(uintptr_t)span->data : OUTSIDE;
}

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct lx_edges *edges = context;
	bool chosen = edges->chosen[lx_pass_function(edges->pass, span->lexgion)];
	enum place above = place_of(span->parent), place = above == OUTSIDE ? OUTSIDE : INSIDE;

	(void)process;
	if (!lx_pass_wants(edges->pass, thread))
		return;
	if (chosen && above != INSIDE)
		place = HEAD;
	span->data = (void *)(uintptr_t)place;
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct lx_edges *edges = context;
	uint32_t function = lx_pass_function(edges->pass, span->lexgion);
	uint32_t caller = span->parent ? lx_pass_function(edges->pass, span->parent->lexgion) : 0;
	double total = (double)(span->end - span->begin) * process->ns_per_tick;
	double self = (double)(span->end - span->begin - span->children) * process->ns_per_tick;
	enum place place = place_of(span), above = place_of(span->parent);

	if (!lx_pass_wants(edges->pass, thread))
		return;
	edges->all_calls += !span->resumed;
	if (!span->parent)
		edges->all += total;
	if (span->parent && edges->chosen[caller]) {
		edges->callees[function].calls += !span->resumed;
		if (above == HEAD && place != HEAD)
			edges->callees[function].total += total;
	}
	if (place == HEAD)
		edges->own += self;
	if (edges->chosen[function]) {
		struct lx_edge *edge = span->parent ? &edges->callers[caller] : &edges->top;

		edges->self += self;
		edge->calls += !span->resumed;
		edges->calls += !span->resumed;
		if (place == HEAD && above != HEAD) {
			edge->total += total;
			edges->total += total;
		}
	}
}

/* A span that was told of afterwards has no caller, and calls nothing. */
static void told(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 const struct lx_told *told)
{
	struct lx_edges *edges = context;

	(void)process;
	if (told->kind != LX_EV_SPAN || !lx_pass_wants(edges->pass, thread))
		return;
	edges->all_calls++;
	if (!edges->chosen[lx_pass_function(edges->pass, told->lexgion)])
		return;
	edges->calls++;
	edges->top.calls++;
	edges->top.total += (double)told->duration;
	edges->total += (double)told->duration;
	edges->self += (double)told->duration;
	edges->own += (double)told->duration;
}

static void *extend(void *old, uint32_t from, uint32_t to, size_t size)
{
	char *now = realloc(old, (size_t)to * size + 1);

	if (now)
		memset(now + (size_t)from * size, 0, (size_t)(to - from) * size);
	return now;
}

static int begin_process(void *context, struct lx_pass *pass)
{
	struct lx_edges *edges = context;
	uint32_t count = pass->functions.count;
	bool *chosen = extend(edges->chosen, edges->room, count, sizeof(*chosen));
	struct lx_edge *callers = extend(edges->callers, edges->room, count, sizeof(*callers));
	struct lx_edge *callees = extend(edges->callees, edges->room, count, sizeof(*callees));

	edges->chosen = chosen ? chosen : edges->chosen;
	edges->callers = callers ? callers : edges->callers;
	edges->callees = callees ? callees : edges->callees;
	if (!chosen || !callers || !callees)
		return -ENOMEM;
	for (; edges->room < count; edges->room++) {
		chosen[edges->room] = lx_function_matches(&pass->functions, edges->room, edges->pattern);
		edges->chosen_count += chosen[edges->room];
	}
	return 0;
}

int lx_edges_run(struct lx_edges *edges)
{
	static const struct lx_pass_ops ops = { .spans = { .enter = enter, .leave = leave, .told = told }, .begin = begin_process };

	return lx_pass_run(edges->pass, &ops, edges);
}

void lx_edges_free(struct lx_edges *edges)
{
	free(edges->chosen);
	free(edges->callers);
	free(edges->callees);
	*edges = (struct lx_edges){ 0 };
}
