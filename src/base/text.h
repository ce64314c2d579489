/* Text helpers without allocation: escaping, UTF-8. Used in the traced program and in the tool. */
#ifndef LX_BASE_TEXT_H
#define LX_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes (1-4) of the valid UTF-8 sequence at text, or 0 if there is none (cut off, overlong, surrogate, above
 * U+10FFFF). A NUL byte is a valid sequence of length 1.
 */
unsigned lx_utf8_length(const char *text, size_t size);

/*
 * Writes text with each byte that is a control character, DEL, backslash or no valid UTF-8 as \xHH (upper case; "\\" for
 * the backslash). The result has no newline and no NUL. At most out_size - 1 bytes, always NUL-terminated, never cut
 * inside a sequence. Returns the length of the result.
 */
size_t lx_escape(char *out, size_t out_size, const char *text, size_t size);

/* Undoes lx_escape; returns the number of bytes. out may be text; out_size at least size. Broken escapes stay as they are. */
size_t lx_unescape(char *out, size_t out_size, const char *text, size_t size);

#endif
