/*
 * The file an export goes to: buffered, gzip by the name's ending, complete or absent. The bytes go to a temporary file
 * beside the target, which takes the target's name in lx_out_commit(); a signal that ends the program removes it.
 */
#ifndef LX_VIEW_EXPORT_OUT_H
#define LX_VIEW_EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LX_OUT_ROOM 4096u /* most bytes that one lx_out_room() may ask for */

struct lx_out {
	uint8_t *at, *end;      /* free part of the buffer */
	uint8_t *buffer;
	int fd;
	bool in_program;        /* see lx_out_open_in_program() */
	int error;              /* first failure, negative errno; what comes after it is dropped */
	uint64_t bytes;         /* that reached the file, after compression */
	char *target;           /* NULL: standard output */
	char *temporary;        /* NULL: written in place (standard output, a pipe, a device) */
	uint8_t *packed;        /* room for one compressed member; NULL: no gzip */
	size_t packed_size;
	struct libdeflate_compressor *compressor;
};

/*
 * Opens `path` for writing; "-" is standard output. Nothing is seen under that name before lx_out_commit(). Returns 0;
 * -ENOENT its folder is missing; -EISDIR it is a folder; -EOPNOTSUPP gzip is wanted but not built in; -ENOMEM; other
 * negative errno from the system. On error nothing is to be closed.
 */
int lx_out_open(struct lx_out *out, const char *path);

/*
 * The same for a library in somebody's program: signals stay as they are, and none is raised (a file size limit is looked at
 * before each write). gzip: whether the bytes are packed, whatever the name. "-" is a file like any other.
 */
int lx_out_open_in_program(struct lx_out *out, const char *path, bool gzip);

/* Writes the rest and gives the file its name. Returns 0 or negative errno (as out->error); then no file is left. */
int lx_out_commit(struct lx_out *out);

/* Gives the file up: nothing is left of it. */
void lx_out_abandon(struct lx_out *out);

/* Hands the buffer's content on. Used by the functions below. */
void lx_out_flush(struct lx_out *out);

/* Appends any number of bytes. */
void lx_out_write(struct lx_out *out, const void *data, size_t size);

/* At least `size` bytes (up to LX_OUT_ROOM) to write to; out->at is then set to their end. */
static inline uint8_t *lx_out_room(struct lx_out *out, size_t size)
{
	if (__builtin_expect((size_t)(out->end - out->at) < size, 0))
		lx_out_flush(out);
	return out->at;
}

/* The bytes at `at` and the place behind them; 20 bytes at most. */
uint8_t *lx_out_decimal(uint8_t *at, uint64_t value);

static inline uint8_t *lx_out_copy(uint8_t *at, const void *data, size_t size)
{
	memcpy(at, data, size);
	return at + size;
}

#define LX_OUT_LITERAL(at, text) lx_out_copy(at, text, sizeof(text) - 1)

#endif
