/* Makes the folders of killed processes readable for every CTF reader, in place. */
#ifndef LX_TRANSFORM_REPAIR_H
#define LX_TRANSFORM_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was done to the folder of one process. */
struct lx_repaired {
	char *name;              /* of the folder */
	bool failed;             /* the repair came to an error: part of it may be done */
	bool running;            /* left alone: the process is still writing */
	uint64_t packets, events; /* open packets that were appended, and what is in them */
	uint64_t cut;            /* bytes at the ends of streams that were no whole packet */
	bool metadata;           /* was missing or out of date */
};

struct lx_repair_result {
	struct lx_repaired *processes;
	size_t count;
};

/*
 * Repairs the run, or the one process folder, at `path`: cuts streams to whole packets, appends open packets, removes
 * their files, and writes the metadata with all names and the measured clock. May be killed at any point and run again;
 * what is in order stays untouched. Returns 0 or negative errno with one line for the user in `message` (-EROFS, -EACCES:
 * the folder can't be written; else as lx_trace_open). `result` tells what was done in either case; free it with
 * lx_repair_free.
 */
int lx_repair(const char *path, struct lx_repair_result *result, char *message, size_t size);
void lx_repair_free(struct lx_repair_result *result);

#endif
