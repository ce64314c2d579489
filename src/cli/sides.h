/* Which events of calls a run's configurations leave out. */
#ifndef LX_CLI_SIDES_H
#define LX_CLI_SIDES_H

#include "transform/trace.h"

/* Sets lx_process.sides of each process whose configurations have one of a pair of events off. Returns 0 or -ENOMEM. */
int lx_sides_find(struct lx_trace *trace);

#endif
