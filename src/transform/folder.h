/* The files of a process folder, found and loaded. */
#ifndef LX_TRANSFORM_FOLDER_H
#define LX_TRANSFORM_FOLDER_H

#include "transform/store.h"
#include "transform/trace.h"

#define LX_FORMAT_NEWER 1 /* the folder was written in a later version of the format */

/* Whether the folder at `path` is that of a traced process. */
bool lx_folder_is_process(const char *path);

/*
 * Numbers of the streams that the folder has, ascending: files stream-K, and lextrace/packet-K without one. *out lies in
 * the store. 0 or negative errno.
 */
int lx_folder_streams(const char *path, struct lx_store *store, unsigned **out, size_t *count);

/* Fills process->folder's structures. 0, LX_FORMAT_NEWER, or negative errno: -ENOMEM, or the folder can't be read. */
int lx_folder_load(struct lx_process *process, struct lx_store *store);

/* malloc'd "PATH/NAME", or NULL without memory. */
char *lx_folder_path(const char *path, const char *name);

#endif
