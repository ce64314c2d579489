/* "[ACTION target] : inherited : punit set" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decide/config_header.h"

/* ---- Where things end ---- */

size_t lx_header_end_of(struct lx_piece text, size_t at, const char *ends, bool names)
{
	char before = names ? '(' : ' ';
	bool closed = true;

	for (; at < text.size; at++) {
		char c = text.text[at];

		if (strchr(ends, c))
			return at;
		if (c == '"' || (c == '/' && names && strchr(":,(", before))) {
			for (at++; at < text.size && text.text[at] != c; at++)
				if (c == '/' && text.text[at] == '\\')
					at++;
		} else if (c == '[' && names) {
			const char *close = closed ? memchr(text.text + at, ']', text.size - at) : NULL;

			closed = close != NULL; /* else none of the next is, either */
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
	size_t bracket = lx_header_end_of(line, 1, "](", false);

	if (bracket == line.size || line.text[bracket] == ']')
		return bracket;
	size_t close = lx_header_end_of(line, bracket + 1, ")", true);

	return close == line.size ? line.size : lx_header_end_of(line, close, "]", false);
}

/* ---- What stands behind the brackets ---- */

int lx_punit_kind(uint32_t domain, struct lx_piece name)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	for (int kind = 0; info->punits[kind]; kind++)
		if (lx_piece_is(name, info->punits[kind]))
			return kind;
	return -1;
}

bool lx_split_punits(struct lx_piece text, struct lx_piece *domain, struct lx_piece *kind, struct lx_piece *set)
{
	const char *dot = memchr(text.text, '.', text.size), *open = memchr(text.text, '(', text.size);

	if (!dot || !open || dot > open)
		return false;
	*domain = lx_piece_trim((struct lx_piece){text.text, (size_t)(dot - text.text)});
	*kind = lx_piece_trim((struct lx_piece){dot + 1, (size_t)(open - dot) - 1});
	*set = lx_piece_trim((struct lx_piece){open, (size_t)(text.text + text.size - open)});
	return true;
}

bool lx_set_is_everything(struct lx_piece set)
{
	return set.size > 2 && *set.text == '(' && set.text[set.size - 1] == ')' &&
	       lx_piece_is(lx_piece_trim((struct lx_piece){set.text + 1, set.size - 2}), "*");
}

bool lx_unknown_domain(struct lx_parser *parser, struct lx_piece name)
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

bool lx_unknown_kind(struct lx_parser *parser, uint32_t domain, struct lx_piece name)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	lx_complain(parser, name, "%s has no '%.*s' (%s%s%s%s%s)", info->name, (int)(name.size < 60 ? name.size : 60), name.text,
		    info->punits[0], info->punits[1] ? " " : "", info->punits[1] ? info->punits[1] : "",
		    info->punits[1] && info->punits[2] ? " " : "", info->punits[1] && info->punits[2] ? info->punits[2] : "");
	return false;
}

static bool parse_limit(struct lx_parser *parser, struct lx_piece part, struct lx_header *header)
{
	struct lx_piece name, kind_name, set;

	if (!lx_split_punits(part, &name, &kind_name, &set)) {
		lx_complain(parser, part, "'%.*s' is neither a section to take from nor a set like Python.thread(0-3)",
			    (int)(part.size < 60 ? part.size : 60), part.text);
		return false;
	}
	int domain = lx_domain_of(name.text, name.size);

	if (domain < 0)
		return lx_unknown_domain(parser, name);
	int kind = lx_punit_kind((uint32_t)domain, kind_name);

	if (kind < 0)
		return lx_unknown_kind(parser, (uint32_t)domain, kind_name);
	if (header->limited && header->punit_domain != (uint32_t)domain) {
		lx_complain(parser, part, "sets of two domains");
		return false;
	}
	if (header->action == LX_HEADER_REMOVE && lx_set_is_everything(set))
		return true;
	header->limited = true;
	header->punit_domain = (uint32_t)domain;
	header->punit_text = header->punit_text.text
				     ? (struct lx_piece){header->punit_text.text,
							 (size_t)(part.text + part.size - header->punit_text.text)}
				     : part;
	return lx_parse_punits(parser, set, &header->punits[kind]);
}

/* "Python.default", "Lexgion(Python).default", "Lexgion.default" */
static bool parse_inherited(struct lx_parser *parser, struct lx_piece part, struct lx_header *header)
{
	static const char lexgion[] = "Lexgion(";
	struct lx_piece name = {part.text, part.size - strlen(".default")};

	header->inherited = part;
	header->inherited_domain = -1;
	if (lx_piece_is(name, "Lexgion"))
		return true;
	if (name.size > sizeof(lexgion) && strncasecmp(name.text, lexgion, sizeof(lexgion) - 1) == 0 &&
	    name.text[name.size - 1] == ')') {
		name = lx_piece_trim((struct lx_piece){name.text + sizeof(lexgion) - 1, name.size - sizeof(lexgion)});
		header->from_default = true;
	}
	header->inherited_domain = lx_domain_of(name.text, name.size);
	return header->inherited_domain >= 0 || lx_unknown_domain(parser, name);
}

/* The size of the first part: up to a blank or colon outside of brackets, before which a blank may stand. */
static size_t tail_part(struct lx_piece tail)
{
	size_t size = 0, depth = 0;

	for (; size < tail.size; size++) {
		char c = tail.text[size];

		if (depth == 0 && (c == ' ' || c == '\t')) {
			size_t next = size;

			while (next < tail.size && (tail.text[next] == ' ' || tail.text[next] == '\t'))
				next++;
			if (next == tail.size || tail.text[next] != '(')
				break;
			size = next - 1;
		} else if (depth == 0 && c == ':') {
			break;
		}
		depth += c == '(';
		if (depth > 0 && c == ')')
			depth--;
	}
	return size;
}

static bool parse_tail(struct lx_parser *parser, struct lx_piece tail, struct lx_header *header)
{
	while (tail.size > 0) {
		while (tail.size > 0 && (*tail.text == ':' || *tail.text == ' ' || *tail.text == '\t'))
			tail.text++, tail.size--;
		size_t size = tail_part(tail);
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

static struct lx_piece take_action(struct lx_piece target, enum lx_header_action *action)
{
	static const char *const words[] = {"SET", "RESET", "REMOVE"};

	*action = LX_HEADER_SET;
	for (int i = 0; i < 3; i++) {
		size_t size = strlen(words[i]);

		if (target.size <= size || strncasecmp(target.text, words[i], size) != 0 ||
		    (target.text[size] != ' ' && target.text[size] != '\t'))
			continue;
		*action = (enum lx_header_action)i;
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
	struct lx_header header = {.limited = false};
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
	if (lx_header_target(parser, &header) && parser->place == LX_IN_BAD_SECTION)
		parser->place = LX_IN_SECTION;
}
