/* A traced process as `lextrace ctl` finds and asks it. */
#ifndef LX_CLI_CMD_CTL_H
#define LX_CLI_CMD_CTL_H

#include <limits.h>

#include "lextrace/format.h"

struct lx_traced {
	char folder[PATH_MAX];     /* of the process */
	struct lx_state *state;    /* mapped, shared and writable */
};

/* Finds the process by its pid, or in a run or process folder. 0, or 1 after a message. */
int lx_traced_find(const char *word, struct lx_traced *traced);
void lx_traced_close(struct lx_traced *traced);

/*
 * Asks and waits up to `seconds` for the answer, whose text goes to `answer`. 0: done; 1: refused, or after a message: no
 * answer came.
 */
int lx_traced_ask(struct lx_traced *traced, const char *request, double seconds, char *answer, size_t size);

#endif
