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
	section->from_default = false;
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

/* Takes a section out of the rules. Its place in the list of all is closed by lx_rules_sweep. */
static void take_away(struct lx_own_rules *rules, struct lx_section *section)
{
	for (size_t i = 0; i < rules->punit_count; i++)
		if (rules->punits[i] == section) {
			memmove(&rules->punits[i], &rules->punits[i + 1], (rules->punit_count - i - 1) * sizeof(section));
			rules->punit_count--;
			break;
		}
	forget_keys(section);
	section->removed = true;
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
	if (header->action == LX_HEADER_RESET)
		forget_keys(section);
	if (header->limited) {
		memcpy(section->punits, header->punits, sizeof(section->punits));
		section->punit_text = lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size);
	}
	return add_target(parser, section);
}

static bool add_punit_section(struct lx_own_rules *rules, struct lx_section *section)
{
	struct lx_section **larger = realloc(rules->punits, (rules->punit_count + 1) * sizeof(*larger));

	if (!larger) {
		rules->no_memory = true;
		return false;
	}
	rules->punits = larger;
	rules->punits[rules->punit_count++] = section;
	return true;
}

/* [REMOVE Python.thread(0-1)], [REMOVE Python.thread(*)] */
static bool remove_punits(struct lx_parser *parser, uint32_t domain, int kind, struct lx_piece set,
			  const struct lx_header *header)
{
	struct lx_own_rules *rules = parser->rules;
	struct lx_header wanted = {.action = LX_HEADER_REMOVE};
	bool all = set.size == 3 && memcmp(set.text, "(*)", 3) == 0, found = false;

	if (!all && !lx_parse_punits(parser, set, &wanted.punits[kind]))
		return false;
	for (size_t i = rules->punit_count; i-- > 0;) {
		struct lx_section *section = rules->punits[i];

		if (section->domain != domain || !section->punits[kind].said || (!all && !same_sets(section, &wanted)))
			continue;
		take_away(rules, section);
		found = true;
	}
	if (!found)
		lx_warn(parser, header->target, "there is no such section above");
	return true;
}

/* [Python.thread(0-1)] */
static bool punit_target(struct lx_parser *parser, const struct lx_header *header)
{
	struct lx_piece name, kind_name, set;
	struct lx_punits punits = {.said = false};
	char title[256];

	lx_split_punits(header->target, &name, &kind_name, &set);
	int domain = lx_domain_of(name.text, name.size);

	if (domain < 0)
		return lx_unknown_domain(parser, name);
	int kind = lx_punit_kind((uint32_t)domain, kind_name);

	if (kind < 0)
		return lx_unknown_kind(parser, (uint32_t)domain, kind_name);
	if (header->action == LX_HEADER_REMOVE) {
		parser->place = LX_IN_REMOVED;
		return remove_punits(parser, (uint32_t)domain, kind, set, header);
	}
	if (header->action == LX_HEADER_RESET) {
		lx_complain(parser, header->target, "only default sections are reset; this one is removed: [REMOVE %.*s]",
			    (int)(header->target.size < 60 ? header->target.size : 60), header->target.text);
		return false;
	}
	if (!lx_parse_punits(parser, set, &punits))
		return false;
	int size = snprintf(title, sizeof(title), "[%s.%s(", lx_domain_info((uint32_t)domain)->name,
			    lx_domain_info((uint32_t)domain)->punits[kind]);

	for (size_t i = 0; i < punits.count && size < 200; i++)
		size += snprintf(title + size, sizeof(title) - (size_t)size, "%s%u-%u", i ? "," : "", punits.ranges[i].first,
				 punits.ranges[i].last);
	/* A long set is told apart by the number of its line. */
	if (size >= 200)
		size += snprintf(title + size, sizeof(title) - (size_t)size, "…%u", parser->line);
	snprintf(title + size, sizeof(title) - (size_t)size, ")]");
	struct lx_section *section = lx_section_get(parser, LX_SECTION_PUNIT, (uint32_t)domain, title);

	if (!section)
		return false;
	if (!section->punits[kind].said) {
		section->punits[kind] = punits;
		section->punit_text = lx_rules_text(parser->rules, header->target.text, header->target.size);
		section->removed = false;
		if (!add_punit_section(parser->rules, section))
			return false;
	}
	return add_target(parser, section);
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

static bool remove_named(struct lx_parser *parser, const char *title, struct lx_piece item, const struct lx_header *header)
{
	struct lx_own_rules *rules = parser->rules;

	parser->place = LX_IN_REMOVED;
	for (size_t i = 0; i < rules->rules.section_count; i++) {
		struct lx_section *section = rules->rules.sections[i];

		if (strcmp(section->title, title) != 0 || section->removed)
			continue;
		if (header->limited && !same_sets(section, header))
			break;
		take_away(rules, section);
		return true;
	}
	lx_warn(parser, item, "there is no such section above");
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
	section->removed = false;
	if (header->limited) {
		memcpy(section->punits, header->punits, sizeof(section->punits));
		section->punit_text = lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size);
	}
	section->from_default |= header->from_default;
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
	return right;
}

bool lx_header_target(struct lx_parser *parser, const struct lx_header *header)
{
	struct lx_piece target = header->target;
	struct lx_piece name, kind, set;

	if (lx_piece_is(target, "Knob")) {
		if (header->action != LX_HEADER_SET)
			lx_complain(parser, target, "knobs are only set");
		parser->place = header->action == LX_HEADER_SET ? LX_IN_KNOBS : LX_IN_BAD_SECTION;
		return header->action == LX_HEADER_SET;
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
