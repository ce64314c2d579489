/*
 * Who calls the functions of a pattern, and whom they call. Calls are all counted; time counts below the outermost call
 * only, so that the callers' times sum up to the functions' total time, and so do the callees' with the outermost
 * calls' own time.
 */
#ifndef LX_VIEW_EDGES_H
#define LX_VIEW_EDGES_H

#include "view/pass.h"

struct lx_edge {
	uint64_t calls;
	double total;       /* ns in the called function */
};

struct lx_edges {
	struct lx_pass *pass;
	const char *pattern;  /* set before */
	bool *chosen;         /* by function: matches */
	struct lx_edge *callers, *callees; /* by function */
	uint32_t room;
	uint64_t calls;       /* of the chosen functions */
	double total, self;   /* ns of their outermost calls; of all their calls without callees */
	double own;           /* the part of self that is in no callee's line: what the lines sum up to total with */
	double all;           /* ns of the run */
	uint64_t all_calls;
	struct lx_edge top;   /* calls without a caller */
	uint32_t chosen_count;
};

/* `edges` is zero but for pass and pattern. Returns 0 or -ENOMEM. Free it in both cases. */
int lx_edges_run(struct lx_edges *edges);
void lx_edges_free(struct lx_edges *edges);

#endif
