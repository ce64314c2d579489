/*
 * Events to spans: the stacks of open calls of each thread (one stack per greenlet), matched begin to end, with losses,
 * torn ends and calls that never ended made good. What every view and every export stands on.
 *
 * A span is one slice of a call: from begin or resume to end, yield or unwind. Spans of one thread only nest. A
 * stack_switch closes all spans of the stack that stops (how = LX_ENDED_SWITCH) and opens those of the stack that goes
 * on (resumed = true), so that nesting holds across greenlets too.
 *
 * A lextrace:mode event ends the calls of its domain in all threads of the process, whatever stack they are on. A call of
 * another domain inside such a call goes on in a span of its own.
 */
#ifndef LX_VIEW_SPANS_H
#define LX_VIEW_SPANS_H

#include "transform/trace.h"

enum lx_ended {
	LX_ENDED_RETURN,  /* function_end, c_call_end, region_end */
	LX_ENDED_YIELD,   /* suspended; a later span goes on with it */
	LX_ENDED_UNWIND,  /* by an exception */
	LX_ENDED_SWITCH,  /* another greenlet runs */
	LX_ENDED_OPEN,    /* no end in the trace: closed at the thread's last event (killed, os._exit, stop()) */
	LX_ENDED_LOST,    /* no end because events were lost or the interpreter sent none: closed by its caller's end */
	LX_ENDED_POINT,   /* its other end is not written, by configuration: no duration is known, end is begin */
	LX_ENDED_MODE,    /* its domain stopped recording, or that of a caller did, and a later span goes on with it */
};

struct lx_arguments;

/*
 * A call that comes in slices which a number holds together: a region that is a generator or coroutine, or one inside of such
 * that waited with it.
 */
struct lx_run {
	uint64_t number;        /* in the process; 0: of a region inside of a run */
	uint32_t lexgion;
	uint32_t slices;        /* that have ended */
	uint64_t begin, end;    /* ticks: of the first slice's begin, of the last one's end */
	uint64_t running;       /* ticks in slices */
	bool resumed;           /* the first slice that is known was none: its begin was not recorded */
	bool open;              /* a slice is open */
	enum lx_ended ended;    /* run_end() only; LX_ENDED_YIELD: nobody resumed it */
	const struct lx_thread_info *thread; /* of the last slice */
	struct lx_arguments *arguments; /* NULL: none */
	/* Of spans.c: */
	struct lx_run *next;            /* in its table */
	struct lx_run *outer;           /* the run that it waits inside of */
	struct lx_run *inner, *beside;  /* those that wait in it; the next of these */
};

/* What is told beside the calls. */
struct lx_told {
	uint32_t kind;          /* LX_EV_SPAN, LX_EV_POINT, LX_EV_COUNTER or LX_EV_METADATA */
	uint32_t lexgion;       /* its place; of METADATA the key */
	uint64_t ticks;         /* when it was told */
	int64_t begin;          /* SPAN: realtime ns */
	uint64_t duration;      /* SPAN: ns */
	double value;           /* COUNTER */
	const struct lx_arguments *arguments; /* SPAN, POINT: NULL: none; METADATA: one, the value */
};

/* Ticks that a SPAN's duration takes. */
static inline uint64_t lx_told_ticks(const struct lx_process *process, const struct lx_told *told)
{
	double ticks = (double)told->duration / process->ns_per_tick;

	return ticks < 4e18 ? (uint64_t)(ticks + 0.5) : 4000000000000000000u; /* a damaged trace's */
}

struct lx_span {
	uint32_t lexgion;
	uint32_t depth;         /* 0 outermost */
	bool resumed;           /* a later slice, not a call of its own */
	bool recursive;         /* the same lexgion is open below it on this stack */
	enum lx_ended ended;    /* leave() only */
	uint64_t begin, end;    /* ticks; end in leave() only */
	uint64_t children;      /* ticks spent in callees; leave() only: exclusive time = end - begin - children */
	void *data;             /* the view's own, kept from enter() to leave(); NULL at enter() */
	struct lx_span *parent; /* NULL outermost */
	struct lx_run *run;     /* leave() only: the slice is one of this run; NULL: a call of its own */
	struct lx_arguments *arguments; /* leave() only: those so far, of the whole call; NULL: none */
};

struct lx_spans_ops {
	/* A span opens. May be NULL. */
	void (*enter)(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		      struct lx_span *span);
	/* A span closes; its parent is still open. Children leave before parents. May be NULL. */
	void (*leave)(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		      struct lx_span *span);
	/* A span of the past, a moment, a counter, a metadata entry: in the order of their thread. May be NULL. */
	void (*told)(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		     const struct lx_told *told);
	/*
	 * A run is over: after leave() of its last slice, or, where nobody resumed it, after all else of the process. A run that
	 * goes from thread to thread may be over before the slices in other threads come: these make a run of their own. May be NULL.
	 */
	void (*run_end)(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
			const struct lx_run *run);
};

struct lx_spans_totals {
	uint64_t events;         /* read */
	uint64_t kinds[LX_EV_COUNT];
	uint64_t begins;         /* calls (BEGIN) */
	uint64_t closed_open;    /* spans ended as LX_ENDED_OPEN */
	uint64_t closed_lost;    /* spans ended as LX_ENDED_LOST */
	uint64_t points;         /* spans ended as LX_ENDED_POINT */
	uint64_t closed_mode;    /* calls whose domain stopped recording */
	uint64_t dropped_ends;   /* ends without a begin, but for those of calls that a mode has ended */
	uint64_t words;          /* of packets: the one field that grows during the run, for those who show its progress */
};

/*
 * Runs through all streams of one process, stream by stream (a thread's events are in order, threads are not merged).
 * Totals are added to, not cleared. Returns 0 or -ENOMEM.
 */
int lx_spans_run(const struct lx_process *process, const struct lx_spans_ops *ops, void *context,
		 struct lx_spans_totals *totals);

#endif
