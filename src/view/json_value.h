/* Values of a trace that are JSON already: checked, because a trace may hold anything. */
#ifndef LX_VIEW_JSON_VALUE_H
#define LX_VIEW_JSON_VALUE_H

#include "base/json.h"

/* One whole value of strict JSON in UTF-8, no lone surrogates even as escapes, at most 100 levels deep. */
bool lx_json_valid(const char *text, size_t size);

/* A key that may hold any byte, as lx_json_text(). */
void lx_json_key_text(struct lx_json *json, const char *key, size_t size);

/* The value of a key, as it is but for line ends between its parts, which become blanks. */
void lx_json_raw(struct lx_json *json, const char *text, size_t size);

/* The value of a key, exactly, in the fewest digits; "NaN", "Infinity", "-Infinity" as strings. Any locale. */
void lx_json_float(struct lx_json *json, double value);

#endif
