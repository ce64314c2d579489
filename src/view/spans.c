#include "view/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "view/spans_state.h"

#define IDS (1u << 24) /* an event can name 24 bits of lexgion id */

static bool grow(struct lx_runner *run)
{
	uint32_t room = run->room ? 2 * run->room : 256;
	struct lx_span *spans = room > run->room ? realloc(run->spans, room * sizeof(*spans)) : NULL;

	if (!spans) {
		run->failed = true;
		return false;
	}
	run->spans = spans;
	run->room = room;
	for (uint32_t i = 1; i < run->depth; i++)
		spans[i].parent = &spans[i - 1];
	return true;
}

static inline void enter(struct lx_runner *run, uint32_t lexgion, uint64_t ticks, bool resumed)
{
	struct lx_span *span;

	if (__builtin_expect(run->depth == run->room, 0) && !grow(run))
		return;
	span = &run->spans[run->depth];
	span->lexgion = lexgion;
	span->depth = run->depth;
	span->resumed = resumed;
	span->recursive = run->open[lexgion]++ > 0;
	span->begin = ticks;
	span->children = 0;
	span->data = NULL;
	span->parent = run->depth > 0 ? span - 1 : NULL;
	span->run = NULL;
	span->arguments = NULL;
	run->depth++;
	if (run->ops->enter)
		run->ops->enter(run->context, run->process, run->thread, span);
}

/* Opens a call that waited on another stack, or stood inside of one that a mode has ended. */
static void enter_again(struct lx_runner *run, const struct lx_waiting *call, uint64_t ticks)
{
	uint32_t depth = run->depth;

	enter(run, call->lexgion, ticks, true);
	if (run->depth == depth)
		return; /* no memory */
	run->spans[depth].run = call->run;
	run->spans[depth].arguments = call->arguments;
	if (call->run)
		call->run->open = true;
}

static struct lx_waiting waiting_of(const struct lx_span *span)
{
	return (struct lx_waiting){ span->lexgion, span->run, span->arguments };
}

static uint32_t domain_of(const struct lx_runner *run, uint32_t lexgion)
{
	return lx_lexgion(run->process, lexgion)->domain;
}

/* over: the call, too; not where it goes on after a switch or a mode. */
static inline void leave_slice(struct lx_runner *run, uint64_t ticks, enum lx_ended ended, bool over)
{
	struct lx_span *span = &run->spans[run->depth - 1];

	span->end = ticks;
	span->ended = ended;
	if (__builtin_expect(run->aside.run_count > 0, 0)) {
		if (ended == LX_ENDED_YIELD && domain_of(run, span->lexgion) == LX_DOMAIN_USER)
			lx_aside_suspending(run, span);
		if (span->run)
			lx_aside_slice(run, span);
	}
	if (span->parent)
		span->parent->children += ticks - span->begin;
	run->open[span->lexgion]--;
	if (run->ops->leave)
		run->ops->leave(run->context, run->process, run->thread, span);
	if (__builtin_expect(span->arguments || span->run, 0))
		lx_aside_left(run, span, over);
	run->depth--;
}

static inline void leave(struct lx_runner *run, uint64_t ticks, enum lx_ended ended)
{
	leave_slice(run, ticks, ended, true);
}

static void leave_all(struct lx_runner *run, uint64_t ticks, enum lx_ended ended)
{
	while (run->depth > 0) {
		leave_slice(run, ticks, ended, ended != LX_ENDED_SWITCH);
		run->totals->closed_open += ended == LX_ENDED_OPEN;
	}
}

/* An event whose call has no other. */
static void point(struct lx_runner *run, uint32_t lexgion, uint64_t ticks, bool resumed)
{
	uint32_t depth = run->depth;

	enter(run, lexgion, ticks, resumed);
	if (run->depth == depth)
		return; /* no memory */
	leave(run, ticks, LX_ENDED_POINT);
	run->totals->points++;
}

/* Which events of this call are left out. C calls go by the function that makes them. */
static uint32_t sides_of(const struct lx_runner *run, uint32_t kind, uint32_t lexgion)
{
	size_t count = run->process->lexgion_count;
	uint32_t depth = run->depth;

	if (kind != LX_EV_C_CALL_BEGIN && kind != LX_EV_C_CALL_END && kind != LX_EV_C_CALL_RAISE)
		return run->sides[lexgion < count ? lexgion : count] & 3;
	while (depth > 0 && lx_lexgion(run->process, run->spans[depth - 1].lexgion)->flags & LX_LEXGION_C)
		depth--;
	lexgion = depth > 0 ? run->spans[depth - 1].lexgion : UINT32_MAX;
	return run->sides[lexgion < count ? lexgion : count] >> LX_SIDE_C;
}

/* True: the event stands alone, and is done with. */
static __attribute__((noinline)) bool is_point(struct lx_runner *run, const struct lx_event *event, enum lx_role role)
{
	uint32_t sides = sides_of(run, event->kind, event->value);
	bool begins = role == LX_ROLE_BEGIN || role == LX_ROLE_RESUME;

	if (begins ? !(sides & LX_SIDE_NO_END) : !(sides & LX_SIDE_NO_BEGIN) || run->open[event->value] > 0)
		return false;
	point(run, event->value, event->ticks, role == LX_ROLE_RESUME || role == LX_ROLE_SUSPEND);
	return true;
}

/* The end of a call that is not the innermost open one. */
static void leave_inner(struct lx_runner *run, uint32_t lexgion, uint64_t ticks, enum lx_ended ended)
{
	if (run->open[lexgion] == 0) {
		/* A call that was open when its domain stopped has ended there. */
		run->totals->dropped_ends += !(run->stopped & 1u << domain_of(run, lexgion));
		return;
	}
	while (run->spans[run->depth - 1].lexgion != lexgion) {
		leave(run, ticks, LX_ENDED_LOST);
		run->totals->closed_lost++;
	}
	leave(run, ticks, ended);
}

static inline void close_call(struct lx_runner *run, uint32_t lexgion, uint64_t ticks, enum lx_ended ended)
{
	if (__builtin_expect(run->depth > 0 && run->spans[run->depth - 1].lexgion == lexgion, 1))
		leave(run, ticks, ended);
	else
		leave_inner(run, lexgion, ticks, ended);
}

static struct lx_parked **find_parked(struct lx_runner *run, uint32_t number)
{
	struct lx_parked **link = &run->parked[(number * 2654435761u) & (run->parked_room - 1)];

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	return link;
}

static bool grow_parked(struct lx_runner *run)
{
	size_t room = run->parked_room ? 2 * run->parked_room : 64, old = run->parked_room;
	struct lx_parked **table = calloc(room, sizeof(struct lx_parked *)), **before = run->parked;

	if (!table)
		return false;
	run->parked = table;
	run->parked_room = room;
	for (size_t i = 0; i < old; i++) {
		for (struct lx_parked *stack = before[i], *next; stack; stack = next) {
			struct lx_parked **link = find_parked(run, stack->number);

			next = stack->next;
			stack->next = NULL;
			*link = stack;
		}
	}
	free(before);
	return true;
}

/* Keeps the running stack's calls for later; a stack without open calls needs no place. */
static bool park(struct lx_runner *run)
{
	struct lx_parked *stack, **link;

	if (run->parked_count >= run->parked_room && !grow_parked(run))
		return false;
	if (run->depth == 0)
		return true;
	stack = malloc(sizeof(*stack) + run->depth * sizeof(*stack->calls));
	if (!stack)
		return false;
	stack->number = run->stack;
	stack->depth = run->depth;
	stack->next = NULL;
	for (uint32_t i = 0; i < run->depth; i++)
		stack->calls[i] = waiting_of(&run->spans[i]);
	link = find_parked(run, run->stack);
	*link = stack;
	run->parked_count++;
	return true;
}

static void switch_stack(struct lx_runner *run, uint32_t number, uint64_t ticks)
{
	struct lx_parked *stack, **link;

	if (number == run->stack)
		return;
	if (!park(run)) {
		run->failed = true;
		return;
	}
	leave_all(run, ticks, LX_ENDED_SWITCH);
	run->stack = number;
	link = find_parked(run, number);
	stack = *link;
	if (!stack)
		return;
	*link = stack->next;
	run->parked_count--;
	for (uint32_t i = 0; i < stack->depth; i++)
		enter_again(run, &stack->calls[i], ticks);
	free(stack);
}

static void stop_parked(struct lx_runner *run, uint32_t domain)
{
	for (size_t i = 0; i < run->parked_room; i++) {
		for (struct lx_parked *stack = run->parked[i]; stack; stack = stack->next) {
			uint32_t kept = 0;

			for (uint32_t n = 0; n < stack->depth; n++)
				if (domain_of(run, stack->calls[n].lexgion) != domain)
					stack->calls[kept++] = stack->calls[n];
				else
					lx_aside_drop(run, &stack->calls[n], LX_ENDED_MODE);
			run->totals->closed_mode += stack->depth - kept;
			stack->depth = kept;
		}
	}
}

/* Closes the calls of a domain. Those of other domains inside of them go on, each in a span of its own. */
static void stop_running(struct lx_runner *run, uint32_t domain, uint64_t ticks)
{
	uint32_t first = 0, kept = 0;
	struct lx_waiting *others;

	while (first < run->depth && domain_of(run, run->spans[first].lexgion) != domain)
		first++;
	if (first == run->depth)
		return;
	others = malloc((run->depth - first) * sizeof(*others));
	if (!others) {
		run->failed = true;
		return;
	}
	for (uint32_t i = first; i < run->depth; i++)
		if (domain_of(run, run->spans[i].lexgion) != domain)
			others[kept++] = waiting_of(&run->spans[i]);
	run->totals->closed_mode += run->depth - first - kept;
	while (run->depth > first)
		leave_slice(run, ticks, LX_ENDED_MODE, domain_of(run, run->spans[run->depth - 1].lexgion) == domain);
	for (uint32_t i = 0; i < kept; i++)
		enter_again(run, &others[i], ticks);
	free(others);
	run->last = ticks;
}

/* What is not written since `ticks` or before. */
static uint64_t pass_sides(struct lx_runner *run, uint64_t ticks)
{
	const struct lx_process *process = run->process;

	while (run->side < process->side_count && process->sides[run->side].from < ticks)
		run->side++;
	run->sides = run->thread && run->side > 0 ? process->sides[run->side - 1].threads[run->thread->number] : NULL;
	return run->side < process->side_count ? process->sides[run->side].from : UINT64_MAX;
}

/* The domains that stopped before `ticks` did so in this thread as in all others. */
static __attribute__((noinline)) void pass_stops(struct lx_runner *run, uint64_t ticks)
{
	uint64_t next = pass_sides(run, ticks);

	while (run->stop < run->stop_count && run->stops[run->stop].ticks < ticks) {
		const struct lx_mode_mark *mark = &run->stops[run->stop++];

		if (mark->mode != LX_MODE_STANDBY && mark->mode != LX_MODE_OFF)
			continue;
		stop_running(run, mark->domain, mark->ticks > run->last ? mark->ticks : run->last);
		stop_parked(run, mark->domain);
		run->stopped |= 1u << mark->domain;
	}
	run->stop_at = run->stop < run->stop_count ? run->stops[run->stop].ticks : UINT64_MAX;
	if (next < run->stop_at)
		run->stop_at = next;
}

/* The thread is over: what runs is closed; what is parked had its last slice closed when it stopped. */
static void end_thread(struct lx_runner *run)
{
	lx_aside_settle(run);
	leave_all(run, run->last, LX_ENDED_OPEN);
	for (size_t i = 0; i < run->parked_room; i++) {
		while (run->parked[i]) {
			struct lx_parked *stack = run->parked[i];

			run->parked[i] = stack->next;
			for (uint32_t n = stack->depth; n > 0; n--)
				lx_aside_drop(run, &stack->calls[n - 1], LX_ENDED_SWITCH);
			free(stack);
		}
	}
	run->parked_count = 0;
}

static void start_packet(struct lx_runner *run, const struct lx_packet *packet)
{
	const struct lx_thread_info *thread = &run->process->threads[packet->thread];

	if (run->thread != thread) {
		pass_stops(run, packet->timestamp_begin);
		end_thread(run);
		run->thread = thread;
		pass_sides(run, packet->timestamp_begin);
		run->stack = packet->stack;
		run->last = 0;
	}
	if (run->last < packet->timestamp_begin)
		run->last = packet->timestamp_begin;
	/* Without losses this is the running stack already. */
	switch_stack(run, packet->stack, run->last);
}

/* An event that is no begin or end. */
static void take_other(struct lx_runner *run, const struct lx_event *event)
{
	if (event->kind >= LX_EV_FIRST_LONG)
		lx_aside_event(run, event);
	else if (event->kind == LX_EV_STACK_SWITCH)
		switch_stack(run, event->value, event->ticks);
	else if (event->kind == LX_EV_MODE && event->ticks < UINT64_MAX)
		pass_stops(run, event->ticks + 1);
}

static void run_packet(struct lx_runner *run, const struct lx_packet_ref *packet)
{
	static const uint8_t roles[LX_EV_COUNT] = {
#define LX_X(id, NAME, domain, name, role, payload) [id] = LX_ROLE_##role,
		LX_EVENT_KINDS(LX_X)
#undef LX_X
	};
	struct lx_cursor cursor;
	struct lx_event event;
	uint64_t last;

	start_packet(run, packet->header);
	run->totals->words += packet->words;
	last = run->last;
	lx_cursor_start(&cursor, packet);
	while (lx_cursor_next(&cursor, &event)) {
		if (__builtin_expect(event.ticks < last, 0))
			event.ticks = last; /* a damaged trace only: time never runs backwards in a thread */
		if (__builtin_expect(event.ticks > run->stop_at, 0)) {
			run->last = last;
			pass_stops(run, event.ticks);
		}
		last = event.ticks;
		if (__builtin_expect(event.kind >= LX_EV_COUNT, 0)) {
			run->unknown++;
			continue;
		}
		run->kinds[event.kind]++;
		if (__builtin_expect(run->aside.waits, 0) && (event.kind < LX_EV_ARG_INT || event.kind > LX_EV_ARG_TEXT))
			lx_aside_settle(run);
		if (__builtin_expect(run->sides != NULL, 0) && roles[event.kind] != LX_ROLE_OTHER &&
		    is_point(run, &event, roles[event.kind]))
			continue;
		switch (roles[event.kind]) {
		case LX_ROLE_BEGIN:
			enter(run, event.value, event.ticks, false);
			break;
		case LX_ROLE_RESUME:
			enter(run, event.value, event.ticks, true);
			if (__builtin_expect(run->aside.run_count > 0, 0) && event.kind == LX_EV_REGION_RESUME && !run->failed)
				lx_aside_resumed(run, &run->spans[run->depth - 1]);
			break;
		case LX_ROLE_END:
			close_call(run, event.value, event.ticks, LX_ENDED_RETURN);
			break;
		case LX_ROLE_SUSPEND:
			close_call(run, event.value, event.ticks, LX_ENDED_YIELD);
			break;
		case LX_ROLE_UNWIND:
			close_call(run, event.value, event.ticks, LX_ENDED_UNWIND);
			break;
		default:
			run->last = last;
			take_other(run, &event);
			break;
		}
	}
	run->last = last;
}

static void run_stream(struct lx_runner *run, const struct lx_stream *stream)
{
	run->thread = NULL;
	run->stop = run->side = run->stopped = 0;
	run->sides = NULL;
	run->stop_at = UINT64_MAX;
	for (size_t i = 0; i < stream->packet_count && !run->failed; i++) {
		lx_packets_passed(stream, i);
		run_packet(run, &stream->packets[i]);
	}
	if (run->thread) {
		pass_stops(run, UINT64_MAX);
		if (run->process->state.ended && run->process->state.end.ticks > run->last)
			run->last = run->process->state.end.ticks; /* what is open then lasted until recording stopped */
		end_thread(run);
	}
}

static void add_totals(const struct lx_runner *run, struct lx_spans_totals *totals)
{
	totals->events += run->unknown;
	for (unsigned kind = 0; kind < LX_EV_COUNT; kind++) {
		totals->events += run->kinds[kind];
		totals->kinds[kind] += run->kinds[kind];
		if (lx_event_role(kind) == LX_ROLE_BEGIN)
			totals->begins += run->kinds[kind];
	}
}

int lx_spans_run(const struct lx_process *process, const struct lx_spans_ops *ops, void *context,
		 struct lx_spans_totals *totals)
{
	struct lx_runner run = {.process = process, .ops = ops, .context = context, .totals = totals};

	/* Reserved, not used: a page comes into being when an id of its range is met. */
	run.open = mmap(NULL, IDS * sizeof(*run.open), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (run.open == MAP_FAILED || !grow_parked(&run) || !grow(&run) ||
	    lx_modes_find(process, &run.stops, &run.stop_count) < 0) {
		run.failed = true;
	} else {
		for (size_t i = 0; i < process->stream_count && !run.failed; i++)
			run_stream(&run, &process->streams[i]);
	}
	lx_aside_end(&run);
	add_totals(&run, totals);
	if (run.open != MAP_FAILED)
		munmap(run.open, IDS * sizeof(*run.open));
	free(run.spans);
	free(run.parked);
	free(run.stops);
	return run.failed ? -ENOMEM : 0;
}
