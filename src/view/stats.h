/*
 * Where the time went, by function, thread and process. Self time is exclusive; total time counts the outermost call
 * of a recursion only; calls counts all. A generator's or coroutine's time is that of all its slices, its calls are the
 * beginnings. Largest and percentile durations are of slices: a trace does not tell two objects of one generator apart.
 *
 * What MONITORING counted is added: calls, self and total time, of which no single duration is known.
 */
#ifndef LX_VIEW_STATS_H
#define LX_VIEW_STATS_H

#include "view/histogram.h"
#include "view/pass.h"

struct lx_stat {
	uint64_t calls;
	uint64_t counted;         /* those of them that MONITORING counted */
	uint64_t slices;          /* calls and resumptions that events tell of, begin and end */
	uint64_t points;          /* calls of which they tell one of these: they add no time */
	uint64_t self, total, max; /* ns */
	struct lx_histogram durations; /* of slices, ns */
};

struct lx_thread_stat {
	const struct lx_process *process;
	const struct lx_thread_info *thread;
	uint64_t calls;
	uint64_t busy;            /* ns in functions */
	uint64_t first, last;     /* realtime ns of its first begin and last end; 0: all its calls were counted */
};

struct lx_process_stat {
	uint64_t calls, busy;
	uint32_t threads;         /* with calls */
};

struct lx_stats {
	struct lx_pass *pass;
	bool own;                 /* fold functions that are not the program's into their callers; set before */
	struct lx_stat *functions; /* by number */
	uint32_t function_room;
	struct lx_thread_stat *threads; /* with calls, in the order of processes and numbers */
	size_t thread_count, thread_room;
	struct lx_process_stat *processes; /* by place in trace */
	uint64_t calls, self;     /* sums; self is the thread time of the whole run */
	uint64_t counted;         /* calls among them that MONITORING counted */
	uint64_t folded, outside; /* own: ns folded in all; those without a caller to fold them into */
	uint32_t called;          /* functions that were called */
	struct lx_stats_process *now;
};

static inline bool lx_stat_called(const struct lx_stat *stat)
{
	return stat->slices || stat->counted || stat->points;
}

/* `stats` is zero but for pass and own. Returns 0 or -ENOMEM. Free it in both cases. */
int lx_stats_run(struct lx_stats *stats);
void lx_stats_free(struct lx_stats *stats);

#endif
