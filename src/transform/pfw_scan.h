/*
 * One line of a .pfw file taken apart, without a tree and without copies. Strict about escapes and numbers; control
 * characters and bytes that are no UTF-8 may stand in strings, as DFTracer writes them.
 */
#ifndef LX_TRANSFORM_PFW_SCAN_H
#define LX_TRANSFORM_PFW_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bytes that must be readable behind the text that is scanned. */
#define LX_PFW_PADDING 64u

/* Bytes of the line as they stand there: of strings what is between the quotes. */
struct lx_pfw_text {
	const char *at;
	size_t size;
	bool escaped; /* holds backslashes: see lx_pfw_decode() */
};

enum lx_pfw_form {
	LX_PFW_STRING,
	LX_PFW_INT,    /* fits `integer` */
	LX_PFW_NUMBER, /* any other number */
	LX_PFW_JSON,   /* true, false, null, an array or an object */
};

struct lx_pfw_value {
	struct lx_pfw_text text;
	int64_t integer; /* of LX_PFW_INT */
	enum lx_pfw_form form;
};

struct lx_pfw_arg {
	struct lx_pfw_text key;
	struct lx_pfw_value value;
};

/* What a member of the record is for. The one that comes last counts where a key comes twice. */
enum lx_pfw_member { LX_PFW_NAME, LX_PFW_CAT, LX_PFW_TYPE, LX_PFW_PID, LX_PFW_TID, LX_PFW_TS, LX_PFW_DUR, LX_PFW_PH, LX_PFW_MEMBERS };

struct lx_pfw_line {
	struct lx_pfw_value members[LX_PFW_MEMBERS];
	uint32_t given;         /* bit 1 << enum lx_pfw_member */
	struct lx_pfw_arg *args;
	struct lx_pfw_text args_text; /* the whole of them */
	size_t arg_count, arg_room; /* the caller frees args after the last line */
	uint8_t order[12];      /* of the keys of the last line, a guess */
	const char *wrong;      /* why the line is no record, in a few words */
	size_t wrong_at;        /* byte of the line, from 0 */
};

enum lx_pfw_scanned { LX_PFW_RECORD, LX_PFW_BLANK, LX_PFW_WRONG, LX_PFW_NO_MEMORY };

/*
 * Takes the line from `text` on apart, which ends with a newline at `end`; all of its texts point into it. Brackets and commas of the
 * 1.x dialect around the record are passed over; a line of these alone is blank.
 */
enum lx_pfw_scanned lx_pfw_scan(struct lx_pfw_line *line, const char *text, const char *end);

/*
 * Likewise for a record as DFTracer writes it, without blanks, from its brace on. Returns the newline behind it; NULL: the line has
 * to go the long way.
 */
const char *lx_pfw_quick(struct lx_pfw_line *line, const char *at);

/* As it is before a line is scanned. */
static inline void lx_pfw_clear(struct lx_pfw_line *line)
{
	line->given = 0;
	line->args_text = (struct lx_pfw_text){ "", 0, false };
	line->arg_count = 0;
}

/* To the next quote, backslash or newline. */
static inline const char *lx_pfw_plain_end(const char *at)
{
#if defined(__SSE2__)
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), newline = _mm_set1_epi8('\n');

	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)at);
		int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
							   _mm_cmpeq_epi8(bytes, newline)));

		if (found)
			return at + __builtin_ctz((unsigned)found);
	}
#else
	while (*at != '"' && *at != '\\' && *at != '\n')
		at++;
	return at;
#endif
}

/* A string's bytes: lone surrogates as 3 bytes, \u0000 as NUL. `out` has room for text->size bytes; returns how many there are. */
size_t lx_pfw_decode(char *out, const struct lx_pfw_text *text);

#endif
