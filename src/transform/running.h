/* Whether a trace is still being written. */
#ifndef LX_TRANSFORM_RUNNING_H
#define LX_TRANSFORM_RUNNING_H

#include "transform/trace.h"

/*
 * True if the process of process->state lives and has not ended its trace: it still maps the folder's state file. Where
 * that can't be seen (another user's process), it is true if the process is older than its trace.
 */
bool lx_process_running(const struct lx_process *process);

#endif
