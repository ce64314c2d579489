/* Run folders: recognised, listed, found. */
#ifndef LX_CLI_RUNS_H
#define LX_CLI_RUNS_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the folder at `path` holds a process folder, or is one. */
bool lx_is_run(const char *path);

/* The message for a folder in which lx_trace_open() found no trace. */
void lx_say_no_trace(const char *path);

/* Names of the run folders in the current folder, newest first, one a line (for completion). */
void lx_runs_print(FILE *out);

#endif
