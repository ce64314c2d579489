/* Whether a path holds .pfw files, and reading them. */
#ifndef LX_TRANSFORM_PFW_OPEN_H
#define LX_TRANSFORM_PFW_OPEN_H

#include "transform/store.h"
#include "transform/trace.h"

/* Whether the path's name ends as those of such files do: ".pfw" or ".pfw.gz". */
bool lx_pfw_is_name(const char *path);

/* Whether the folder at `path` holds such files. */
bool lx_pfw_is_folder(const char *path);

/*
 * Reads files (or all files of a folder) into trace->processes, which is malloc'd, and trace->said, all else in the store.
 * 0, or negative errno with the file at fault in `culprit`: -ENODATA no record in any of them; -ENOMEM; other: from the system.
 */
int lx_pfw_load(const char *const *paths, size_t count, struct lx_trace *trace, struct lx_store *store, char *culprit,
		size_t culprit_size);

/* Likewise from a file's text in memory, with 64 newlines behind it. */
int lx_pfw_load_text(const char *text, size_t size, struct lx_trace *trace, struct lx_store *store);

#endif
