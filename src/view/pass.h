/* One pass over a run for a view: which processes and threads take part, their functions, what was read and repaired. */
#ifndef LX_VIEW_PASS_H
#define LX_VIEW_PASS_H

#include "view/functions.h"
#include "view/spans.h"

struct lx_pass {
	const struct lx_trace *trace;
	const char *only_process;       /* pid, folder or program; NULL: all */
	const char *only_thread;        /* number, kernel id, or name with wildcards; NULL: all */
	struct lx_functions functions;
	struct lx_spans_totals *totals; /* by the process's place in trace; all threads of it; they grow during the pass */
	/* The process under way. */
	const struct lx_process *process;
	const uint32_t *map;            /* see lx_functions_map() */
	bool *threads;                  /* by number: takes part; NULL: all do */
};

struct lx_pass_ops {
	struct lx_spans_ops spans;      /* their context is the pass's */
	int (*begin)(void *context, struct lx_pass *pass); /* before a process; 0 or negative errno, which ends the pass */
	int (*end)(void *context, struct lx_pass *pass);   /* after it; the same */
};

/* trace and filters are set before. Returns 0 or -ENOMEM. Free it in both cases. */
int lx_pass_init(struct lx_pass *pass);
int lx_pass_run(struct lx_pass *pass, const struct lx_pass_ops *ops, void *context);
void lx_pass_free(struct lx_pass *pass);

bool lx_pass_has_process(const struct lx_pass *pass, const struct lx_process *process);
bool lx_pass_has_thread(const struct lx_pass *pass, const struct lx_thread_info *thread);

/* For enter() and leave(). */
static inline bool lx_pass_wants(const struct lx_pass *pass, const struct lx_thread_info *thread)
{
	return __builtin_expect(!pass->threads, 1) || pass->threads[thread->number];
}

static inline uint32_t lx_pass_function(const struct lx_pass *pass, uint32_t lexgion)
{
	return lx_map_get(pass->map, pass->process->lexgion_count, lexgion);
}

#endif
