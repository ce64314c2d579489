/* Values of arguments and metadata as native events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transform/pfw.h"

#define HEADER(kind, key) ((uint64_t)(kind) | (uint64_t)LX_LEXGION_WORD(key) << 32)

static int put_word(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, uint64_t word)
{
	uint64_t *at = lx_pfw_room(words, *used + 2);

	if (!at)
		return -ENOMEM;
	at[*used] = HEADER(kind, key);
	at[*used + 1] = word;
	*used += 2;
	return 0;
}

int lx_pfw_put_text(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, uint32_t form, const char *text,
		    size_t size)
{
	static const char cut[] = "...";
	bool longer = size > LX_TEXT_MAX;
	size_t left = longer ? LX_TEXT_MAX : size;

	do {
		uint32_t part = left > LX_TEXT_PART_MAX ? LX_TEXT_PART_MAX : (uint32_t)left, whole = (part + 7) & ~7u;
		uint64_t *at = lx_pfw_room(words, *used + 2 + whole / 8);

		if (!at)
			return -ENOMEM;
		at += *used;
		at[0] = HEADER(kind, key);
		at[1] = form | (whole - part) << 16 | (left > part ? LX_TEXT_MORE : 0) | (uint64_t)whole << 32;
		if (whole > 0)
			at[1 + whole / 8] = 0;
		if (part > 0)
			memcpy(at + 2, text, part);
		text += part;
		left -= part;
		*used += 2 + whole / 8;
		if (longer && left == 0)
			memcpy((char *)(at + 2) + part - 3, cut, 3);
	} while (left > 0);
	return 0;
}

/* A string with escapes is decoded on the way. */
static int put_string(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, const struct lx_pfw_text *text)
{
	char *decoded;
	int error;

	if (!text->escaped)
		return lx_pfw_put_text(words, used, kind, key, LX_TEXT_STRING, text->at, text->size);
	decoded = malloc(text->size);
	if (!decoded)
		return -ENOMEM;
	error = lx_pfw_put_text(words, used, kind, key, LX_TEXT_STRING, decoded, lx_pfw_decode(decoded, text));
	free(decoded);
	return error;
}

/* Digits that a double can't hold are kept as they stand. */
static bool is_double(const struct lx_pfw_text *text, double *value)
{
	size_t digits = 0;
	bool leading = true, integer = true;

	for (size_t i = 0; i < text->size && (text->at[i] | 0x20) != 'e'; i++) {
		leading = leading && (text->at[i] == '0' || text->at[i] == '.' || text->at[i] == '-');
		digits += !leading && text->at[i] != '.';
		integer = integer && text->at[i] != '.';
	}
	*value = strtod(text->at, NULL); /* what follows a number in the line ends it */
	integer = integer && !memchr(text->at, 'e', text->size) && !memchr(text->at, 'E', text->size);
	return digits <= 17 && *value <= 1.7976931348623157e308 && *value >= -1.7976931348623157e308 &&
	       (!integer || digits < 16);
}

int lx_pfw_put_value(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, const struct lx_pfw_value *value)
{
	uint32_t text = kind ? kind : LX_EV_ARG_TEXT;
	uint64_t bits;
	double number;

	switch (value->form) {
	case LX_PFW_STRING:
		return put_string(words, used, text, key, &value->text);
	case LX_PFW_JSON:
		return lx_pfw_put_text(words, used, text, key, LX_TEXT_JSON, value->text.at, value->text.size);
	case LX_PFW_INT:
		if (kind)
			return lx_pfw_put_text(words, used, text, key, LX_TEXT_NUMBER, value->text.at, value->text.size);
		return put_word(words, used, LX_EV_ARG_INT, key, (uint64_t)value->integer);
	default:
		if (kind || !is_double(&value->text, &number))
			return lx_pfw_put_text(words, used, text, key, LX_TEXT_NUMBER, value->text.at, value->text.size);
		memcpy(&bits, &number, sizeof(bits));
		return put_word(words, used, LX_EV_ARG_FLOAT, key, bits);
	}
}
