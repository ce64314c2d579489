/* Text for exports: made valid for formats that ask for UTF-8, and JSON pieces made once per function. */
#ifndef LX_VIEW_EXPORT_TEXT_H
#define LX_VIEW_EXPORT_TEXT_H

#include <stdio.h>

#include "base/json.h"
#include "transform/trace.h"

#define LX_TEXT_VALID_SIZE(size) (3 * (size_t)(size)) /* most bytes that the copies below write */

/* Copies text as UTF-8: each byte that does not belong there, and NUL, becomes U+FFFD. Returns the length. */
size_t lx_text_valid(char *out, const char *text, size_t size);

/*
 * Copies text for Python, which reads it with "surrogatepass": NUL and lone surrogates stay, any other byte that is no
 * UTF-8 becomes the surrogate that "surrogateescape" gives it. Different texts stay different. Returns the length.
 */
size_t lx_text_python(char *out, const char *text, size_t size);

struct lx_piece {
	size_t at;     /* in lx_pieces.text */
	uint32_t size; /* 0: not made yet */
};

/*
 * `per` pieces for each lexgion of one process. To make one: lx_pieces_begin(), write one JSON value to ->json, and
 * lx_pieces_end(). Ids without a definition share the pieces of id 0, as they share its name.
 */
struct lx_pieces {
	struct lx_json json;
	char *text;
	size_t size;
	FILE *file;
	struct lx_piece *pieces;
	uint32_t count, per;
};

/* All zeros is a closed one. 0 or -ENOMEM. */
int lx_pieces_open(struct lx_pieces *pieces, const struct lx_process *process, uint32_t per);
void lx_pieces_close(struct lx_pieces *pieces);

void lx_pieces_begin(struct lx_pieces *pieces);

/* Leaves out `head` bytes of the value's start and `tail` of its end (brackets). 0 or -ENOMEM. */
int lx_pieces_end(struct lx_pieces *pieces, struct lx_piece *piece, unsigned head, unsigned tail);

static inline struct lx_piece *lx_pieces_of(const struct lx_pieces *pieces, uint32_t lexgion)
{
	return pieces->pieces + (lexgion < pieces->count ? (size_t)lexgion * pieces->per : 0);
}

#endif
