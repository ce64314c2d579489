/* What the files of the parser share. */
#ifndef LX_DECIDE_CONFIG_H
#define LX_DECIDE_CONFIG_H

#include <stdarg.h>

#include "decide/own.h"

/* A stretch of a line. */
struct lx_piece {
	const char *text;
	size_t size;
};

struct lx_parser {
	struct lx_own_rules *rules;
	lx_message_fn message;
	void *context;
	const char *source;        /* NULL: the file */
	struct lx_piece line_text; /* the line at hand, without its end */
	uint32_t line;
	/* The section that keys belong to: one, or one for each name of the header. */
	struct lx_section **targets;
	size_t target_count, target_space;
	enum { LX_IN_NOTHING, LX_IN_SECTION, LX_IN_KNOBS, LX_IN_BAD_SECTION, LX_IN_REMOVED } place;
	uint32_t group;            /* of the header at hand */
	struct lx_piece missing;   /* what the header at hand removes and is not there */
	uint32_t wrong_line;       /* the last one that an error was said of: one a line */
};

#define LX_LARGEST 4294967295u /* of numbers in a configuration */

struct lx_piece lx_piece_trim(struct lx_piece piece);
bool lx_piece_is(struct lx_piece piece, const char *word); /* any case */

/* One message about `piece`, which lies in the line at hand. */
void lx_complain(struct lx_parser *parser, struct lx_piece piece, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void lx_warn(struct lx_parser *parser, struct lx_piece piece, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The nearest of `count` words, or NULL if none is near. */
const char *lx_near_word(struct lx_piece word, const char *const *words, size_t count);
/* "unknown mode 'STANBY' (did you mean 'STANDBY'?)"; the first `listed` of the words, where none is near. */
void lx_unknown_word(char *out, size_t size, const char *what, struct lx_piece word, const char *const *words, size_t count,
		     size_t listed);
/* Names of the domains; behind them what else a section's name begins with: LX_RULED_DOMAINS are domains. */
#define LX_TARGET_WORDS (LX_RULED_DOMAINS + 2)
extern const char *const lx_target_words[LX_TARGET_WORDS];
/* As lx_modes_parse, which see; `*wrong` gets the stretch of the text that is. */
bool lx_modes_read(struct lx_piece text, char separator, int8_t modes[LX_RULED_DOMAINS], char *message, size_t message_size,
		   struct lx_piece *wrong);
bool lx_mode_read(struct lx_piece text, int *mode, char *message, size_t message_size);

/* What was cut at some byte is characters again, without control characters. */
void lx_keep_characters(char *text);

/* Values: false after a message. */
bool lx_parse_number(struct lx_parser *parser, struct lx_piece text, int64_t least, int64_t *out);
bool lx_parse_seconds(struct lx_parser *parser, struct lx_piece text, double *out);
bool lx_parse_switch(struct lx_parser *parser, struct lx_piece text, bool *out);
bool lx_parse_punits(struct lx_parser *parser, struct lx_piece text, struct lx_punits *out);
bool lx_parse_action(struct lx_parser *parser, struct lx_piece text, const struct lx_action **out);

/* The header of a section: sets the parser's place and targets. */
void lx_parse_header(struct lx_parser *parser, struct lx_piece line);
/* "key = value" in the section at hand. */
void lx_parse_key(struct lx_parser *parser, struct lx_piece line);

/* The section of that title that is there at this line, or NULL. */
struct lx_section *lx_section_known(const struct lx_own_rules *rules, const char *title);
/* The section of that title, made if it is not there; NULL without memory. */
struct lx_section *lx_section_get(struct lx_parser *parser, enum lx_section_kind kind, uint32_t domain, const char *title);

#endif
