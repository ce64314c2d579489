/* A streaming JSON writer for the tool: strict JSON whatever the strings hold, commas by itself, constant memory. */
#ifndef LX_BASE_JSON_H
#define LX_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct lx_json {
	FILE *file;
	bool pretty;       /* two-space indent, one member a line */
	unsigned depth;
	bool comma;        /* a value stands before the next one on this level */
	bool after_key;
};

void lx_json_init(struct lx_json *json, FILE *file, bool pretty);
void lx_json_object(struct lx_json *json);     /* { */
void lx_json_object_end(struct lx_json *json);
void lx_json_array(struct lx_json *json);      /* [ */
void lx_json_array_end(struct lx_json *json);
void lx_json_key(struct lx_json *json, const char *key);
/* Invalid UTF-8 (lone surrogates recorded as 3 bytes too) becomes U+FFFD per byte; controls and NUL are escaped. */
void lx_json_text(struct lx_json *json, const char *text, size_t size);
void lx_json_string(struct lx_json *json, const char *text); /* NUL-terminated; NULL gives null */
void lx_json_u64(struct lx_json *json, uint64_t value);
void lx_json_i64(struct lx_json *json, int64_t value);
/* Shortest text with at most `decimals` decimals; not a number and infinities give null. */
void lx_json_double(struct lx_json *json, double value, int decimals);
void lx_json_bool(struct lx_json *json, bool value);
void lx_json_null(struct lx_json *json);

#endif
