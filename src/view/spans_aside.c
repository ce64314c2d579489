#include "view/spans_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- Arguments ---- */

static struct lx_arguments *take_arguments(struct lx_runner *run)
{
	struct lx_arguments *arguments = run->aside.free_arguments;

	if (arguments)
		run->aside.free_arguments = arguments->next;
	else
		arguments = calloc(1, sizeof(*arguments));
	if (!arguments)
		run->failed = true;
	return arguments;
}

static void give_arguments(struct lx_runner *run, struct lx_arguments *arguments)
{
	struct lx_aside *aside = &run->aside;

	if (!arguments)
		return;
	if (aside->owner == arguments) {
		aside->owner = NULL;
		aside->skipped = aside->part != NULL;
		aside->part = NULL;
	}
	lx_arguments_clear(arguments);
	arguments->next = aside->free_arguments;
	aside->free_arguments = arguments;
}

/* The innermost open region, of whatever domain: other readers' traces have regions of IO and MPI. */
static struct lx_span *region(struct lx_runner *run)
{
	for (uint32_t depth = run->depth; depth > 0; depth--)
		if (lx_lexgion(run->process, run->spans[depth - 1].lexgion)->domain != LX_DOMAIN_PYTHON)
			return &run->spans[depth - 1];
	return NULL;
}

/* Where the argument goes; NULL: nowhere. */
static struct lx_arguments *owner_of(struct lx_runner *run)
{
	struct lx_span *span;

	if (run->aside.waits)
		return &run->aside.arguments;
	span = region(run);
	if (span && !span->arguments) {
		span->arguments = take_arguments(run);
		if (span->run)
			span->run->arguments = span->arguments;
	}
	return span ? span->arguments : NULL;
}

static void tell(struct lx_runner *run)
{
	if (run->ops->told)
		run->ops->told(run->context, run->process, run->thread, &run->aside.told);
}

void lx_aside_settle(struct lx_runner *run)
{
	struct lx_aside *aside = &run->aside;

	if (!aside->waits)
		return;
	aside->waits = false;
	aside->told.arguments = aside->arguments.count > 0 ? &aside->arguments : NULL;
	tell(run);
	if (aside->owner == &aside->arguments) {
		aside->skipped = aside->part != NULL;
		aside->owner = NULL;
		aside->part = NULL;
	}
	lx_arguments_clear(&aside->arguments);
}

static void add_argument(struct lx_runner *run, const struct lx_event *event)
{
	struct lx_aside *aside = &run->aside;
	bool text = event->kind == LX_EV_ARG_TEXT;

	if (!text)
		aside->skipped = false;
	if (!text || !aside->part) {
		aside->part = NULL;
		aside->owner = aside->skipped ? NULL : owner_of(run);
	}
	if (aside->owner && lx_arguments_add(aside->owner, event, &aside->part) < 0)
		run->failed = true;
	/* The rest of a text that nobody wants: of no region, of one that is over, of an argument too many. */
	aside->skipped = lx_argument_goes_on(event) && !aside->part;
	if (aside->waits && !lx_argument_goes_on(event) && --aside->wanted == 0)
		lx_aside_settle(run);
}

static void add_metadata(struct lx_runner *run, const struct lx_event *event)
{
	struct lx_aside *aside = &run->aside;

	if (aside->owner != &aside->arguments || !aside->part) {
		lx_arguments_clear(&aside->arguments);
		aside->part = NULL;
	}
	aside->skipped = false;
	aside->owner = &aside->arguments;
	if (lx_arguments_add(&aside->arguments, event, &aside->part) < 0)
		run->failed = true;
	if (lx_argument_goes_on(event) || aside->arguments.count == 0)
		return;
	aside->told = (struct lx_told){ .kind = LX_EV_METADATA, .lexgion = aside->arguments.list[0].key, .ticks = event->ticks,
					.arguments = &aside->arguments };
	tell(run);
	lx_arguments_clear(&aside->arguments);
}

static void begin_told(struct lx_runner *run, const struct lx_event *event)
{
	struct lx_aside *aside = &run->aside;

	lx_arguments_clear(&aside->arguments);
	aside->owner = NULL;
	aside->part = NULL;
	aside->skipped = false;
	aside->told = (struct lx_told){ .kind = event->kind, .lexgion = event->value, .ticks = event->ticks };
	if (event->kind == LX_EV_COUNTER) {
		memcpy(&aside->told.value, event->more, sizeof(aside->told.value));
		tell(run);
		return;
	}
	if (event->kind == LX_EV_SPAN) {
		aside->told.begin = (int64_t)event->more[0];
		aside->told.duration = event->more[1];
	}
	aside->wanted = (uint32_t)event->more[event->kind == LX_EV_SPAN ? 2 : 0];
	aside->waits = true;
	if (aside->wanted == 0)
		lx_aside_settle(run);
}

/* ---- Runs ---- */

static struct lx_run **find_run(struct lx_aside *aside, uint64_t number)
{
	struct lx_run **link = &aside->runs[(number * 0x9e3779b97f4a7c15u >> 32) & (aside->run_room - 1)];

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	return link;
}

static bool grow_runs(struct lx_aside *aside)
{
	size_t room = aside->run_room ? 2 * aside->run_room : 64, old = aside->run_room;
	struct lx_run **table = calloc(room, sizeof(struct lx_run *)), **before = aside->runs;

	if (!table)
		return false;
	aside->runs = table;
	aside->run_room = room;
	for (size_t i = 0; i < old; i++) {
		for (struct lx_run *one = before[i], *next; one; one = next) {
			struct lx_run **link = find_run(aside, one->number);

			next = one->next;
			one->next = NULL;
			*link = one;
		}
	}
	free(before);
	return true;
}

static struct lx_run *new_run(struct lx_runner *run, const struct lx_span *span, uint64_t number)
{
	struct lx_run *one = run->aside.free_runs;

	if (one)
		run->aside.free_runs = one->next;
	else
		one = malloc(sizeof(*one));
	if (!one) {
		run->failed = true;
		return NULL;
	}
	*one = (struct lx_run){ .number = number, .lexgion = span->lexgion, .begin = span->begin, .resumed = span->resumed,
				.arguments = span->arguments, .open = true };
	return one;
}

/* What waits inside of a run leaves it. */
static void take_out(struct lx_run *one)
{
	struct lx_run **link = one->outer ? &one->outer->inner : NULL;

	while (link && *link != one)
		link = &(*link)->beside;
	if (link)
		*link = one->beside;
	one->outer = one->beside = NULL;
}

/* Callees wait first: the outermost comes to stand in front. */
static void put_in(struct lx_run *one, struct lx_run *outer)
{
	one->outer = outer;
	one->beside = outer->inner;
	outer->inner = one;
}

/* The run that the span is in. */
static struct lx_run *outer_run(const struct lx_span *span)
{
	for (span = span->parent; span; span = span->parent)
		if (span->run && span->run->number)
			return span->run;
	return NULL;
}

static void go_on(struct lx_runner *run, struct lx_span *span, struct lx_run *one)
{
	take_out(one);
	if (!span->run)
		give_arguments(run, span->arguments);
	span->run = one;
	span->arguments = one->arguments;
	one->open = true;
}

/* The region's slice that runs is one of that run: the first, or a later one. */
static void name_run(struct lx_runner *run, uint64_t number, uint32_t lexgion)
{
	struct lx_aside *aside = &run->aside;
	struct lx_span *span = run->depth > 0 ? &run->spans[run->depth - 1] : NULL;
	struct lx_run **link;

	if (!span || span->lexgion != lexgion || number == 0 || (span->run && span->run->number == number))
		return;
	if (aside->run_count >= aside->run_room && !grow_runs(aside)) {
		run->failed = true;
		return;
	}
	link = find_run(aside, number);
	if (*link && ((*link)->open || (*link)->lexgion != lexgion))
		return; /* a damaged trace */
	if (*link) {
		if (span->run && outer_run(span)) { /* taken for another one of its name */
			span->run->open = false;
			put_in(span->run, outer_run(span));
		}
		go_on(run, span, *link);
	} else if (!span->run) {
		*link = span->run = new_run(run, span, number);
		aside->run_count += *link != NULL;
	} else if (span->run->number == 0) { /* it has no number yet */
		span->run->number = number;
		*link = span->run;
		aside->run_count++;
	}
}

/* Tells of it, and of those that wait in it and have no number: nobody can go on with them. */
static void end_run(struct lx_runner *run, struct lx_run *one, enum lx_ended ended)
{
	struct lx_run **link = one->number ? find_run(&run->aside, one->number) : NULL;

	if (link) {
		*link = one->next;
		run->aside.run_count--;
	}
	take_out(one);
	while (one->inner) {
		struct lx_run *inner = one->inner;

		take_out(inner);
		if (inner->number == 0)
			end_run(run, inner, LX_ENDED_YIELD);
	}
	one->ended = ended;
	if (run->ops->run_end)
		run->ops->run_end(run->context, run->process, one->thread, one);
	give_arguments(run, one->arguments);
	one->next = run->aside.free_runs;
	run->aside.free_runs = one;
}

void lx_aside_resumed(struct lx_runner *run, struct lx_span *span)
{
	struct lx_run *outer = outer_run(span), *one = outer ? outer->inner : NULL;

	while (one && one->lexgion != span->lexgion)
		one = one->beside;
	if (one)
		go_on(run, span, one);
}

void lx_aside_suspending(struct lx_runner *run, struct lx_span *span)
{
	struct lx_run *outer = outer_run(span);

	if (!span->run && outer)
		span->run = new_run(run, span, 0);
	if (span->run && outer)
		put_in(span->run, outer);
}

void lx_aside_slice(struct lx_runner *run, struct lx_span *span)
{
	struct lx_run *one = span->run;

	one->slices++;
	one->running += span->end - span->begin;
	one->end = span->end;
	one->thread = run->thread;
	one->open = false;
}

void lx_aside_left(struct lx_runner *run, struct lx_span *span, bool over)
{
	struct lx_run *one = span->run;

	if (!one) {
		if (over)
			give_arguments(run, span->arguments);
		return;
	}
	if (over && (span->ended != LX_ENDED_YIELD || (one->number == 0 && !outer_run(span))))
		end_run(run, one, span->ended);
}

void lx_aside_drop(struct lx_runner *run, struct lx_waiting *call, enum lx_ended ended)
{
	if (call->run)
		end_run(run, call->run, ended);
	else
		give_arguments(run, call->arguments);
}

void lx_aside_event(struct lx_runner *run, const struct lx_event *event)
{
	switch (event->kind) {
	case LX_EV_REGION_RUN:
		name_run(run, event->more[0], event->value);
		break;
	case LX_EV_METADATA:
		add_metadata(run, event);
		break;
	case LX_EV_SPAN:
	case LX_EV_POINT:
	case LX_EV_COUNTER:
		begin_told(run, event);
		break;
	default:
		add_argument(run, event);
		break;
	}
}

void lx_aside_end(struct lx_runner *run)
{
	struct lx_aside *aside = &run->aside;

	for (size_t i = 0; i < aside->run_room; i++)
		while (aside->runs[i])
			end_run(run, aside->runs[i], LX_ENDED_YIELD);
	free(aside->runs);
	while (aside->free_runs) {
		struct lx_run *one = aside->free_runs;

		aside->free_runs = one->next;
		free(one);
	}
	while (aside->free_arguments) {
		struct lx_arguments *one = aside->free_arguments;

		aside->free_arguments = one->next;
		lx_arguments_free(one);
		free(one);
	}
	lx_arguments_free(&aside->arguments);
}
