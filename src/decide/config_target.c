/* The section that a header is about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decide/config_header.h"

static bool add_target(struct lx_parser *parser, struct lx_section *section)
{
	if (!section)
		return false;
	if (parser->target_count == parser->target_space) {
		size_t space = parser->target_space ? parser->target_space * 2 : 8;
		struct lx_section **larger = realloc(parser->targets, space * sizeof(*larger));

		if (!larger) {
			parser->rules->no_memory = true;
			return false;
		}
		parser->targets = larger;
		parser->target_space = space;
	}
	parser->targets[parser->target_count++] = section;
	if (section->line == LX_LINE_BUILT_IN)
		section->line = parser->line;
	return true;
}

static void forget_keys(struct lx_section *section)
{
	memset(&section->window, 0, sizeof(section->window));
	section->switches = NULL;
	section->mode = (struct lx_value){0, 0};
	memset(section->punits, 0, sizeof(section->punits));
	section->punit_text = NULL;
	section->line = LX_LINE_BUILT_IN;
}

static bool same_set(const struct lx_punits *a, const struct lx_punits *b)
{
	return a->said == b->said && a->count == b->count &&
	       (a->count == 0 || memcmp(a->ranges, b->ranges, a->count * sizeof(*a->ranges)) == 0);
}

static bool same_sets(const struct lx_section *section, const struct lx_header *header)
{
	for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
		if (!same_set(&section->punits[kind], &header->punits[kind]))
			return false;
	return true;
}

/* A section takes what is of its own domain, and only those of lexgions take from "Lexgion(Python).default". */
static bool inherits_right(struct lx_parser *parser, const struct lx_header *header, enum lx_section_kind kind, uint32_t domain)
{
	bool of_lexgions = kind == LX_SECTION_NAMED || kind == LX_SECTION_LEXGION_DOMAIN;
	bool right = kind == LX_SECTION_LEXGION ? !header->from_default
		     : header->inherited_domain < 0
			     ? of_lexgions
			     : header->inherited_domain == (int)domain && (of_lexgions || !header->from_default);

	if (header->inherited.text && !right)
		lx_complain(parser, header->inherited, "the section takes nothing from '%.*s'",
			    (int)(header->inherited.size < 60 ? header->inherited.size : 60), header->inherited.text);
	return !header->inherited.text || right;
}

/* [Python.default], [Lexgion.default], [Lexgion(Python).default] */
static bool default_target(struct lx_parser *parser, struct lx_section *section, const struct lx_header *header)
{
	if (header->action == LX_HEADER_REMOVE) {
		lx_complain(parser, header->target, "a default section is not removed but reset: [RESET %.*s]",
			    (int)(header->target.size < 60 ? header->target.size : 60), header->target.text);
		return false;
	}
	if (header->limited && (section->kind != LX_SECTION_LEXGION_DOMAIN || header->punit_domain != section->domain)) {
		lx_complain(parser, header->punit_text, "this section takes no such set here");
		return false;
	}
	if (!inherits_right(parser, header, section->kind, section->domain))
		return false;
	if (header->action == LX_HEADER_RESET)
		forget_keys(section);
	if (header->limited) {
		memcpy(section->punits, header->punits, sizeof(section->punits));
		section->punit_text = lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size);
	}
	return add_target(parser, section);
}

/* "[Python.thread(0-1)]", the same for all ways of writing a set; malloc'd. */
static char *punit_title(struct lx_parser *parser, uint32_t domain, int kind, const struct lx_punits *punits)
{
	const struct lx_domain_info *info = lx_domain_info(domain);
	char *title = malloc(64 + punits->count * sizeof("4294967294-4294967294"));
	int size = title ? sprintf(title, "[%s.%s(", info->name, info->punits[kind]) : 0;

	for (size_t i = 0; i < punits->count && title; i++) {
		const struct lx_range *range = &punits->ranges[i];

		size += sprintf(title + size, "%s%u", i ? "," : "", range->first);
		if (range->last > range->first)
			size += sprintf(title + size, "-%u", range->last);
	}
	if (title)
		strcpy(title + size, ")]");
	else
		parser->rules->no_memory = true;
	return title;
}

/* [REMOVE Python.thread(*)]: what was added since such a line stood last. */
static bool remove_all_punits(struct lx_own_rules *rules, uint32_t domain, int kind)
{
	bool found = false;

	for (size_t i = rules->swept[domain][kind]; i < rules->rules.section_count; i++) {
		struct lx_section *section = rules->rules.sections[i];

		if (section->kind != LX_SECTION_PUNIT || section->domain != domain || !section->punits[kind].said ||
		    section->removed)
			continue;
		section->removed = found = true;
	}
	rules->swept[domain][kind] = (uint32_t)rules->rules.section_count;
	return found;
}

/* [REMOVE Python.thread(0-1)] */
static bool remove_punits(struct lx_parser *parser, uint32_t domain, int kind, struct lx_piece set)
{
	struct lx_punits punits = {.said = false};

	if (!lx_parse_punits(parser, set, &punits))
		return false;
	char *title = punit_title(parser, domain, kind, &punits);
	struct lx_section *section = title ? lx_section_known(parser->rules, title) : NULL;

	free(title);
	if (section)
		section->removed = true;
	return section != NULL;
}

/* [Python.thread(0-1)] */
static bool punit_target(struct lx_parser *parser, const struct lx_header *header)
{
	struct lx_piece name, kind_name, set;
	struct lx_punits punits = {.said = false};

	lx_split_punits(header->target, &name, &kind_name, &set);
	int domain = lx_domain_of(name.text, name.size);

	if (domain < 0)
		return lx_unknown_domain(parser, name);
	int kind = lx_punit_kind((uint32_t)domain, kind_name);

	if (kind < 0)
		return lx_unknown_kind(parser, (uint32_t)domain, kind_name);
	if (header->action == LX_HEADER_REMOVE) {
		size_t errors = parser->rules->rules.errors;
		bool found = lx_set_is_everything(set) ? remove_all_punits(parser->rules, (uint32_t)domain, kind)
						: remove_punits(parser, (uint32_t)domain, kind, set);

		if (parser->rules->rules.errors != errors)
			return false;
		parser->place = LX_IN_REMOVED;
		if (!found)
			lx_warn(parser, header->target, "there is no such section above");
		return true;
	}
	if (header->action == LX_HEADER_RESET) {
		lx_complain(parser, header->target, "only default sections are reset; this one is removed: [REMOVE %.*s]",
			    (int)(header->target.size < 60 ? header->target.size : 60), header->target.text);
		return false;
	}
	if (header->limited) {
		lx_complain(parser, header->punit_text, "this section takes no such set here");
		return false;
	}
	if (!inherits_right(parser, header, LX_SECTION_PUNIT, (uint32_t)domain) ||
	    !lx_parse_punits(parser, set, &punits))
		return false;
	char *title = punit_title(parser, (uint32_t)domain, kind, &punits);
	struct lx_section *section =
		title ? lx_section_get(parser, LX_SECTION_PUNIT, (uint32_t)domain, title) : NULL;

	free(title);
	if (section && !section->punits[kind].said) {
		section->punits[kind] = punits;
		section->punit_text = lx_rules_text(parser->rules, header->target.text, header->target.size);
	}
	return section && add_target(parser, section);
}

/* ---- Named lexgions ---- */

/* One name of the list: its domain, and the rest. */
static bool split_name(struct lx_parser *parser, struct lx_piece item, uint32_t *domain, struct lx_piece *name)
{
	bool quoted = item.size > 1 && *item.text == '"' && item.text[item.size - 1] == '"';
	struct lx_piece whole = quoted ? (struct lx_piece){item.text + 1, item.size - 2} : item;
	const char *colon = memchr(whole.text, ':', whole.size);

	if (whole.size > 2 && whole.text[0] == '0' && (whole.text[1] == 'x' || whole.text[1] == 'X')) {
		*domain = LX_DOMAIN_OPENMP;
		*name = whole;
		return true;
	}
	if (!colon) {
		lx_complain(parser, item, "a name begins with its domain: Python:%.*s",
			    (int)(item.size < 60 ? item.size : 60), item.text);
		return false;
	}
	struct lx_piece prefix = lx_piece_trim((struct lx_piece){whole.text, (size_t)(colon - whole.text)});
	int number = lx_domain_of(prefix.text, prefix.size);

	if (number < 0)
		return lx_unknown_domain(parser, prefix);
	*domain = (uint32_t)number;
	*name = lx_piece_trim((struct lx_piece){colon + 1, whole.size - (size_t)(colon - whole.text) - 1});
	if (name->size > 1 && *name->text == '"' && name->text[name->size - 1] == '"')
		*name = (struct lx_piece){name->text + 1, name->size - 2};
	return true;
}

/* Nothing above is said once a line: when all of its names are known to be right. */
static bool remove_named(struct lx_parser *parser, const char *title, struct lx_piece item, const struct lx_header *header)
{
	struct lx_section *section = lx_section_known(parser->rules, title);

	parser->place = LX_IN_REMOVED;
	if (section && (!header->limited || same_sets(section, header)))
		section->removed = true;
	else if (!parser->missing.text)
		parser->missing = item;
	return true;
}

static bool name_target(struct lx_parser *parser, struct lx_piece item, const struct lx_header *header)
{
	char message[256];
	uint32_t domain = 0;
	struct lx_piece name = {NULL, 0};

	if (!split_name(parser, item, &domain, &name))
		return false;
	if (header->limited && header->punit_domain != domain) {
		lx_complain(parser, header->punit_text, "the set is of another domain than the name");
		return false;
	}
	if (!inherits_right(parser, header, LX_SECTION_NAMED, domain))
		return false;
	char *title = malloc(name.size + 64);

	if (!title) {
		parser->rules->no_memory = true;
		return false;
	}
	sprintf(title, "[Lexgion(%s:%.*s)]", lx_domain_info(domain)->name, (int)name.size, name.text);
	bool right = true;

	if (header->action == LX_HEADER_REMOVE) {
		right = remove_named(parser, title, item, header);
		goto end;
	}
	struct lx_section *section = lx_section_get(parser, LX_SECTION_NAMED, domain, title);

	right = section != NULL;
	if (right && !section->pattern) {
		section->name = lx_rules_text(parser->rules, name.text, name.size);
		section->pattern = lx_pattern_make(parser->rules, domain, name.text, name.size, message, sizeof(message));
		if (!section->pattern) {
			lx_complain(parser, item, "%s", message);
			section->removed = true;
			right = false;
			goto end;
		}
		section->strength = lx_pattern_strength(section->pattern);
	}
	if (!right)
		goto end;
	if (header->limited) {
		memcpy(section->punits, header->punits, sizeof(section->punits));
		section->punit_text = lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size);
	}
	section->from_default |= header->from_default;
	section->from_all |= header->inherited.text && header->inherited_domain < 0;
	right = add_target(parser, section);
end:
	free(title);
	return right;
}

/* [Lexgion(…)] */
static bool lexgion_target(struct lx_parser *parser, const struct lx_header *header)
{
	const size_t prefix = strlen("Lexgion(");
	struct lx_piece inner = {header->target.text + prefix, header->target.size - prefix};
	size_t close = lx_header_end_of(inner, 0, ")", true);
	struct lx_piece rest = {inner.text + close, inner.size - close};

	if (close == inner.size) {
		lx_complain(parser, header->target, "the bracket of Lexgion( is not closed");
		return false;
	}
	inner.size = close;
	rest = lx_piece_trim((struct lx_piece){rest.text + 1, rest.size - 1});
	if (rest.size > 0 && lx_piece_is(rest, ".default")) {
		struct lx_piece name = lx_piece_trim(inner);
		int domain = lx_domain_of(name.text, name.size);

		return domain < 0 ? lx_unknown_domain(parser, name)
				  : default_target(parser, parser->rules->lexgion_domains[domain], header);
	}
	if (rest.size > 0) {
		lx_complain(parser, rest, "'%.*s' does not belong here", (int)(rest.size < 60 ? rest.size : 60), rest.text);
		return false;
	}
	if (header->action == LX_HEADER_RESET) {
		lx_complain(parser, header->target, "only default sections are reset; this one is removed");
		return false;
	}
	parser->group = parser->rules->groups++;
	parser->missing = (struct lx_piece){NULL, 0};
	size_t errors = parser->rules->rules.errors;
	bool right = false;

	for (size_t at = 0; at <= inner.size;) {
		size_t end = lx_header_end_of(inner, at, ",", true);
		struct lx_piece item = lx_piece_trim((struct lx_piece){inner.text + at, end - at});

		if (item.size == 0)
			lx_complain(parser, item, "a name is missing");
		else
			right |= name_target(parser, item, header);
		at = end + 1;
	}
	if (parser->missing.text && parser->rules->rules.errors == errors)
		lx_warn(parser, parser->missing, "there is no such section above");
	return right;
}

bool lx_header_target(struct lx_parser *parser, const struct lx_header *header)
{
	struct lx_piece target = header->target;
	struct lx_piece name, kind, set;

	if (lx_piece_is(target, "Knob")) {
		bool right = header->action == LX_HEADER_SET && !header->limited && !header->inherited.text;

		if (!right)
			lx_complain(parser, target, "knobs are only set: [Knob]");
		parser->place = right ? LX_IN_KNOBS : LX_IN_BAD_SECTION;
		return right;
	}
	if (lx_piece_is(target, "Lexgion.default"))
		return default_target(parser, parser->rules->lexgion, header);
	if (target.size > 8 && strncasecmp(target.text, "Lexgion(", 8) == 0)
		return lexgion_target(parser, header);
	if (target.size > 8 && lx_piece_is((struct lx_piece){target.text + target.size - 8, 8}, ".default")) {
		struct lx_piece prefix = {target.text, target.size - 8};
		int domain = lx_domain_of(prefix.text, prefix.size);

		return domain < 0 ? lx_unknown_domain(parser, prefix)
				  : default_target(parser, parser->rules->domains[domain], header);
	}
	if (lx_split_punits(target, &name, &kind, &set))
		return punit_target(parser, header);
	static const char *const forms[] = {"Python.default", "Lexgion.default", "Lexgion(Python).default", "Knob",
					    "OpenMP.default", "User.default",	 "MPI.default"};
	const char *near = lx_near_word(target, forms, sizeof(forms) / sizeof(*forms));

	lx_complain(parser, target, "unknown section '%.*s'%s%s%s", (int)(target.size < 60 ? target.size : 60), target.text,
		    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	return false;
}
