#include <string.h>

#include "transform/pfw_scan.h"

#define KEY8(a, b, c, d, e, f, g, h)                                                                                  \
	((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32 |      \
	 (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define ARGS (LX_PFW_MEMBERS + 1)

/* Keys with all up to their value, as a word. */
static const struct known {
	uint64_t word, mask;
	uint8_t size;
	uint8_t member;
} known[] = {
	{ KEY8('"', 'i', 'd', '"', ':', 0, 0, 0), 0xffffffffffu, 5, LX_PFW_MEMBERS },
	{ KEY8('"', 'n', 'a', 'm', 'e', '"', ':', '"'), UINT64_MAX, 8, LX_PFW_NAME },
	{ KEY8('"', 'c', 'a', 't', '"', ':', '"', 0), 0xffffffffffffffu, 7, LX_PFW_CAT },
	{ KEY8('"', 't', 'y', 'p', 'e', '"', ':', 0), 0xffffffffffffffu, 7, LX_PFW_TYPE },
	{ KEY8('"', 'p', 'i', 'd', '"', ':', 0, 0), 0xffffffffffffu, 6, LX_PFW_PID },
	{ KEY8('"', 't', 'i', 'd', '"', ':', 0, 0), 0xffffffffffffu, 6, LX_PFW_TID },
	{ KEY8('"', 't', 's', '"', ':', 0, 0, 0), 0xffffffffffu, 5, LX_PFW_TS },
	{ KEY8('"', 'd', 'u', 'r', '"', ':', 0, 0), 0xffffffffffffu, 6, LX_PFW_DUR },
	{ KEY8('"', 'p', 'h', '"', ':', 0, 0, 0), 0xffffffffffu, 5, LX_PFW_PH },
	{ KEY8('"', 'a', 'r', 'g', 's', '"', ':', '{'), UINT64_MAX, 8, ARGS },
};

/* Eight digits at once: their number; *all is false where not all of them are digits. */
static inline uint64_t eight_digits(const char *at, bool *all)
{
	uint64_t word;

	memcpy(&word, at, 8);
	*all = (((word + 0x4646464646464646u) | (word - 0x3030303030303030u)) & 0x8080808080808080u) == 0;
	word -= 0x3030303030303030u;
	word = word * 10 + (word >> 8);
	return ((word & 0x000000ff000000ffu) * 0x000f424000000064u + (word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
}

/* A whole number of at most 18 digits. NULL: it is none, or longer. */
static inline const char *quick_number(const char *at, struct lx_pfw_value *value)
{
	const char *from = at;
	uint64_t number = 0, eight;
	bool all;

	eight = eight_digits(at, &all);
	if (all) {
		number = eight;
		at += 8;
		eight = eight_digits(at, &all);
		if (all) {
			number = number * 100000000 + eight;
			at += 8;
		}
	}
	for (; (unsigned char)(*at - '0') < 10; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	size_t size = (size_t)(at - from);

	if (size == 0 || size > 18 || (*from == '0' && size > 1) || (*at != ',' && *at != '}'))
		return NULL;
	value->text = (struct lx_pfw_text){ from, size, false };
	value->integer = (int64_t)number;
	value->form = LX_PFW_INT;
	return at;
}

/* Behind the quote: a string without escapes. */
static inline const char *quick_string(const char *at, struct lx_pfw_text *text)
{
	const char *end = lx_pfw_plain_end(at);

	*text = (struct lx_pfw_text){ at, (size_t)(end - at), false };
	return *end == '"' ? end + 1 : NULL;
}

static inline const char *quick_args(const char *at, struct lx_pfw_line *line)
{
	line->args_text.at = at - 1;
	for (;; at++) {
		struct lx_pfw_arg *arg;

		if (line->arg_count == line->arg_room)
			return NULL;
		arg = &line->args[line->arg_count];
		if (*at != '"' || !(at = quick_string(at + 1, &arg->key)) || *at != ':')
			return NULL;
		if (*++at == '"') {
			arg->value.form = LX_PFW_STRING;
			at = quick_string(at + 1, &arg->value.text);
		} else {
			at = quick_number(at, &arg->value);
		}
		if (!at)
			return NULL;
		line->arg_count++;
		if (*at != ',')
			break;
	}
	line->args_text.size = (size_t)(at + 1 - line->args_text.at);
	return *at == '}' ? at + 1 : NULL;
}

/* Keys mostly come in the order of the line before. */
static inline const struct known *find_known(struct lx_pfw_line *line, unsigned index, const char *at)
{
	uint64_t word;
	const struct known *guess = &known[line->order[index]];

	memcpy(&word, at, 8);
	if (__builtin_expect((word & guess->mask) == guess->word, 1))
		return guess;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if ((word & known[i].mask) == known[i].word) {
			line->order[index] = (uint8_t)i;
			return &known[i];
		}
	}
	return NULL;
}

const char *lx_pfw_quick(struct lx_pfw_line *line, const char *at)
{
	lx_pfw_clear(line);
	for (unsigned index = 0; index < sizeof(line->order); index++) {
		const struct known *key = find_known(line, index, ++at);
		struct lx_pfw_value other, *value;

		if (!key)
			return NULL;
		at += key->size;
		if (key->member == ARGS) {
			at = quick_args(at, line);
		} else {
			value = key->member == LX_PFW_MEMBERS ? &other : &line->members[key->member];
			line->given |= 1u << key->member;
			if (at[-1] == '"') {
				value->form = LX_PFW_STRING;
				at = quick_string(at, &value->text);
			} else {
				at = quick_number(at, value);
			}
		}
		if (!at)
			return NULL;
		if (*at != ',')
			break;
	}
	return at[0] == '}' && at[1] == '\n' ? at + 1 : NULL;
}
