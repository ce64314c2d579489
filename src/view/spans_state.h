/* What the parts of spans.h share: spans.c opens and closes calls, spans_aside.c has what stands beside them. */
#ifndef LX_VIEW_SPANS_STATE_H
#define LX_VIEW_SPANS_STATE_H

#include "view/arguments.h"
#include "view/modes.h"
#include "view/spans.h"

/* A call that is open on a stack that does not run. */
struct lx_waiting {
	uint32_t lexgion;
	struct lx_run *run;
	struct lx_arguments *arguments;
};

/* A call stack that waits while another one of its thread runs. */
struct lx_parked {
	uint32_t number;
	uint32_t depth;
	struct lx_parked *next;
	struct lx_waiting calls[]; /* outermost first */
};

/* Runs, arguments, and what is told beside the calls. */
struct lx_aside {
	struct lx_run **runs;       /* those that are not over, hashed by number; a power of two */
	size_t run_count, run_room;
	struct lx_run *free_runs;
	struct lx_arguments *free_arguments;
	struct lx_arguments *owner; /* whose text goes on with the next part; NULL: none, or nobody's */
	struct lx_argument *part;
	bool skipped;               /* a text goes on that nobody wants */
	bool waits;                 /* `told` waits for arguments */
	uint32_t wanted;
	struct lx_told told;
	struct lx_arguments arguments; /* of `told`, or a METADATA */
};

/*
 * The state of a thread in a stream. `open` counts the spans of each lexgion that are open on the running stack: it
 * answers `recursive`, and whether an end has a begin at all, without a search. Its pages exist where it was written.
 */
struct lx_runner {
	const struct lx_process *process;
	const struct lx_thread_info *thread;
	const struct lx_spans_ops *ops;
	void *context;
	struct lx_spans_totals *totals;
	struct lx_span *spans;
	uint32_t depth, room;
	uint32_t stack;             /* number of the running stack */
	uint32_t *open;
	struct lx_parked **parked;  /* hash table by number; a power of two */
	size_t parked_count, parked_room;
	struct lx_mode_mark *stops; /* of the process, by time */
	size_t stop_count, stop;    /* `stop` is the next one */
	uint64_t stop_at;           /* its ticks, or those of the next `sides`; UINT64_MAX: none */
	const uint8_t *sides;       /* of the thread now; NULL: all calls have both ends */
	size_t side;                /* the next ones of the process */
	uint32_t stopped;           /* domains that have stopped so far, as bits */
	uint64_t last;              /* ticks of the thread's last event */
	struct lx_aside aside;
	uint64_t kinds[LX_EV_COUNT], unknown;
	bool failed;                /* no memory */
};

/* A long event. */
void lx_aside_event(struct lx_runner *run, const struct lx_event *event);

/* What waits for arguments gets no more: another event has come, or the thread is over. */
void lx_aside_settle(struct lx_runner *run);

/* A region was resumed: if it waited inside of a run, it goes on as what it was. */
void lx_aside_resumed(struct lx_runner *run, struct lx_span *span);

/* Before a region's slice ends by SUSPEND: one inside of a run will go on with it. */
void lx_aside_suspending(struct lx_runner *run, struct lx_span *span);

/* A slice of a run is ended by span->end. */
void lx_aside_slice(struct lx_runner *run, struct lx_span *span);

/* The slice has been told of (span->end and ->ended are set); `over`: the call too. */
void lx_aside_left(struct lx_runner *run, struct lx_span *span, bool over);

/* The call on a waiting stack is over. */
void lx_aside_drop(struct lx_runner *run, struct lx_waiting *call, enum lx_ended ended);

/* The process is over: runs that nobody resumed are told of. Frees all. */
void lx_aside_end(struct lx_runner *run);

#endif
