/* The moments at which a domain of a process stopped recording: its lextrace:mode events. */
#ifndef LX_VIEW_MODES_H
#define LX_VIEW_MODES_H

#include "transform/trace.h"

struct lx_mode_mark {
	uint64_t ticks;
	uint32_t domain;        /* enum lx_domain */
	uint32_t mode;          /* enum lx_mode: what it went to */
};

/*
 * All of them in order of time, whatever thread wrote them. *list is malloc'd, NULL where there is none. Returns 0 or
 * -ENOMEM.
 */
int lx_modes_find(const struct lx_process *process, struct lx_mode_mark **list, size_t *count);

/* "Python", "STANDBY"; "?" for a number that has no name. */
const char *lx_domain_name(uint32_t domain);
const char *lx_mode_text(uint32_t mode);

#endif
