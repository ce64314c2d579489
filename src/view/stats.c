#include "view/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/counted.h"

/*
 * Sums of one lexgion of the process under way, in its ticks: the hot loop converts nothing but what it sorts into
 * buckets. One cache line each.
 */
struct counter {
	uint64_t calls, self, total, max, points;
	struct lx_histogram durations;
} __attribute__((aligned(64)));

struct thread_counter {
	uint64_t calls, busy, first, last; /* ticks */
};

struct lx_stats_process {
	struct counter *counters; /* by lexgion, then one for all ids above */
	size_t lexgion_count;
	struct thread_counter *threads; /* by number */
	const struct lx_thread_info *thread; /* of the last span, and its counter */
	struct thread_counter *thread_counter;
	uint64_t scale;           /* ns a tick, 2^32 times */
	uint64_t folded, outside; /* ticks */
	struct lx_counted counted;
	bool failed;
};

static inline uint64_t to_ns(const struct lx_stats_process *now, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * now->scale >> 32);
}

static uint64_t to_nearest_ns(const struct lx_stats_process *now, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * now->scale + (1u << 31)) >> 32);
}

/* Time of a folded callee waits in its caller's span until the caller ends. */
static inline uint64_t folded_below(const struct lx_span *span)
{
	return (uint64_t)(uintptr_t)span->data;
}

static void fold(struct lx_stats_process *now, struct lx_span *span, uint64_t self)
{
	uint64_t below = self + folded_below(span);

	now->folded += self;
	if (span->parent)
		span->parent->data = (void *)(uintptr_t)(folded_below(span->parent) + below);
	else
		now->outside += below;
}

/* Called for each span of a run: with `plain` known when it is compiled, without a branch that most runs don't need. */
static inline __attribute__((always_inline)) void tally(struct lx_stats *stats, const struct lx_thread_info *thread,
							struct lx_span *span, bool plain)
{
	struct lx_stats_process *now = stats->now;
	uint64_t duration = span->end - span->begin, self = duration - span->children;
	size_t id = span->lexgion < now->lexgion_count ? span->lexgion : now->lexgion_count;
	struct counter *counter = &now->counters[id];

	if (!plain && !lx_pass_wants(stats->pass, thread))
		return;
	if (__builtin_expect(thread != now->thread, 0)) {
		now->thread = thread;
		now->thread_counter = &now->threads[thread->number];
	}
	now->thread_counter->calls += !span->resumed;
	if (__builtin_expect(span->end > now->counted.from, 0))
		lx_counted_leave(&now->counted, thread, span);
	if (!span->parent) {
		now->thread_counter->busy += duration;
		now->thread_counter->last = span->end;
		if (!now->thread_counter->first)
			now->thread_counter->first = span->begin;
	}
	if (!plain && stats->own) {
		if (!stats->pass->functions.items[stats->pass->map[id]].own) {
			fold(now, span, self);
			return;
		}
		self += folded_below(span);
	}
	counter->calls += !span->resumed;
	if (__builtin_expect(span->ended == LX_ENDED_POINT, 0)) {
		counter->points += !span->resumed;
		return;
	}
	counter->self += self;
	counter->total += duration & ((uint64_t)span->recursive - 1); /* the outermost call only */
	counter->max = duration > counter->max ? duration : counter->max;
	if (__builtin_expect(!lx_histogram_add(&counter->durations, to_ns(now, duration)), 0))
		now->failed = true;
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	(void)process;
	tally(context, thread, span, true);
}

static void leave_chosen(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
			 struct lx_span *span)
{
	(void)process;
	tally(context, thread, span, false);
}

/* A span that was told of afterwards: a call of its name, which no caller has. */
static void told(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 const struct lx_told *told)
{
	struct lx_stats *stats = context;
	struct lx_stats_process *now = stats->now;
	struct counter *counter = &now->counters[told->lexgion < now->lexgion_count ? told->lexgion : now->lexgion_count];
	uint64_t ticks = lx_told_ticks(process, told);

	if (told->kind != LX_EV_SPAN || !lx_pass_wants(stats->pass, thread))
		return;
	now->threads[thread->number].calls++;
	counter->calls++;
	counter->self += ticks;
	counter->total += ticks;
	counter->max = ticks > counter->max ? ticks : counter->max;
	if (!lx_histogram_add(&counter->durations, to_ns(now, ticks)))
		now->failed = true;
}

static int begin_process(void *context, struct lx_pass *pass)
{
	struct lx_stats *stats = context;
	struct lx_stats_process *now = stats->now;
	const struct lx_process *process = pass->process;

	*now = (struct lx_stats_process){ .lexgion_count = process->lexgion_count,
					  .scale = (uint64_t)(process->ns_per_tick * 4294967296.0 + 0.5) };
	now->counters = aligned_alloc(64, (process->lexgion_count + 1) * sizeof(*now->counters));
	if (now->counters)
		memset(now->counters, 0, (process->lexgion_count + 1) * sizeof(*now->counters));
	now->threads = calloc(process->thread_count + 1, sizeof(*now->threads));
	return now->counters && now->threads ? lx_counted_init(&now->counted, process) : -ENOMEM;
}

static int reserve(struct lx_stats *stats, uint32_t count)
{
	struct lx_stat *functions;

	if (count <= stats->function_room)
		return 0;
	functions = realloc(stats->functions, count * sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	memset(functions + stats->function_room, 0, (count - stats->function_room) * sizeof(*functions));
	stats->functions = functions;
	stats->function_room = count;
	return 0;
}

static int add_counter(struct lx_stats *stats, struct lx_stat *stat, const struct counter *counter)
{
	uint64_t self = to_nearest_ns(stats->now, counter->self), max = to_nearest_ns(stats->now, counter->max);

	stats->called += !lx_stat_called(stat);
	stat->calls += counter->calls;
	stat->slices += lx_histogram_count(&counter->durations);
	stat->points += counter->points;
	stat->self += self;
	stat->total += to_nearest_ns(stats->now, counter->total);
	stat->max = max > stat->max ? max : stat->max;
	stats->calls += counter->calls;
	stats->self += self;
	return lx_histogram_merge(&stat->durations, &counter->durations) ? 0 : -ENOMEM;
}

/* A row has no caller: with `own`, what other code did stands apart. */
static void add_row(struct lx_stats *stats, const struct lx_row *row)
{
	struct lx_stats_process *now = stats->now;
	const struct lx_pass *pass = stats->pass;
	uint32_t function = lx_pass_function(pass, row->lexgion);
	struct lx_stat *stat = &stats->functions[function];
	uint64_t self = to_nearest_ns(now, row->exclusive);

	now->threads[row->thread].calls += row->calls;
	now->threads[row->thread].busy += row->exclusive;
	if (stats->own && !pass->functions.items[function].own) {
		now->folded += row->exclusive;
		now->outside += row->exclusive;
		return;
	}
	stats->called += !lx_stat_called(stat);
	stat->calls += row->calls;
	stat->counted += row->calls;
	stat->self += self;
	stat->total += to_nearest_ns(now, row->inclusive);
	stats->calls += row->calls;
	stats->counted += row->calls;
	stats->self += self;
}

/* Time that rows tell of as well. With `own` it may stand in a caller's line, or in none: there it stays. */
static void take_counted(void *context, uint32_t thread, uint32_t lexgion, uint64_t ticks)
{
	struct lx_stats *stats = context;
	struct lx_stats_process *now = stats->now;
	struct counter *counter = &now->counters[lexgion < now->lexgion_count ? lexgion : now->lexgion_count];
	struct thread_counter *of_thread = &now->threads[thread];

	if (stats->own)
		return;
	counter->self -= ticks < counter->self ? ticks : counter->self;
	of_thread->busy -= ticks < of_thread->busy ? ticks : of_thread->busy;
}

static void add_rows(struct lx_stats *stats)
{
	const struct lx_process *process = stats->pass->process;

	for (size_t i = 0; i < process->row_count; i++)
		if (process->rows[i].calls && lx_pass_wants(stats->pass, &process->threads[process->rows[i].thread]))
			add_row(stats, &process->rows[i]);
}

static int add_thread(struct lx_stats *stats, const struct lx_process *process, size_t number)
{
	const struct thread_counter *counter = &stats->now->threads[number];
	struct lx_process_stat *sum = &stats->processes[process - stats->pass->trace->processes];
	uint64_t busy = to_nearest_ns(stats->now, counter->busy);

	if (stats->thread_count == stats->thread_room) {
		size_t room = stats->thread_room ? 2 * stats->thread_room : 16;
		struct lx_thread_stat *threads = realloc(stats->threads, room * sizeof(*threads));

		if (!threads)
			return -ENOMEM;
		stats->threads = threads;
		stats->thread_room = room;
	}
	stats->threads[stats->thread_count++] = (struct lx_thread_stat){
		.process = process,
		.thread = &process->threads[number],
		.calls = counter->calls,
		.busy = busy,
		.first = counter->first ? lx_real_ns(process, counter->first) : 0,
		.last = counter->last ? lx_real_ns(process, counter->last) : 0,
	};
	sum->calls += counter->calls;
	sum->busy += busy;
	sum->threads++;
	return 0;
}

static void free_process(struct lx_stats_process *now)
{
	for (size_t id = 0; now->counters && id <= now->lexgion_count; id++)
		lx_histogram_free(&now->counters[id].durations);
	lx_counted_free(&now->counted);
	free(now->counters);
	free(now->threads);
	*now = (struct lx_stats_process){ 0 };
}

static int end_process(void *context, struct lx_pass *pass)
{
	struct lx_stats *stats = context;
	struct lx_stats_process *now = stats->now;
	int error = now->failed ? -ENOMEM : reserve(stats, pass->functions.count);

	if (!error)
		error = lx_counted_finish(&now->counted, pass->process, take_counted, stats);
	for (size_t id = 0; id <= now->lexgion_count && !error; id++)
		if (now->counters[id].durations.count || now->counters[id].points)
			error = add_counter(stats, &stats->functions[pass->map[id]], &now->counters[id]);
	if (!error)
		add_rows(stats);
	for (size_t number = 0; number < pass->process->thread_count && !error; number++)
		if (now->threads[number].calls || now->threads[number].busy)
			error = add_thread(stats, pass->process, number);
	stats->folded += to_nearest_ns(now, now->folded);
	stats->outside += to_nearest_ns(now, now->outside);
	stats->self += to_nearest_ns(now, now->outside);
	free_process(now);
	return error;
}

int lx_stats_run(struct lx_stats *stats)
{
	static const struct lx_pass_ops plain = { .spans = { .leave = leave, .told = told },
						  .begin = begin_process,
						  .end = end_process };
	static const struct lx_pass_ops chosen = { .spans = { .leave = leave_chosen, .told = told },
						   .begin = begin_process,
						   .end = end_process };
	struct lx_stats_process now = { 0 };
	int error;

	stats->processes = calloc(stats->pass->trace->process_count + 1, sizeof(*stats->processes));
	if (!stats->processes)
		return -ENOMEM;
	stats->now = &now;
	error = lx_pass_run(stats->pass, stats->own || stats->pass->only_thread ? &chosen : &plain, stats);
	free_process(&now);
	stats->now = NULL;
	return error ? error : reserve(stats, stats->pass->functions.count);
}

void lx_stats_free(struct lx_stats *stats)
{
	for (uint32_t i = 0; i < stats->function_room; i++)
		lx_histogram_free(&stats->functions[i].durations);
	free(stats->functions);
	free(stats->threads);
	free(stats->processes);
	*stats = (struct lx_stats){ 0 };
}
