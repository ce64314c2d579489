/*
 * The one function of liblextrace-export.so: a process folder to a .pfw file, for the program that recorded it. It may be
 * called in a running program: nothing is printed, no signal is touched or raised, no descriptor stays open, no state is kept.
 * Any thread, several at a time for different files.
 */
#ifndef LEXTRACE_PFW_H
#define LEXTRACE_PFW_H

#include <stdbool.h>
#include <stddef.h>

/* LX_PFW_1: starts with "[", letters in "ph", an "id" on every line; opens in the Perfetto UI and chrome://tracing. */
enum lx_pfw_dialect { LX_PFW_2, LX_PFW_1 };

/* Unit of "ts" and "dur", whole numbers. */
enum lx_pfw_metric { LX_PFW_US, LX_PFW_NS, LX_PFW_MS, LX_PFW_SEC };

/* All zeros is the default. */
struct lx_pfw_options {
	enum lx_pfw_dialect dialect;
	enum lx_pfw_metric metric;
	bool text; /* not gzipped, whatever the file's name */
};

/*
 * Writes the process folder (RUN/HOST-PID) to `out`: to a file beside it with ".PID.part" behind the name, then renamed.
 * options: NULL for the default. A library built without gzip writes text, under the name without its ".gz".
 *
 * Returns 0; or negative errno with one line for the user in `message`, and nothing is left of the file: -ENOENT no such
 * process folder, or the file's folder is missing; -EINVAL no trace in it, or options of no meaning; -ENOMEM; -ENOSPC, -EDQUOT,
 * -EFBIG no room; others from the system.
 */
int lx_pfw_write(const char *process_folder, const char *out, const struct lx_pfw_options *options, char *message,
		 size_t size);

#endif
