/* "[Lexgion(Python:run, Python:solver.py:*)]": the names of a header, all of them or none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/config_header.h"

struct name {
	uint32_t domain;
	struct lx_piece text;  /* without the domain */
	char address[24];      /* what `text` leads to for "0x4010BD" */
};

static bool is_hexadecimal(struct lx_piece text)
{
	return text.size > 2 && text.text[0] == '0' && (text.text[1] == 'x' || text.text[1] == 'X');
}

/* Addresses are the same however they are written. */
static bool take_address(struct lx_parser *parser, struct lx_piece item, struct name *name)
{
	unsigned long long value = 0;
	struct lx_piece digits = {name->text.text + 2, name->text.size - 2};
	bool right = true;

	for (size_t i = 0; i < digits.size && right; i++) {
		const char *sign = memchr("0123456789abcdefABCDEF", digits.text[i], 22);

		right = sign && value >> 60 == 0;
		if (right)
			value = value << 4 | (unsigned)(*sign <= '9' ? *sign - '0' : (*sign | 0x20) - 'a' + 10);
	}
	if (!right) {
		lx_complain(parser, item, "'%.*s' is no address", (int)(name->text.size < 60 ? name->text.size : 60),
			    name->text.text);
		return false;
	}
	name->text.size = (size_t)snprintf(name->address, sizeof(name->address), "0x%llx", value);
	name->text.text = name->address;
	return true;
}

static struct lx_piece without_quotes(struct lx_piece text)
{
	return text.size > 1 && *text.text == '"' && text.text[text.size - 1] == '"'
		       ? (struct lx_piece){text.text + 1, text.size - 2}
		       : text;
}

/* A name without a domain, and what was perhaps meant. */
static bool no_domain(struct lx_parser *parser, struct lx_piece item)
{
	const char *dot = memchr(item.text, '.', item.size);
	size_t size = dot && lx_piece_is((struct lx_piece){dot, item.size - (size_t)(dot - item.text)}, ".default")
			      ? (size_t)(dot - item.text)
			      : item.size;
	int domain = lx_domain_of(item.text, size);

	if (domain >= 0)
		lx_complain(parser, item, "a name begins with its domain (did you mean '[Lexgion(%s).default]'?)",
			    lx_domain_info((uint32_t)domain)->name);
	else
		lx_complain(parser, item, "a name begins with its domain: Python:%.*s",
			    (int)(item.size < 60 ? item.size : 60), item.text);
	return false;
}

/* One name of the list. */
static bool split_name(struct lx_parser *parser, struct lx_piece item, struct name *name)
{
	struct lx_piece whole = without_quotes(item);
	const char *colon = memchr(whole.text, ':', whole.size);

	name->domain = LX_DOMAIN_OPENMP;
	name->text = whole;
	if (is_hexadecimal(whole) && !colon)
		return take_address(parser, item, name);
	if (!colon)
		return no_domain(parser, item);
	struct lx_piece prefix = lx_piece_trim((struct lx_piece){whole.text, (size_t)(colon - whole.text)});
	int domain = lx_domain_of(prefix.text, prefix.size);

	if (domain < 0)
		return lx_unknown_domain(parser, prefix);
	name->domain = (uint32_t)domain;
	name->text = without_quotes(lx_piece_trim((struct lx_piece){colon + 1, whole.size - (size_t)(colon - whole.text) - 1}));
	return domain != LX_DOMAIN_OPENMP || !is_hexadecimal(name->text) || take_address(parser, item, name);
}

/* The section of that name, made if it is new. NULL: after a message, or without memory. */
static struct lx_section *get_section(struct lx_parser *parser, struct lx_piece item, const struct name *name, const char *title)
{
	struct lx_section *section = lx_section_get(parser, LX_SECTION_NAMED, name->domain, title);
	char message[256];

	if (!section || section->pattern)
		return section;
	section->name = lx_rules_text(parser->rules, name->text.text, name->text.size);
	section->pattern = lx_pattern_make(parser->rules, name->domain, name->text.text, name->text.size, message, sizeof(message));
	if (!section->pattern) {
		section->removed = true;
		if (!parser->rules->no_memory)
			lx_complain(parser, item, "%s", message);
		return NULL;
	}
	section->strength = lx_pattern_strength(section->pattern);
	return section;
}

/* Makes the section of one name a target; of one that is removed, where it is there. */
static bool add_name(struct lx_parser *parser, struct lx_piece item, const struct lx_header *header)
{
	struct name name;

	if (!split_name(parser, item, &name))
		return false;
	if (header->limited && header->punit_domain != name.domain) {
		lx_complain(parser, header->punit_text, "the set is of another domain than the name");
		return false;
	}
	if (!lx_inherits_right(parser, header, LX_SECTION_NAMED, name.domain))
		return false;
	char *title = malloc(name.text.size + 64);
	struct lx_section *section = NULL;
	bool right = true;

	if (!title) {
		parser->rules->no_memory = true;
		return false;
	}
	sprintf(title, "[Lexgion(%s:%.*s)]", lx_domain_info(name.domain)->name, (int)name.text.size, name.text.text);
	if (header->action == LX_HEADER_REMOVE) {
		section = lx_section_known(parser->rules, title);
		if (section && header->limited && !lx_same_sets(section, header))
			section = NULL;
		if (!section && !parser->missing.text)
			parser->missing = item;
	} else {
		section = get_section(parser, item, &name, title);
		right = section != NULL;
	}
	free(title);
	return right && (!section || lx_add_target(parser, section));
}

static void remove_targets(struct lx_parser *parser)
{
	for (size_t i = 0; i < parser->target_count; i++)
		parser->targets[i]->removed = true;
	parser->target_count = 0;
	parser->place = LX_IN_REMOVED;
	if (parser->missing.text)
		lx_warn(parser, parser->missing, "there is no such section above");
}

static void set_targets(struct lx_parser *parser, const struct lx_header *header)
{
	const char *text = header->limited ? lx_rules_text(parser->rules, header->punit_text.text, header->punit_text.size) : NULL;

	for (size_t i = 0; i < parser->target_count; i++) {
		struct lx_section *section = parser->targets[i];

		if (header->limited) {
			memcpy(section->punits, header->punits, sizeof(section->punits));
			section->punit_text = text;
		}
		section->from_default |= header->from_default;
		section->from_all |= header->inherited.text && header->inherited_domain < 0;
	}
}

/* A header that is wrong leaves no trace: what it made goes again. */
static bool undo(struct lx_parser *parser, size_t sections)
{
	for (size_t i = 0; i < parser->target_count; i++)
		if (parser->targets[i]->number >= sections)
			parser->targets[i]->removed = true;
	parser->target_count = 0;
	return false;
}

static bool add_names(struct lx_parser *parser, struct lx_piece names, const struct lx_header *header)
{
	size_t sections = parser->rules->rules.section_count;

	if (header->action == LX_HEADER_RESET) {
		lx_complain(parser, header->target, "only default sections are reset; this one is removed");
		return false;
	}
	parser->group = parser->rules->groups++;
	parser->missing = (struct lx_piece){NULL, 0};
	for (size_t at = 0; at <= names.size;) {
		size_t end = lx_header_end_of(names, at, ",", true, NULL);
		struct lx_piece item = lx_piece_trim((struct lx_piece){names.text + at, end - at});

		if (item.size == 0)
			lx_complain(parser, item, "a name is missing");
		if (item.size == 0 || !add_name(parser, item, header))
			return undo(parser, sections);
		at = end + 1;
	}
	if (header->action == LX_HEADER_REMOVE)
		remove_targets(parser);
	else
		set_targets(parser, header);
	return true;
}

bool lx_lexgion_target(struct lx_parser *parser, const struct lx_header *header, struct lx_piece names)
{
	size_t close = lx_header_end_of(names, 0, ")", true, NULL);
	struct lx_piece rest = {names.text + close, names.size - close};

	if (close == names.size) {
		lx_complain(parser, header->target, "the bracket of Lexgion( is not closed");
		return false;
	}
	names.size = close;
	rest = lx_piece_trim((struct lx_piece){rest.text + 1, rest.size - 1});
	if (rest.size == 0)
		return add_names(parser, names, header);
	if (!lx_piece_is(rest, ".default")) {
		lx_complain(parser, rest, "'%.*s' does not belong here", (int)(rest.size < 60 ? rest.size : 60), rest.text);
		return false;
	}
	struct lx_piece name = lx_piece_trim(names);
	int domain = lx_domain_of(name.text, name.size);

	return domain < 0 ? lx_unknown_domain(parser, name)
			  : lx_default_target(parser, parser->rules->lexgion_domains[domain], header);
}
