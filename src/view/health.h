/* What to know before one trusts a run's figures: losses, repairs, what is still going on. */
#ifndef LX_VIEW_HEALTH_H
#define LX_VIEW_HEALTH_H

#include "view/pass.h"

struct lx_health {
	uint32_t processes, threads;       /* those of the pass that are not blank */
	uint32_t blank;                    /* processes that began and recorded nothing */
	uint32_t killed, running;          /* processes */
	uint64_t lost_total, lost[LX_LOSS_COUNT];
	uint64_t lost_at[LX_LOSS_COUNT];   /* realtime ns of the cause's first loss; 0: not known */
	uint64_t closed_open, closed_lost, dropped_ends; /* see lx_spans_totals */
	uint32_t open_processes, open_killed; /* those with closed_open */
	const struct lx_process *open;     /* the first of them */
	uint32_t torn;                     /* streams that end inside a packet */
	const struct lx_process *torn_process;
	unsigned torn_stream;              /* the first of them */
	uint64_t events, calls;            /* of all threads */
	uint64_t counted;                  /* calls that MONITORING counted */
	uint64_t bounded;                  /* C calls that max_c_traces left out */
	uint64_t kinds[LX_EV_COUNT];
	uint64_t duration;                 /* ns from the first process's start to the last one's end, as far as known */
	bool complete;                     /* nothing is missing and nothing was guessed but ends at the last event */
};

/* Ticks that the busiest thread spent in counted calls: a process that left no end lasted as long at least. */
uint64_t lx_process_counted(const struct lx_process *process);

/* After a pass. */
void lx_health_check(struct lx_health *health, const struct lx_pass *pass);

/*
 * "status 0", "no exit" (the process ended by os._exit, exec or a signal), "running", "stopped" (the recording was, by the
 * program), "-" (it recorded nothing); at most 16 bytes. Returns out.
 */
char *lx_process_ended(const struct lx_process *process, char *out, size_t size);

/* Names of a cause of loss: for people, and as JSON key ("disk_full"). */
const char *lx_loss_text(enum lx_loss cause);
const char *lx_loss_key(enum lx_loss cause);

#endif
