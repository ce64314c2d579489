/* Opening the run that a command reads, with the messages that the user gets. */
#ifndef LX_CLI_OPEN_RUN_H
#define LX_CLI_OPEN_RUN_H

#include "cli/cli.h"
#include "view/pass.h"

/* lx_find_run() and lx_trace_open(). NULL after a message. */
struct lx_trace *lx_open_run(const struct lx_args *args, bool *named_by_us);

/* True, or false after a message: the filters name a process and a thread of the run. */
bool lx_check_filters(const struct lx_pass *pass);

/* The folder's name without its path, a chunk's with its process's; lives as long as the trace. */
const char *lx_run_name(const struct lx_trace *trace);

#endif
