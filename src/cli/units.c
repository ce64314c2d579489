/* Units of columns, widths and cuts of text for people. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/output.h"

struct lx_unit lx_unit_for(double largest)
{
	if (largest >= 1e9)
		return (struct lx_unit){ "s", 1e9 };
	if (largest >= 1e6)
		return (struct lx_unit){ "ms", 1e6 };
	return (struct lx_unit){ "us", 1e3 };
}

char *lx_format_in_unit(char *out, size_t size, struct lx_unit unit, double ns)
{
	double value = ns / unit.ns, rounds_up = 0.0005;
	int decimals = 3;

	while (value > 0 && value < rounds_up && decimals < 9) {
		rounds_up /= 10;
		decimals++;
	}
	snprintf(out, size, "%.*f", decimals, value);
	return out;
}

static uint32_t code_point(const char *text, unsigned length)
{
	const unsigned char *byte = (const unsigned char *)text;

	switch (length) {
	case 2:
		return (byte[0] & 0x1Fu) << 6 | (byte[1] & 0x3Fu);
	case 3:
		return (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6 | (byte[2] & 0x3Fu);
	case 4:
		return (byte[0] & 0x07u) << 18 | (byte[1] & 0x3Fu) << 12 | (byte[2] & 0x3Fu) << 6 | (byte[3] & 0x3Fu);
	default:
		return byte[0];
	}
}

static unsigned code_width(uint32_t code)
{
	if ((code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) || (code >= 0xFE00 && code <= 0xFE0F))
		return 0;
	if ((code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF && code != 0x303F) ||
	    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
	    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
	    (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1F64F) ||
	    (code >= 0x1F900 && code <= 0x1F9FF) || (code >= 0x20000 && code <= 0x3FFFD))
		return 2;
	return 1;
}

/* Steps over one character; gives its width. Bytes that are no UTF-8 take one column each. */
static size_t step(const char *text, size_t left, unsigned *width)
{
	unsigned length = lx_utf8_length(text, left);

	*width = length ? code_width(code_point(text, length)) : 1;
	return length ? length : 1;
}

size_t lx_text_width(const char *text)
{
	size_t size = strlen(text), columns = 0;
	unsigned width;

	for (size_t at = 0; at < size; columns += width)
		at += step(text + at, size - at, &width);
	return columns;
}

size_t lx_text_fit(const char *text, size_t columns)
{
	size_t size = strlen(text), used = 0, at = 0;
	unsigned width;

	while (at < size) {
		size_t next = step(text + at, size - at, &width);

		if (used + width > columns)
			break;
		used += width;
		at += next;
	}
	return at;
}

/* The tail of text that fits into `columns`. */
static const char *tail(const char *text, size_t columns)
{
	size_t size = strlen(text), over = lx_text_width(text), at = 0;
	unsigned width;

	while (at < size && over > columns) {
		at += step(text + at, size - at, &width);
		over -= width;
	}
	return text + at;
}

void lx_text_cut_head(char *out, size_t size, const char *text, size_t columns)
{
	if (lx_text_width(text) <= columns)
		snprintf(out, size, "%s", text);
	else
		snprintf(out, size, "…%s", tail(text, columns ? columns - 1 : 0));
}

void lx_text_cut_middle(char *out, size_t size, const char *text, size_t columns)
{
	size_t head = columns ? (columns - 1) * 2 / 3 : 0; /* the head says more */

	if (lx_text_width(text) <= columns)
		snprintf(out, size, "%s", text);
	else
		snprintf(out, size, "%.*s…%s", (int)lx_text_fit(text, head), text,
			 tail(text, columns ? columns - 1 - head : 0));
}
