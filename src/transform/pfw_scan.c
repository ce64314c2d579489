#include "transform/pfw_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256 /* of arrays and objects in one another */

struct scan {
	const char *at;     /* the newline at the line's end stops every loop */
	const char *wrong;
	bool no_memory;
};

static inline bool fail(struct scan *scan, const char *why)
{
	if (!scan->wrong)
		scan->wrong = why;
	return false;
}

static inline void blanks(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r')
		scan->at++;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Length of the escape at `at`, or 0. */
static size_t escape_length(const char *at)
{
	if (at[1] != 'u')
		return at[1] && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
	for (int i = 2; i < 6; i++)
		if (hex_digit(at[i]) < 0)
			return 0;
	return 6;
}

/* Behind the opening quote: the string, and what comes after the closing one. */
static inline bool string_rest(struct scan *scan, struct lx_pfw_text *text)
{
	text->at = scan->at;
	text->escaped = false;
	for (;;) {
		scan->at = lx_pfw_plain_end(scan->at);
		if (__builtin_expect(*scan->at == '"', 1)) {
			text->size = (size_t)(scan->at - text->at);
			scan->at++;
			return true;
		}
		if (*scan->at == '\n')
			return fail(scan, "a string without an end");
		size_t length = escape_length(scan->at);

		if (!length)
			return fail(scan, "a wrong escape in a string");
		text->escaped = true;
		scan->at += length;
	}
}

static inline bool digits(struct scan *scan)
{
	const char *from = scan->at;

	while ((unsigned char)(*scan->at - '0') < 10)
		scan->at++;
	return scan->at > from || fail(scan, "a wrong number");
}

/* A number as JSON has it: no plus sign, no leading zero, digits on both sides of the point. */
static inline bool number(struct scan *scan, struct lx_pfw_value *value)
{
	const char *from = scan->at;
	bool negative = *from == '-', whole = true;
	uint64_t magnitude = 0;

	scan->at += negative;
	const char *first = scan->at;

	for (; (unsigned char)(*scan->at - '0') < 10; scan->at++)
		magnitude = magnitude * 10 + (uint64_t)(*scan->at - '0');
	size_t count = (size_t)(scan->at - first);

	if (count == 0 || (*first == '0' && count > 1))
		return fail(scan, "a wrong number");
	if (*scan->at == '.') {
		scan->at++;
		whole = false;
		if (!digits(scan))
			return false;
	}
	if ((*scan->at | 0x20) == 'e') {
		scan->at++;
		scan->at += *scan->at == '+' || *scan->at == '-';
		whole = false;
		if (!digits(scan))
			return false;
	}
	value->text = (struct lx_pfw_text){ from, (size_t)(scan->at - from), false };
	/* 18 digits can't overflow; of 19 the first decides; "-0" is none of the integers. */
	if (whole && count < 20 && magnitude <= INT64_MAX && !(negative && magnitude == 0)) {
		value->form = LX_PFW_INT;
		value->integer = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	} else {
		value->form = LX_PFW_NUMBER;
	}
	return true;
}

static bool word(struct scan *scan, const char *text, size_t size)
{
	if (strncmp(scan->at, text, size) != 0)
		return fail(scan, "a wrong value");
	scan->at += size;
	return true;
}

/* A value that is neither array nor object. */
static bool simple(struct scan *scan, struct lx_pfw_value *value)
{
	value->text.at = scan->at;
	value->text.escaped = false;
	value->form = LX_PFW_JSON;
	switch (*scan->at) {
	case '"':
		value->form = LX_PFW_STRING;
		scan->at++;
		return string_rest(scan, &value->text);
	case 't':
		value->text.size = 4;
		return word(scan, "true", 4);
	case 'f':
		value->text.size = 5;
		return word(scan, "false", 5);
	case 'n':
		value->text.size = 4;
		return word(scan, "null", 4);
	default:
		return number(scan, value);
	}
}

/* The key of a member, and the colon. */
static inline bool key(struct scan *scan, struct lx_pfw_text *text)
{
	if (*scan->at != '"')
		return fail(scan, *scan->at == '\n' ? "a line without an end" : "a member without a name");
	scan->at++;
	if (!string_rest(scan, text))
		return false;
	blanks(scan);
	if (*scan->at != ':')
		return fail(scan, *scan->at == '\n' ? "a line without an end" : "a member without a value");
	scan->at++;
	blanks(scan);
	return true;
}

/* Opens an array or object: true with *more = false where it is empty. */
static bool open_level(struct scan *scan, char *levels, int *depth, bool *more)
{
	struct lx_pfw_text name;
	char close = *scan->at == '[' ? ']' : '}';

	if (*depth == DEPTH_MAX)
		return fail(scan, "arrays or objects too deep in one another");
	levels[(*depth)++] = close;
	scan->at++;
	blanks(scan);
	*more = *scan->at != close;
	return !*more || close == ']' || key(scan, &name);
}

/* An array or object of any content. */
static bool compound(struct scan *scan, struct lx_pfw_value *value)
{
	char levels[DEPTH_MAX];
	struct lx_pfw_value inner;
	int depth = 0;
	bool more;

	value->text = (struct lx_pfw_text){ scan->at, 0, false };
	value->form = LX_PFW_JSON;
	if (!open_level(scan, levels, &depth, &more))
		return false;
	while (depth > 0) {
		if (more && (*scan->at == '[' || *scan->at == '{')) {
			if (!open_level(scan, levels, &depth, &more))
				return false;
			continue;
		}
		if (more && !simple(scan, &inner))
			return false;
		blanks(scan);
		if (*scan->at == levels[depth - 1]) {
			scan->at++;
			depth--;
			more = false;
		} else if (*scan->at == ',') {
			scan->at++;
			blanks(scan);
			more = true;
			if (levels[depth - 1] == '}' && !key(scan, &inner.text))
				return false;
		} else {
			return fail(scan, *scan->at == '\n' ? "a line without an end" : "a comma or bracket is missing");
		}
	}
	value->text.size = (size_t)(scan->at - value->text.at);
	return true;
}

static inline bool any_value(struct scan *scan, struct lx_pfw_value *value)
{
	return *scan->at == '[' || *scan->at == '{' ? compound(scan, value) : simple(scan, value);
}

/* After a member: true where another one follows. */
static inline bool next_member(struct scan *scan)
{
	blanks(scan);
	if (*scan->at == ',') {
		scan->at++;
		blanks(scan);
		return true;
	}
	if (*scan->at == '}')
		scan->at++;
	else
		fail(scan, *scan->at == '\n' ? "a line without an end" : "a comma or bracket is missing");
	return false;
}

static bool add_arg(struct scan *scan, struct lx_pfw_line *line)
{
	if (line->arg_count == line->arg_room) {
		size_t room = line->arg_room ? 2 * line->arg_room : 64;
		struct lx_pfw_arg *args = realloc(line->args, room * sizeof(*args));

		if (!args) {
			scan->no_memory = true;
			return fail(scan, "no memory");
		}
		line->args = args;
		line->arg_room = room;
	}
	struct lx_pfw_arg *arg = &line->args[line->arg_count];

	if (!key(scan, &arg->key) || !any_value(scan, &arg->value))
		return false;
	line->arg_count++;
	return true;
}

static bool scan_args(struct scan *scan, struct lx_pfw_line *line)
{
	struct lx_pfw_value other;

	line->arg_count = 0;
	if (*scan->at != '{')
		return any_value(scan, &other);
	scan->at++;
	blanks(scan);
	if (*scan->at == '}') {
		scan->at++;
		return true;
	}
	do {
		if (!add_arg(scan, line))
			return false;
	} while (next_member(scan));
	return !scan->wrong;
}

#define IS(literal) (memcmp(text->at, literal, sizeof(literal) - 1) == 0)

/* LX_PFW_MEMBERS: one that says nothing to us. */
static inline enum lx_pfw_member member_of(const struct lx_pfw_text *text)
{
	switch (text->size) {
	case 2:
		return IS("ts") ? LX_PFW_TS : IS("ph") ? LX_PFW_PH : LX_PFW_MEMBERS;
	case 3:
		return IS("pid") ? LX_PFW_PID : IS("tid") ? LX_PFW_TID : IS("dur") ? LX_PFW_DUR : IS("cat") ? LX_PFW_CAT : LX_PFW_MEMBERS;
	case 4:
		return IS("name") ? LX_PFW_NAME : IS("type") ? LX_PFW_TYPE : LX_PFW_MEMBERS;
	default:
		return LX_PFW_MEMBERS;
	}
}

static bool scan_record(struct scan *scan, struct lx_pfw_line *line)
{
	struct lx_pfw_value other;
	struct lx_pfw_text name, *text = &name;

	scan->at++;
	blanks(scan);
	if (*scan->at == '}')
		return fail(scan, "a record without a name");
	do {
		if (!key(scan, &name))
			return false;
		if (name.size == 4 && IS("args")) {
			line->args_text.at = scan->at;
			if (!scan_args(scan, line))
				return false;
			line->args_text.size = (size_t)(scan->at - line->args_text.at);
			continue;
		}
		enum lx_pfw_member member = member_of(&name);

		if (!any_value(scan, member == LX_PFW_MEMBERS ? &other : &line->members[member]))
			return false;
		if (member != LX_PFW_MEMBERS)
			line->given |= 1u << member;
	} while (next_member(scan));
	return !scan->wrong;
}

enum lx_pfw_scanned lx_pfw_scan(struct lx_pfw_line *line, const char *text, const char *end)
{
	struct scan scan = { .at = text };

	lx_pfw_clear(line);
	while (*scan.at == '[' || *scan.at == ',' || *scan.at == ']' || *scan.at == ' ' || *scan.at == '\t' || *scan.at == '\r')
		scan.at++;
	if (scan.at == end)
		return LX_PFW_BLANK;
	if (*scan.at != '{')
		fail(&scan, "no JSON object");
	else if (scan_record(&scan, line)) {
		while (*scan.at == ',' || *scan.at == ']' || *scan.at == ' ' || *scan.at == '\t' || *scan.at == '\r')
			scan.at++;
		if (scan.at == end)
			return LX_PFW_RECORD;
		fail(&scan, "something behind the record");
	}
	line->wrong = scan.wrong;
	line->wrong_at = (size_t)(scan.at - text);
	return scan.no_memory ? LX_PFW_NO_MEMORY : LX_PFW_WRONG;
}
