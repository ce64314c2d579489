/* The CTF 1.8 metadata text (TSDL) of a process folder, made from format.h's tables. Writer and repair both use it. */
#ifndef LX_BASE_CTF_METADATA_H
#define LX_BASE_CTF_METADATA_H

#include <stddef.h>

#include "base/file.h"
#include "lextrace/format.h"

/*
 * Writes the metadata of the process that `state` describes.
 *   process_text  content of lextrace/process ("key value" lines, escaped): becomes the env block; may be ""
 *   definitions   content of lextrace/lexgions (any size; reading stops at size 0 or at a record that is not whole;
 *                  ids rise by blocks: one whose block is below one before gets no label)
 * Clock: frequency from state->clock_frequency, offset so that state->start.ticks is state->start.realtime.
 * Labels are "NAME FILE:LINE" (C: "NAME"), unique within a block, escaped so that any CTF reader takes them (NUL,
 * control characters, quotes, backslashes, newlines, invalid UTF-8). Block values above the last block map to a variant
 * option without labels, so that later ids decode too. Allocates nothing, keeps nothing, is called in the traced program.
 * Returns 0 or what `sink` returned.
 */
int lx_ctf_metadata_write(lx_text_sink sink, void *context, const struct lx_state *state, const char *process_text,
			  size_t process_size, const void *definitions, size_t definitions_size);

#endif
