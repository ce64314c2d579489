/* The section that a header is about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/config_header.h"

bool lx_add_target(struct lx_parser *parser, struct lx_section *section)
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

bool lx_same_sets(const struct lx_section *section, const struct lx_header *header)
{
	for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
		if (!same_set(&section->punits[kind], &header->punits[kind]))
			return false;
	return true;
}

bool lx_inherits_right(struct lx_parser *parser, const struct lx_header *header, enum lx_section_kind kind, uint32_t domain)
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

bool lx_default_target(struct lx_parser *parser, struct lx_section *section, const struct lx_header *header)
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
	if (!lx_inherits_right(parser, header, section->kind, section->domain))
		return false;
	if (header->action == LX_HEADER_RESET)
		forget_keys(section);
	if (header->limited) {
		memcpy(section->punits, header->punits, sizeof(section->punits));
		section->punit_text = lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size);
	}
	return lx_add_target(parser, section);
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
	if (!lx_inherits_right(parser, header, LX_SECTION_PUNIT, (uint32_t)domain) ||
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
	return section && lx_add_target(parser, section);
}

static void unknown_section(struct lx_parser *parser, struct lx_piece target)
{
	static const char *const forms[] = {"Python.default", "User.default", "IO.default", "OpenMP.default", "MPI.default",
					    "CUDA.default", "Lexgion.default", "Lexgion(Python).default", "Knob"};
	int domain = lx_domain_of(target.text, target.size);
	const char *near = domain >= 0 ? forms[domain] : lx_near_word(target, forms, sizeof(forms) / sizeof(*forms));

	lx_complain(parser, target, "unknown section '%.*s'%s%s%s", (int)(target.size < 60 ? target.size : 60), target.text,
		    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

bool lx_header_target(struct lx_parser *parser, const struct lx_header *header)
{
	struct lx_piece target = header->target;
	struct lx_piece names, name, kind, set;

	if (lx_piece_is(target, "Knob")) {
		bool right = header->action == LX_HEADER_SET && !header->limited && !header->inherited.text;

		if (!right)
			lx_complain(parser, target, "knobs are only set: [Knob]");
		parser->place = right ? LX_IN_KNOBS : LX_IN_BAD_SECTION;
		return right;
	}
	if (lx_piece_is(target, "Lexgion.default"))
		return lx_default_target(parser, parser->rules->lexgion, header);
	if (lx_names_of(target, &names))
		return lx_lexgion_target(parser, header, names);
	if (target.size > 8 && lx_piece_is((struct lx_piece){target.text + target.size - 8, 8}, ".default")) {
		struct lx_piece prefix = {target.text, target.size - 8};
		int domain = lx_domain_of(prefix.text, prefix.size);

		return domain < 0 ? lx_unknown_domain(parser, prefix)
				  : lx_default_target(parser, parser->rules->domains[domain], header);
	}
	if (lx_split_punits(target, &name, &kind, &set))
		return punit_target(parser, header);
	unknown_section(parser, target);
	return false;
}
