#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

static void put(FILE *file, const char *text)
{
	fwrite_unlocked(text, 1, strlen(text), file);
}

static void indent(const struct lx_json *json)
{
	putc_unlocked('\n', json->file);
	for (unsigned i = 0; i < json->depth; i++)
		put(json->file, "  ");
}

/* What stands between the value before and the one that comes now. */
static void separate(struct lx_json *json)
{
	if (json->after_key) {
		json->after_key = false;
	} else if (json->depth > 0) {
		if (json->comma)
			putc_unlocked(',', json->file);
		if (json->pretty)
			indent(json);
	}
	json->comma = true;
}

static void open_level(struct lx_json *json, char bracket)
{
	separate(json);
	putc_unlocked(bracket, json->file);
	json->depth++;
	json->comma = false;
}

static void close_level(struct lx_json *json, char bracket)
{
	json->depth--;
	if (json->pretty && json->comma)
		indent(json);
	putc_unlocked(bracket, json->file);
	json->comma = true;
}

static void quote(FILE *file, const char *text, size_t size)
{
	putc_unlocked('"', file);
	for (size_t at = 0; at < size;) {
		unsigned char byte = (unsigned char)text[at];
		unsigned length;

		if (byte == '"' || byte == '\\') {
			putc_unlocked('\\', file);
			putc_unlocked(byte, file);
			at++;
		} else if (byte == '\n') {
			put(file, "\\n");
			at++;
		} else if (byte < 0x20 || byte == 0x7F) {
			fprintf(file, "\\u%04x", byte);
			at++;
		} else if ((length = lx_utf8_length(text + at, size - at)) == 0) {
			put(file, "\\ufffd");
			at++;
		} else if (byte == 0xC2 && (unsigned char)text[at + 1] < 0xA0) { /* control characters of terminals */
			fprintf(file, "\\u%04x", (unsigned char)text[at + 1]);
			at += 2;
		} else {
			fwrite_unlocked(text + at, 1, length, file);
			at += length;
		}
	}
	putc_unlocked('"', file);
}

void lx_json_init(struct lx_json *json, FILE *file, bool pretty)
{
	*json = (struct lx_json){ .file = file, .pretty = pretty };
}

void lx_json_object(struct lx_json *json)
{
	open_level(json, '{');
}

void lx_json_object_end(struct lx_json *json)
{
	close_level(json, '}');
}

void lx_json_array(struct lx_json *json)
{
	open_level(json, '[');
}

void lx_json_array_end(struct lx_json *json)
{
	close_level(json, ']');
}

void lx_json_key(struct lx_json *json, const char *key)
{
	separate(json);
	quote(json->file, key, strlen(key));
	putc_unlocked(':', json->file);
	if (json->pretty)
		putc_unlocked(' ', json->file);
	json->after_key = true;
}

void lx_json_text(struct lx_json *json, const char *text, size_t size)
{
	separate(json);
	quote(json->file, text, size);
}

void lx_json_string(struct lx_json *json, const char *text)
{
	if (text)
		lx_json_text(json, text, strlen(text));
	else
		lx_json_null(json);
}

void lx_json_u64(struct lx_json *json, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	separate(json);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, json->file);
}

void lx_json_i64(struct lx_json *json, int64_t value)
{
	separate(json);
	fprintf(json->file, "%" PRId64, value);
}

void lx_json_double(struct lx_json *json, double value, int decimals)
{
	char text[400]; /* the largest double has 309 digits */
	int length;

	if (!isfinite(value)) {
		lx_json_null(json);
		return;
	}
	if (decimals > 60)
		decimals = 60;
	length = snprintf(text, sizeof(text), "%.*f", decimals, value);
	if (decimals > 0) {
		while (text[length - 1] == '0')
			length--;
		if (text[length - 1] == '.')
			length--;
		text[length] = '\0';
	}
	separate(json);
	put(json->file, strcmp(text, "-0") == 0 ? "0" : text);
}

void lx_json_bool(struct lx_json *json, bool value)
{
	separate(json);
	put(json->file, value ? "true" : "false");
}

void lx_json_null(struct lx_json *json)
{
	separate(json);
	put(json->file, "null");
}
