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

size_t lx_text_valid(char *out, const char *text, size_t size, unsigned keep)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		unsigned length = lx_utf8_length(text + at, size - at);

		if (length == 0 && (keep & LX_TEXT_KEEP_SURROGATES) && is_surrogate(text + at, size - at))
			length = 3;
		if (length == 0 || (text[at] == '\0' && !(keep & LX_TEXT_KEEP_NUL))) {
			memcpy(out + used, "\xEF\xBF\xBD", 3); /* U+FFFD */
			used += 3;
			at++;
			continue;
		}
		for (unsigned i = 0; i < length; i++)
			out[used++] = text[at++];
	}
	return used;
}

char *lx_text_valid_copy(const char *text, size_t size, unsigned keep, size_t *length)
{
	char *copy = malloc(LX_TEXT_VALID_SIZE(size) + 1);

	if (!copy)
		return NULL;
	*length = lx_text_valid(copy, text, size, keep);
	copy[*length] = '\0';
	return copy;
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
