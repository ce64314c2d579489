#include "base/text.h"

unsigned lx_utf8_length(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;
	unsigned length;

	if (size == 0)
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if (byte[0] >= 0xC2 && byte[0] <= 0xDF)
		length = 2;
	else if (byte[0] >= 0xE0 && byte[0] <= 0xEF)
		length = 3;
	else if (byte[0] >= 0xF0 && byte[0] <= 0xF4)
		length = 4;
	else
		return 0;
	if (size < length)
		return 0;
	for (unsigned i = 1; i < length; i++)
		if ((byte[i] & 0xC0) != 0x80)
			return 0;
	if ((byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xED && byte[1] > 0x9F) || /* overlong, surrogate */
	    (byte[0] == 0xF0 && byte[1] < 0x90) || (byte[0] == 0xF4 && byte[1] > 0x8F))
		return 0;
	return length;
}

size_t lx_escape(char *out, size_t out_size, const char *text, size_t size)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t used = 0;

	if (out_size == 0)
		return 0;
	for (size_t at = 0; at < size;) {
		unsigned char byte = (unsigned char)text[at];
		unsigned length = lx_utf8_length(text + at, size - at);
		char piece[4];

		if (byte == '\\') {
			piece[0] = piece[1] = '\\';
			length = 2;
			at += 1;
		} else if (length == 0 || byte < 0x20 || byte == 0x7F ||
			   (byte == 0xC2 && (unsigned char)text[at + 1] < 0xA0)) {
			piece[0] = '\\';
			piece[1] = 'x';
			piece[2] = digits[byte >> 4];
			piece[3] = digits[byte & 15];
			length = 4;
			at += 1;
		} else {
			for (unsigned i = 0; i < length; i++)
				piece[i] = text[at + i];
			at += length;
		}
		if (used + length >= out_size)
			break;
		for (unsigned i = 0; i < length; i++)
			out[used++] = piece[i];
	}
	out[used] = '\0';
	return used;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t lx_unescape(char *out, size_t out_size, const char *text, size_t size)
{
	size_t used = 0;

	for (size_t at = 0; at < size && used < out_size;) {
		if (text[at] == '\\' && at + 1 < size && text[at + 1] == '\\') {
			out[used++] = '\\';
			at += 2;
		} else if (text[at] == '\\' && at + 3 < size && text[at + 1] == 'x' && hex_digit(text[at + 2]) >= 0 &&
			   hex_digit(text[at + 3]) >= 0) {
			out[used++] = (char)(hex_digit(text[at + 2]) * 16 + hex_digit(text[at + 3]));
			at += 4;
		} else {
			out[used++] = text[at++];
		}
	}
	return used;
}
