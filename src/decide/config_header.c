/* "[ACTION target] : inherited : punit set" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decide/config.h"

enum action { SET, RESET, REMOVE };

struct header {
	enum action action;
	struct lx_piece target;      /* between the brackets, without the action */
	struct lx_piece punit_text;  /* "Python.thread(0-1)", behind the brackets */
	uint32_t punit_domain;
	struct lx_punits punits[LX_PUNIT_KINDS_MAX];
	bool limited, from_default;
};

/* ---- Where things end ---- */

/*
 * From `at` to the first of `ends` that is outside quotes, expressions and brackets of a wildcard; the size if there is
 * none. An expression begins where a name does: behind ':', ',' or '('.
 */
static size_t end_of(struct lx_piece text, size_t at, const char *ends, bool names)
{
	char before = names ? '(' : ' ';

	for (; at < text.size; at++) {
		char c = text.text[at];

		if (strchr(ends, c) && c)
			return at;
		if (c == '"' || (c == '/' && names && strchr(":,(", before))) {
			for (at++; at < text.size && text.text[at] != c; at++)
				if (c == '/' && text.text[at] == '\\')
					at++;
		} else if (c == '[' && names) {
			const char *close = memchr(text.text + at, ']', text.size - at);

			if (close)
				at = (size_t)(close - text.text);
		}
		if (c != ' ' && c != '\t')
			before = c;
	}
	return text.size;
}

/* The ']' that ends the header; the size if there is none. */
static size_t header_end(struct lx_piece line)
{
	size_t bracket = end_of(line, 1, "](", false);

	if (bracket == line.size || line.text[bracket] == ']')
		return bracket;
	size_t close = end_of(line, bracket + 1, ")", true);

	return close == line.size ? line.size : end_of(line, close, "]", false);
}

/* ---- What stands behind the brackets ---- */

/* A kind of punit: "thread" of "Python.thread". -1: none of that name. */
static int kind_of(uint32_t domain, struct lx_piece name)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	for (int kind = 0; info->punits[kind]; kind++)
		if (lx_piece_is(name, info->punits[kind]))
			return kind;
	return -1;
}

/* "Domain.kind(set)", in parts. False: it is none, and nothing was said. */
static bool split_punits(struct lx_piece text, struct lx_piece *domain, struct lx_piece *kind, struct lx_piece *set)
{
	const char *dot = memchr(text.text, '.', text.size), *open = memchr(text.text, '(', text.size);

	if (!dot || !open || dot > open)
		return false;
	*domain = lx_piece_trim((struct lx_piece){text.text, (size_t)(dot - text.text)});
	*kind = lx_piece_trim((struct lx_piece){dot + 1, (size_t)(open - dot) - 1});
	*set = lx_piece_trim((struct lx_piece){open, (size_t)(text.text + text.size - open)});
	return true;
}

static bool unknown_domain(struct lx_parser *parser, struct lx_piece name)
{
	static const char *const names[] = {"Python", "User", "IO", "OpenMP", "MPI", "CUDA", "Lexgion", "Knob"};
	const char *near = lx_near_word(name, names, sizeof(names) / sizeof(*names));

	if (near)
		lx_complain(parser, name, "unknown domain '%.*s' (did you mean '%s'?)", (int)(name.size < 60 ? name.size : 60),
			    name.text, near);
	else
		lx_complain(parser, name, "unknown domain '%.*s' (Python User IO OpenMP MPI CUDA)",
			    (int)(name.size < 60 ? name.size : 60), name.text);
	return false;
}

static bool unknown_kind(struct lx_parser *parser, uint32_t domain, struct lx_piece name)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	lx_complain(parser, name, "%s has no '%.*s' (%s%s%s%s%s)", info->name, (int)(name.size < 60 ? name.size : 60), name.text,
		    info->punits[0], info->punits[1] ? " " : "", info->punits[1] ? info->punits[1] : "",
		    info->punits[1] && info->punits[2] ? " " : "", info->punits[1] && info->punits[2] ? info->punits[2] : "");
	return false;
}

static bool parse_limit(struct lx_parser *parser, struct lx_piece part, struct header *header)
{
	struct lx_piece name, kind_name, set;

	if (!split_punits(part, &name, &kind_name, &set)) {
		lx_complain(parser, part, "'%.*s' is neither a section to take from nor a set like Python.thread(0-3)",
			    (int)(part.size < 60 ? part.size : 60), part.text);
		return false;
	}
	int domain = lx_domain_of(name.text, name.size);

	if (domain < 0)
		return unknown_domain(parser, name);
	int kind = kind_of((uint32_t)domain, kind_name);

	if (kind < 0)
		return unknown_kind(parser, (uint32_t)domain, kind_name);
	if (header->limited && header->punit_domain != (uint32_t)domain) {
		lx_complain(parser, part, "sets of two domains");
		return false;
	}
	header->limited = true;
	header->punit_domain = (uint32_t)domain;
	header->punit_text = header->punit_text.text
				     ? (struct lx_piece){header->punit_text.text,
							 (size_t)(part.text + part.size - header->punit_text.text)}
				     : part;
	return lx_parse_punits(parser, set, &header->punits[kind]);
}

/* "Python.default", "Lexgion(Python).default", "Lexgion.default" */
static bool parse_inherited(struct lx_parser *parser, struct lx_piece part, struct header *header)
{
	static const char lexgion[] = "Lexgion(";
	struct lx_piece name = {part.text, part.size - strlen(".default")};

	if (lx_piece_is(name, "Lexgion"))
		return true;
	if (name.size > sizeof(lexgion) && strncasecmp(name.text, lexgion, sizeof(lexgion) - 1) == 0 &&
	    name.text[name.size - 1] == ')') {
		name = lx_piece_trim((struct lx_piece){name.text + sizeof(lexgion) - 1, name.size - sizeof(lexgion)});
		header->from_default = true;
	}
	return lx_domain_of(name.text, name.size) >= 0 || unknown_domain(parser, name);
}

static bool parse_tail(struct lx_parser *parser, struct lx_piece tail, struct header *header)
{
	while (tail.size > 0) {
		while (tail.size > 0 && (*tail.text == ':' || *tail.text == ' ' || *tail.text == '\t'))
			tail.text++, tail.size--;
		size_t size = 0, depth = 0;

		for (; size < tail.size; size++) {
			char c = tail.text[size];

			depth += c == '(';
			if (depth == 0 && (c == ':' || c == ' ' || c == '\t'))
				break;
			if (depth > 0 && c == ')')
				depth--;
		}
		struct lx_piece part = {tail.text, size};

		tail.text += size;
		tail.size -= size;
		if (part.size == 0)
			continue;
		bool inherited = part.size > 8 &&
				 lx_piece_is((struct lx_piece){part.text + part.size - 8, 8}, ".default");

		if (!(inherited ? parse_inherited(parser, part, header) : parse_limit(parser, part, header)))
			return false;
	}
	return true;
}

/* ---- Targets ---- */

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

static bool same_sets(const struct lx_section *section, const struct header *header)
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
static bool default_target(struct lx_parser *parser, struct lx_section *section, const struct header *header)
{
	if (header->action == REMOVE) {
		lx_complain(parser, header->target, "a default section is not removed but reset: [RESET %.*s]",
			    (int)(header->target.size < 60 ? header->target.size : 60), header->target.text);
		return false;
	}
	if (header->limited && (section->kind != LX_SECTION_LEXGION_DOMAIN || header->punit_domain != section->domain)) {
		lx_complain(parser, header->punit_text, "this section takes no such set here");
		return false;
	}
	if (header->action == RESET)
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
			  const struct header *header)
{
	struct lx_own_rules *rules = parser->rules;
	struct header wanted = {.action = REMOVE};
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
static bool punit_target(struct lx_parser *parser, const struct header *header)
{
	struct lx_piece name, kind_name, set;
	struct lx_punits punits = {.said = false};
	char title[256];

	split_punits(header->target, &name, &kind_name, &set);
	int domain = lx_domain_of(name.text, name.size);

	if (domain < 0)
		return unknown_domain(parser, name);
	int kind = kind_of((uint32_t)domain, kind_name);

	if (kind < 0)
		return unknown_kind(parser, (uint32_t)domain, kind_name);
	if (header->action == REMOVE) {
		parser->place = LX_IN_REMOVED;
		return remove_punits(parser, (uint32_t)domain, kind, set, header);
	}
	if (header->action == RESET) {
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
		return unknown_domain(parser, prefix);
	*domain = (uint32_t)number;
	*name = lx_piece_trim((struct lx_piece){colon + 1, whole.size - (size_t)(colon - whole.text) - 1});
	if (name->size > 1 && *name->text == '"' && name->text[name->size - 1] == '"')
		*name = (struct lx_piece){name->text + 1, name->size - 2};
	return true;
}

static bool remove_named(struct lx_parser *parser, const char *title, struct lx_piece item, const struct header *header)
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

static bool name_target(struct lx_parser *parser, struct lx_piece item, const struct header *header)
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

	if (header->action == REMOVE) {
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
static bool lexgion_target(struct lx_parser *parser, const struct header *header)
{
	const size_t prefix = strlen("Lexgion(");
	struct lx_piece inner = {header->target.text + prefix, header->target.size - prefix};
	size_t close = end_of(inner, 0, ")", true);
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

		return domain < 0 ? unknown_domain(parser, name)
				  : default_target(parser, parser->rules->lexgion_domains[domain], header);
	}
	if (rest.size > 0) {
		lx_complain(parser, rest, "'%.*s' does not belong here", (int)(rest.size < 60 ? rest.size : 60), rest.text);
		return false;
	}
	if (header->action == RESET) {
		lx_complain(parser, header->target, "only default sections are reset; this one is removed");
		return false;
	}
	parser->group = parser->rules->groups++;
	bool right = false;

	for (size_t at = 0; at <= inner.size;) {
		size_t end = end_of(inner, at, ",", true);
		struct lx_piece item = lx_piece_trim((struct lx_piece){inner.text + at, end - at});

		if (item.size == 0)
			lx_complain(parser, item, "a name is missing");
		else
			right |= name_target(parser, item, header);
		at = end + 1;
	}
	return right;
}

static bool find_target(struct lx_parser *parser, const struct header *header)
{
	struct lx_piece target = header->target;
	struct lx_piece name, kind, set;

	if (lx_piece_is(target, "Knob")) {
		if (header->action != SET)
			lx_complain(parser, target, "knobs are only set");
		parser->place = header->action == SET ? LX_IN_KNOBS : LX_IN_BAD_SECTION;
		return header->action == SET;
	}
	if (lx_piece_is(target, "Lexgion.default"))
		return default_target(parser, parser->rules->lexgion, header);
	if (target.size > 8 && strncasecmp(target.text, "Lexgion(", 8) == 0)
		return lexgion_target(parser, header);
	if (target.size > 8 && lx_piece_is((struct lx_piece){target.text + target.size - 8, 8}, ".default")) {
		struct lx_piece prefix = {target.text, target.size - 8};
		int domain = lx_domain_of(prefix.text, prefix.size);

		return domain < 0 ? unknown_domain(parser, prefix)
				  : default_target(parser, parser->rules->domains[domain], header);
	}
	if (split_punits(target, &name, &kind, &set))
		return punit_target(parser, header);
	static const char *const forms[] = {"Python.default", "Lexgion.default", "Lexgion(Python).default", "Knob",
					    "OpenMP.default", "User.default",	 "MPI.default"};
	const char *near = lx_near_word(target, forms, sizeof(forms) / sizeof(*forms));

	lx_complain(parser, target, "unknown section '%.*s'%s%s%s", (int)(target.size < 60 ? target.size : 60), target.text,
		    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	return false;
}

static struct lx_piece take_action(struct lx_piece target, enum action *action)
{
	static const char *const words[] = {"SET", "RESET", "REMOVE"};

	*action = SET;
	for (int i = 0; i < 3; i++) {
		size_t size = strlen(words[i]);

		if (target.size <= size || strncasecmp(target.text, words[i], size) != 0 ||
		    (target.text[size] != ' ' && target.text[size] != '\t'))
			continue;
		*action = (enum action)i;
		return lx_piece_trim((struct lx_piece){target.text + size, target.size - size});
	}
	return target;
}

/* The part of the line behind the brackets, up to a comment. */
static struct lx_piece tail_of(struct lx_piece line, size_t at)
{
	struct lx_piece tail = {line.text + at, line.size - at};
	bool blank = false;

	for (size_t i = 0; i < tail.size; i++) {
		if (blank && (tail.text[i] == '#' || tail.text[i] == ';'))
			tail.size = i;
		else
			blank = tail.text[i] == ' ' || tail.text[i] == '\t';
	}
	return lx_piece_trim(tail);
}

void lx_parse_header(struct lx_parser *parser, struct lx_piece line)
{
	struct header header = {.limited = false};
	size_t end = header_end(line);

	parser->place = LX_IN_BAD_SECTION;
	parser->target_count = 0;
	if (end == line.size) {
		lx_complain(parser, (struct lx_piece){line.text, 1}, "the section's ']' is missing");
		return;
	}
	header.target = take_action(lx_piece_trim((struct lx_piece){line.text + 1, end - 1}), &header.action);
	if (header.target.size == 0) {
		lx_complain(parser, (struct lx_piece){line.text, end + 1}, "the section has no name");
		return;
	}
	if (!parse_tail(parser, tail_of(line, end + 1), &header))
		return;
	if (header.target.size < 8 || strncasecmp(header.target.text, "Lexgion(", 8) != 0)
		parser->group = parser->rules->groups++;
	if (find_target(parser, &header) && parser->place == LX_IN_BAD_SECTION)
		parser->place = LX_IN_SECTION;
}
