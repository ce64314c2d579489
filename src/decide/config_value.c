/* Values: numbers, sets of punits, actions; words that were nearly right. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/config.h"

#define WORD_MAX 48 /* longer words are near to nothing */

static unsigned distance(struct lx_piece a, const char *b)
{
	unsigned row[WORD_MAX + 1], length = (unsigned)strlen(b);

	for (unsigned j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (unsigned j = 1; j <= length; j++) {
			unsigned above = row[j], same = lx_same_word(&a.text[i - 1], &b[j - 1], 1);
			unsigned best = diagonal + !same;

			best = above + 1 < best ? above + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = above;
			row[j] = best;
		}
	}
	return row[length];
}

const char *lx_near_word(struct lx_piece word, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)word.size < 4 ? (unsigned)word.size / 2 : (unsigned)word.size / 3 + 1;

	if (word.size > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		unsigned far = strlen(words[i]) > WORD_MAX ? WORD_MAX : distance(word, words[i]);

		if (far <= best && (!nearest || far < best)) {
			best = far;
			nearest = words[i];
		}
	}
	return nearest;
}

void lx_unknown_word(char *out, size_t size, const char *what, struct lx_piece word, const char *const *words, size_t count,
		     size_t listed)
{
	const char *near = lx_near_word(word, words, count);
	char choice[128] = "";

	for (size_t i = 0, used = 0; i < listed && !near && used < sizeof(choice); i++)
		used += (size_t)snprintf(choice + used, sizeof(choice) - used, "%s%s", i ? " " : "", words[i]);
	if (near)
		snprintf(choice, sizeof(choice), "did you mean '%s'?", near);
	snprintf(out, size, "unknown %s '%.*s' (%s)", what, (int)(word.size < 60 ? word.size : 60), word.text, choice);
	lx_keep_characters(out);
}

bool lx_parse_number(struct lx_parser *parser, struct lx_piece text, int64_t least, int64_t *out)
{
	bool negative = text.size > 1 && *text.text == '-';
	uint64_t value = 0;

	if (text.size == 0) {
		lx_complain(parser, text, "a number is missing");
		return false;
	}
	for (size_t i = negative; i < text.size; i++) {
		if (text.text[i] < '0' || text.text[i] > '9') {
			lx_complain(parser, text, "'%.*s' is no whole decimal number", (int)(text.size < 60 ? text.size : 60),
				    text.text);
			return false;
		}
		if (value <= LX_LARGEST)
			value = value * 10 + (uint64_t)(text.text[i] - '0');
	}
	*out = negative ? -(int64_t)value : (int64_t)value;
	if (value > LX_LARGEST || *out < least) {
		lx_complain(parser, text, "%.*s is out of range (%lld to %u)", (int)(text.size < 60 ? text.size : 60), text.text,
			    (long long)least, LX_LARGEST);
		return false;
	}
	return true;
}

bool lx_parse_seconds(struct lx_parser *parser, struct lx_piece text, double *out)
{
	double value = 0, unit = 1;
	bool point = false, digits = false, right = text.size > 0 && text.size < 30;

	for (size_t i = 0; i < text.size && right; i++) {
		char c = text.text[i];

		if (c == '.' && !point) {
			point = true;
		} else if (c >= '0' && c <= '9') {
			digits = true;
			value = value * 10 + (c - '0');
			unit *= point ? 10 : 1;
		} else {
			right = false;
		}
	}
	*out = value / unit;
	if (!right || !digits || *out <= 0 || *out > LX_LARGEST) {
		lx_complain(parser, text, "'%.*s' is no number of seconds above 0", (int)(text.size < 60 ? text.size : 60),
			    text.text);
		return false;
	}
	return true;
}

bool lx_parse_switch(struct lx_parser *parser, struct lx_piece text, bool *out)
{
	static const struct {
		const char *word;
		bool on;
	} words[] = {{"on", true},   {"off", false}, {"1", true},   {"0", false},
		     {"true", true}, {"false", false}, {"yes", true}, {"no", false}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (lx_piece_is(text, words[i].word)) {
			*out = words[i].on;
			return true;
		}
	lx_complain(parser, text, "'%.*s' is neither on nor off", (int)(text.size < 60 ? text.size : 60), text.text);
	return false;
}

/* ---- Sets of punits ---- */

static int by_first(const void *a, const void *b)
{
	const struct lx_range *one = a, *other = b;

	return (one->first > other->first) - (one->first < other->first);
}

static bool parse_range(struct lx_parser *parser, struct lx_piece item, struct lx_range *out)
{
	const char *dash = memchr(item.text, '-', item.size);
	struct lx_piece first = item, last = item;
	int64_t from, to;

	if (dash) {
		first.size = (size_t)(dash - item.text);
		last = (struct lx_piece){dash + 1, item.size - first.size - 1};
	}
	first = lx_piece_trim(first);
	last = lx_piece_trim(last);
	if (first.size == 0 || last.size == 0) {
		lx_complain(parser, item.size ? item : first, "a number is missing in the set");
		return false;
	}
	if (!lx_parse_number(parser, first, 0, &from) || !lx_parse_number(parser, last, 0, &to))
		return false;
	if (from > to) {
		lx_complain(parser, item, "(%lld-%lld) runs backwards", (long long)from, (long long)to);
		return false;
	}
	if (to >= LX_LARGEST) {
		lx_complain(parser, last, "%lld is out of range (0 to %u)", (long long)to, LX_LARGEST - 1);
		return false;
	}
	*out = (struct lx_range){(uint32_t)from, (uint32_t)to};
	return true;
}

/* In order, those that touch made one. */
static size_t merge_ranges(struct lx_range *ranges, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(ranges, count, sizeof(*ranges), by_first);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && ranges[i].first <= (uint64_t)ranges[kept - 1].last + 1) {
			if (ranges[i].last > ranges[kept - 1].last)
				ranges[kept - 1].last = ranges[i].last;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	return kept;
}

bool lx_parse_punits(struct lx_parser *parser, struct lx_piece text, struct lx_punits *out)
{
	size_t count = 1, filled = 0;

	if (text.size < 2 || *text.text != '(' || text.text[text.size - 1] != ')') {
		lx_complain(parser, text, "a set is written (0-3), (0) or (0,2,5-7)");
		return false;
	}
	struct lx_piece inner = lx_piece_trim((struct lx_piece){text.text + 1, text.size - 2});

	for (size_t i = 0; i < inner.size; i++)
		count += inner.text[i] == ',';
	struct lx_range *ranges = inner.size ? lx_rules_take(parser->rules, count * sizeof(*ranges)) : NULL;

	while (inner.size > 0 && ranges) {
		const char *comma = memchr(inner.text, ',', inner.size);
		struct lx_piece item = {inner.text, comma ? (size_t)(comma - inner.text) : inner.size};

		if (!parse_range(parser, lx_piece_trim(item), &ranges[filled++]))
			return false;
		item.size += comma != NULL;
		inner.text += item.size;
		inner.size -= item.size;
		if (comma && inner.size == 0) {
			lx_complain(parser, (struct lx_piece){comma, 1}, "a number is missing in the set");
			return false;
		}
	}
	out->said = true;
	out->line = parser->line;
	out->ranges = ranges;
	out->count = merge_ranges(ranges, filled);
	return true;
}

/* ---- Actions ---- */

/* "INTROSPECT:seconds:script[:modes]"; `*modes` gets the last part, without text where there is none. */
static bool parse_introspection(struct lx_parser *parser, struct lx_piece text, struct lx_action *action, struct lx_piece *modes)
{
	const char *end = text.text + text.size, *first = memchr(text.text, ':', text.size);
	const char *second = first ? memchr(first + 1, ':', (size_t)(end - first) - 1) : NULL;
	const char *third = second ? memchr(second + 1, ':', (size_t)(end - second) - 1) : NULL;

	if (!second) {
		lx_complain(parser, text, "an introspection is written INTROSPECT:seconds:script:MODE");
		return false;
	}
	struct lx_piece seconds = lx_piece_trim((struct lx_piece){first + 1, (size_t)(second - first) - 1});
	struct lx_piece script = lx_piece_trim((struct lx_piece){second + 1, (size_t)((third ? third : end) - second) - 1});

	if (!lx_parse_number(parser, seconds, -1, &action->seconds))
		return false;
	if (script.size == 0) {
		lx_complain(parser, (struct lx_piece){second, 1}, "a script is missing ('-' for none)");
		return false;
	}
	action->introspect = true;
	action->script = lx_piece_is(script, "-") ? NULL : lx_rules_text(parser->rules, script.text, script.size);
	*modes = third ? (struct lx_piece){third + 1, (size_t)(end - third) - 1} : (struct lx_piece){NULL, 0};
	return true;
}

bool lx_parse_action(struct lx_parser *parser, struct lx_piece text, const struct lx_action **out)
{
	static const char introspect[] = "INTROSPECT";
	const size_t word = sizeof(introspect) - 1;
	struct lx_piece modes = text, wrong;
	char message[256];

	*out = NULL;
	if (lx_piece_is(text, "none"))
		return true;
	struct lx_action *action = lx_rules_take(parser->rules, sizeof(*action));

	if (!action)
		return false;
	action->text = lx_rules_text(parser->rules, text.text, text.size);
	if (text.size >= word && lx_same_word(text.text, introspect, word) && (text.size == word || text.text[word] == ':') &&
	    !parse_introspection(parser, text, action, &modes))
		return false;
	if (!modes.text) { /* so in PInsight */
		memset(action->modes, LX_MODE_MONITORING, sizeof(action->modes));
	} else if (!lx_modes_read(modes, ':', action->modes, message, sizeof(message), &wrong)) {
		lx_complain(parser, wrong, "%s", message);
		return false;
	}
	*out = action;
	return true;
}
