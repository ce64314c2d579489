/* A header of a section, taken apart: for config_header.c and config_target.c. */
#ifndef LX_DECIDE_CONFIG_HEADER_H
#define LX_DECIDE_CONFIG_HEADER_H

#include "decide/config.h"

enum lx_header_action { LX_HEADER_SET, LX_HEADER_RESET, LX_HEADER_REMOVE };

struct lx_header {
	enum lx_header_action action;
	struct lx_piece target;      /* between the brackets, without the action */
	struct lx_piece punit_text;  /* "Python.thread(0-1)", behind the brackets */
	uint32_t punit_domain;
	struct lx_punits punits[LX_PUNIT_KINDS_MAX];
	bool limited;
	struct lx_piece inherited;   /* "Python.default", "Lexgion(Python).default", "Lexgion.default"; text NULL: none */
	int inherited_domain;        /* -1: "Lexgion.default" */
	bool from_default;           /* it is "Lexgion(Python).default" */
};

/*
 * From `at` to the first of `ends` that is outside quotes, expressions and brackets of a wildcard; the size if there is
 * none before a comment. With `names`, an expression begins where a name does: behind ':', ',' or '('. `*open` gets where
 * a quote or an expression begins that nothing closes; it may be NULL.
 */
size_t lx_header_end_of(struct lx_piece text, size_t at, const char *ends, bool names, const char **open);

/* What stands behind "Lexgion("; false: the target does not begin so. */
bool lx_names_of(struct lx_piece target, struct lx_piece *names);
/* "Domain.kind(set)", in parts. False: it is none, and nothing was said. */
bool lx_split_punits(struct lx_piece text, struct lx_piece *domain, struct lx_piece *kind, struct lx_piece *set);
/* "(*)" */
bool lx_set_is_everything(struct lx_piece set);
/* A kind of punit: "thread" of "Python.thread". -1: none of that name. */
int lx_punit_kind(uint32_t domain, struct lx_piece name);
/* Messages about names that are not known. Always false. */
bool lx_unknown_domain(struct lx_parser *parser, struct lx_piece name);
bool lx_unknown_kind(struct lx_parser *parser, uint32_t domain, struct lx_piece name);

/* One more section for the keys below the header. False: no memory. */
bool lx_add_target(struct lx_parser *parser, struct lx_section *section);
bool lx_same_sets(const struct lx_section *section, const struct lx_header *header);
/* A section takes what is of its own domain, and only those of lexgions take from "Lexgion(Python).default". */
bool lx_inherits_right(struct lx_parser *parser, const struct lx_header *header, enum lx_section_kind kind, uint32_t domain);

/* [Python.default], [Lexgion.default], [Lexgion(Python).default]. False after a message. */
bool lx_default_target(struct lx_parser *parser, struct lx_section *section, const struct lx_header *header);
/* [Lexgion(…)], with what lx_names_of gave. */
bool lx_lexgion_target(struct lx_parser *parser, const struct lx_header *header, struct lx_piece names);
/* The section that the header is about: sets the parser's place and targets. False after a message. */
bool lx_header_target(struct lx_parser *parser, const struct lx_header *header);

#endif
