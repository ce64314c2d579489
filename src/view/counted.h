/*
 * Time that stands in two places: a call that events tell of may be open while MONITORING counts the calls inside of it.
 * Their time is in their rows and in the open call's own time. Rows do not tell in which call it was spent; as each thread's
 * sum is known, it is taken from the calls that were innermost meanwhile, by how long they were.
 */
#ifndef LX_VIEW_COUNTED_H
#define LX_VIEW_COUNTED_H

#include "view/export_pairs.h"
#include "view/spans.h"

struct lx_counted_span {
	uint64_t from, to;      /* ticks */
};

struct lx_counted {
	uint64_t from;          /* ticks; spans that end before have nothing to give. UINT64_MAX: none has */
	struct lx_counted_span *spans; /* of MONITORING, in order */
	size_t span_count;
	uint64_t *below;        /* by depth: ticks of MONITORING in the spans that ended there, below one that is open */
	uint32_t below_room;
	struct lx_pairs pairs;  /* (thread, lexgion) */
	uint64_t *exposed;      /* by pair: ticks of MONITORING that passed with this call innermost */
	uint32_t exposed_room;
	bool failed;            /* no memory */
};

/* For a process; all zeros before. Returns 0 or -ENOMEM. Free it in both cases. */
int lx_counted_init(struct lx_counted *counted, const struct lx_process *process);
void lx_counted_free(struct lx_counted *counted);

/* A span leaves whose end is behind `from`. */
void lx_counted_leave(struct lx_counted *counted, const struct lx_thread_info *thread, const struct lx_span *span);

/* After the last span: tells for each thread and lexgion the ticks that are in rows already. */
int lx_counted_finish(const struct lx_counted *counted, const struct lx_process *process,
		      void (*tell)(void *context, uint32_t thread, uint32_t lexgion, uint64_t ticks), void *context);

#endif
