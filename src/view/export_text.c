#include "view/export_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_surrogate(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;

	return size >= 3 && byte[0] == 0xED && byte[1] >= 0xA0 && byte[1] <= 0xBF && (byte[2] & 0xC0) == 0x80;
}

size_t lx_text_valid(char *out, const char *text, size_t size)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		unsigned length = text[at] ? lx_utf8_length(text + at, size - at) : 0;

		if (length == 0) {
			memcpy(out + used, "\xEF\xBF\xBD", 3); /* U+FFFD */
			used += 3;
			at++;
		}
		for (; length > 0; length--)
			out[used++] = text[at++];
	}
	return used;
}

size_t lx_text_python(char *out, const char *text, size_t size)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		unsigned length = lx_utf8_length(text + at, size - at);

		if (is_surrogate(text + at, size - at))
			length = 3;
		if (length == 0) { /* U+DC00 + byte */
			unsigned char byte = (unsigned char)text[at++];

			out[used++] = '\xED';
			out[used++] = (char)(0xB0 | byte >> 6);
			out[used++] = (char)(0x80 | (byte & 0x3F));
		}
		for (; length > 0; length--)
			out[used++] = text[at++];
	}
	return used;
}

int lx_pieces_open(struct lx_pieces *pieces, const struct lx_process *process, uint32_t per)
{
	*pieces = (struct lx_pieces){ .per = per };
	pieces->count = process->lexgion_count > 0 ? (uint32_t)process->lexgion_count : 1;
	pieces->pieces = calloc((size_t)pieces->count * per, sizeof(*pieces->pieces));
	pieces->file = open_memstream(&pieces->text, &pieces->size);
	if (pieces->pieces && pieces->file)
		return 0;
	lx_pieces_close(pieces);
	return -ENOMEM;
}

void lx_pieces_close(struct lx_pieces *pieces)
{
	if (pieces->file)
		fclose(pieces->file);
	free(pieces->text);
	free(pieces->pieces);
	*pieces = (struct lx_pieces){ 0 };
}

void lx_pieces_begin(struct lx_pieces *pieces)
{
	lx_json_init(&pieces->json, pieces->file, false);
}

int lx_pieces_end(struct lx_pieces *pieces, struct lx_piece *piece, unsigned head, unsigned tail)
{
	size_t before = pieces->size; /* as of the last fflush() */

	if (fflush(pieces->file) != 0)
		return -ENOMEM;
	piece->at = before + head;
	piece->size = (uint32_t)(pieces->size - before - head - tail);
	return 0;
}
