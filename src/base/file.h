/*
 * Files for the traced program's side: each call opens, works and closes, so that no descriptor is held. None of them
 * raises SIGXFSZ or SIGBUS: sizes are checked against RLIMIT_FSIZE and space is allocated before it is mapped.
 */
#ifndef LX_BASE_FILE_H
#define LX_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Appends exactly `size` bytes to the file, made if it is missing. `at` is where it must end before (its size so far);
 * what a failed write left is cut off again. Returns 0; -ENOSPC, -EDQUOT no room; -EFBIG over RLIMIT_FSIZE; -ENOENT the
 * folder is gone; other negative errno.
 */
int lx_file_append(const char *path, uint64_t at, const void *data, size_t size);

/* Writes exactly `size` bytes at byte `at` of an open file. Returns 0; errors as lx_file_append. */
int lx_file_write_at(int fd, uint64_t at, const void *data, size_t size);

/* Takes `size` bytes; returns 0 or negative errno, which ends the writing. */
typedef int (*lx_text_sink)(void *context, const char *text, size_t size);

/*
 * Replaces the file in one step: `produce` writes the new content to the sink it is given, the file `temporary` on the same
 * file system, which then takes the name. Errors as above, or what produce returned; the old file then stays. One call at a time in a process.
 */
int lx_file_replace(const char *path, const char *temporary,
		    int (*produce)(void *context, lx_text_sink sink, void *sink_context), void *context);

/*
 * Allocates the file up to offset + size and maps that part shared and writable; new bytes are zero. With `address` the
 * mapping takes that place (MAP_FIXED), else *out says where it is. Errors as lx_file_append.
 */
int lx_file_map(const char *path, uint64_t offset, size_t size, void *address, void **out);

#endif
