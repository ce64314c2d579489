#include "view/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DEPTH_MAX 100

struct reader {
	const char *at, *end;
};

static bool value(struct reader *in, unsigned depth);

static void blanks(struct reader *in)
{
	while (in->at < in->end && memchr(" \t\n\r", *in->at, 4))
		in->at++;
}

static bool take(struct reader *in, char byte)
{
	if (in->at == in->end || *in->at != byte)
		return false;
	in->at++;
	return true;
}

static bool word(struct reader *in, const char *text)
{
	size_t size = strlen(text);

	if ((size_t)(in->end - in->at) < size || memcmp(in->at, text, size) != 0)
		return false;
	in->at += size;
	return true;
}

/* At least one. */
static bool digits(struct reader *in)
{
	const char *from = in->at;

	while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
		in->at++;
	return in->at > from;
}

static bool number(struct reader *in)
{
	take(in, '-');
	if (!take(in, '0') && !digits(in))
		return false;
	if (take(in, '.') && !digits(in))
		return false;
	if (!take(in, 'e') && !take(in, 'E'))
		return true;
	if (!take(in, '+'))
		take(in, '-');
	return digits(in);
}

/* The four digits behind \u. */
static bool code(struct reader *in, unsigned *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, in->at++) {
		if (in->at == in->end)
			return false;
		unsigned char byte = (unsigned char)*in->at, letter = byte | 0x20;

		if (byte >= '0' && byte <= '9')
			*unit = *unit << 4 | (byte - '0');
		else if (letter >= 'a' && letter <= 'f')
			*unit = *unit << 4 | (letter - 'a' + 10u);
		else
			return false;
	}
	return true;
}

static bool escape(struct reader *in)
{
	unsigned unit;

	if (in->at == in->end)
		return false;
	if (*in->at != 'u')
		return memchr("\"\\/bfnrt", *in->at++, 8) != NULL;
	in->at++;
	if (!code(in, &unit) || (unit >= 0xDC00 && unit < 0xE000))
		return false;
	if (unit < 0xD800 || unit > 0xDBFF)
		return true;
	return word(in, "\\u") && code(in, &unit) && unit >= 0xDC00 && unit < 0xE000;
}

static bool string(struct reader *in)
{
	if (!take(in, '"'))
		return false;
	while (in->at < in->end) {
		unsigned char byte = (unsigned char)*in->at;
		unsigned length = lx_utf8_length(in->at, (size_t)(in->end - in->at));

		if (take(in, '"'))
			return true;
		if (byte < 0x20 || length == 0)
			return false;
		in->at += length;
		if (byte == '\\' && !escape(in))
			return false;
	}
	return false;
}

static bool items(struct reader *in, unsigned depth, bool keys, char end)
{
	blanks(in);
	if (take(in, end))
		return true;
	do {
		blanks(in);
		if (keys) {
			if (!string(in))
				return false;
			blanks(in);
			if (!take(in, ':'))
				return false;
		}
		if (!value(in, depth))
			return false;
		blanks(in);
	} while (take(in, ','));
	return take(in, end);
}

static bool value(struct reader *in, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return false;
	blanks(in);
	if (in->at == in->end)
		return false;
	switch (*in->at) {
	case '{':
		in->at++;
		return items(in, depth + 1, true, '}');
	case '[':
		in->at++;
		return items(in, depth + 1, false, ']');
	case '"':
		return string(in);
	case 't':
		return word(in, "true");
	case 'f':
		return word(in, "false");
	case 'n':
		return word(in, "null");
	default:
		return number(in);
	}
}

bool lx_json_valid(const char *text, size_t size)
{
	struct reader in = { text, text + size };

	if (size == 0 || !value(&in, 0))
		return false;
	blanks(&in);
	return in.at == in.end;
}

void lx_json_key_text(struct lx_json *json, const char *key, size_t size)
{
	lx_json_text(json, key, size);
	putc_unlocked(':', json->file);
	json->after_key = true;
}

void lx_json_raw(struct lx_json *json, const char *text, size_t size)
{
	json->after_key = false;
	json->comma = true;
	for (size_t at = 0; at < size; at++)
		putc_unlocked(text[at] == '\n' || text[at] == '\r' ? ' ' : text[at], json->file);
}

void lx_json_float(struct lx_json *json, double value)
{
	char text[40], out[44];
	size_t used = 0;
	bool whole = true;

	if (!isfinite(value)) {
		lx_json_string(json, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
	for (const char *at = text; *at; at++) {
		bool plain = memchr("0123456789+-e", *at, 13);

		whole = whole && plain && *at != 'e';
		if (plain)
			out[used++] = *at;
		else if (used > 0 && out[used - 1] != '.')
			out[used++] = '.'; /* the locale's mark, which may have some bytes */
	}
	if (whole)
		used += (size_t)sprintf(out + used, ".0");
	lx_json_raw(json, out, used);
}
