#include <string.h>

#include "transform/pfw_scan.h"

/* The scanner has seen that it is one. */
static uint32_t hex_digit(char digit)
{
	return digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)((digit | 0x20) - 'a' + 10);
}

static uint32_t code_unit(const char *at)
{
	uint32_t unit = 0;

	for (int i = 2; i < 6; i++)
		unit = unit << 4 | hex_digit(at[i]);
	return unit;
}

static char *put_character(char *out, uint32_t code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 63));
		*out++ = (char)(0x80 | (code & 63));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 63));
		*out++ = (char)(0x80 | (code >> 6 & 63));
		*out++ = (char)(0x80 | (code & 63));
	}
	return out;
}

size_t lx_pfw_decode(char *out, const struct lx_pfw_text *text)
{
	static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
	const char *at = text->at, *end = text->at + text->size;
	char *start = out;

	if (!text->escaped) {
		memcpy(out, at, text->size);
		return text->size;
	}
	while (at < end) {
		if (*at != '\\') {
			*out++ = *at++;
		} else if (at[1] != 'u') {
			const char *letter = strchr(letters, at[1]);

			*out++ = letter ? meanings[letter - letters] : at[1];
			at += 2;
		} else {
			uint32_t code = code_unit(at), low;

			at += 6;
			if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
			    (low = code_unit(at)) >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
				at += 6;
			}
			out = put_character(out, code);
		}
	}
	return (size_t)(out - start);
}
