/* Logs of annotated programs, named by the prefix that was given to them: PREFIX-<16 hex>-app.pfw.gz and the like. */
#ifndef LX_CLI_PREFIX_H
#define LX_CLI_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

/* All names are malloc'd paths, sorted. */
struct lx_prefix {
	char **files;      /* PREFIX-<16 hex>-app|fork|preload.pfw, .pfw.gz */
	size_t file_count;
	char **runs;       /* folders PREFIX-<16 hex>-app.lextrace: of processes that run, or left no such file */
	size_t run_count;
};

/* What there is with this prefix, which may be nothing. 0 or -ENOMEM. Free it in both cases. */
int lx_prefix_look(const char *prefix, struct lx_prefix *found);
void lx_prefix_free(struct lx_prefix *found);

/*
 * Writes the files that are missing of processes which are over (killed, or their disk was full), beside the folders, which stay.
 * Says what it wrote and could not. True: some were written, so that another look is worth it.
 */
bool lx_prefix_complete(const struct lx_prefix *found);

#endif
