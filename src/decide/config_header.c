/* "[ACTION target] : inherited : punit set" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/config_header.h"

/* ---- Where things end ---- */

/* The byte that closes what begins at `at`; the size if none does. */
static size_t close_of(struct lx_piece text, size_t at)
{
	char c = text.text[at];

	for (at++; at < text.size && text.text[at] != c; at++)
		if (c == '/' && text.text[at] == '\\')
			at++;
	return at < text.size ? at : text.size;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t lx_header_end_of(struct lx_piece text, size_t at, const char *ends, bool names, const char **open)
{
	char before = names ? '(' : ' ';
	bool closed = true;

	for (; at < text.size; at++) {
		char c = text.text[at];

		if (strchr(ends, c))
			return at;
		if ((c == '#' || c == ';') && at > 0 && is_blank(text.text[at - 1]))
			return text.size;
		if (c == '"' || (c == '/' && names && strchr(":,(", before))) {
			size_t close = close_of(text, at);

			if (close == text.size && open)
				*open = text.text + at;
			at = close;
		} else if (c == '[' && names) {
			const char *close = closed ? memchr(text.text + at, ']', text.size - at) : NULL;

			closed = close != NULL; /* else none of the next is, either */
			if (close)
				at = (size_t)(close - text.text);
		}
		if (!is_blank(c))
			before = c;
	}
	return text.size;
}

/* The ']' that ends the header; the size if there is none. */
static size_t header_end(struct lx_piece line, const char **open)
{
	size_t bracket = lx_header_end_of(line, 1, "](", false, open);

	if (bracket == line.size || line.text[bracket] == ']')
		return bracket;
	size_t close = lx_header_end_of(line, bracket + 1, ")", true, open);

	return close == line.size ? line.size : lx_header_end_of(line, close, "]", false, open);
}

bool lx_names_of(struct lx_piece target, struct lx_piece *names)
{
	const size_t size = strlen("Lexgion");
	struct lx_piece rest = {target.text + size, target.size - size};

	if (target.size <= size || !lx_piece_is((struct lx_piece){target.text, size}, "Lexgion"))
		return false;
	rest = lx_piece_trim(rest);
	if (rest.size == 0 || *rest.text != '(')
		return false;
	*names = (struct lx_piece){rest.text + 1, rest.size - 1};
	return true;
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
	char message[256];

	lx_unknown_word(message, sizeof(message), "domain", name, lx_target_words, LX_TARGET_WORDS, LX_RULED_DOMAINS);
	lx_complain(parser, name, "%s", message);
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
	if (header->punits[kind].said) {
		lx_complain(parser, part, "a second set of the same kind");
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
static bool parse_inherited(struct lx_parser *parser, struct lx_piece part, struct lx_header *header)
{
	static const char lexgion[] = "Lexgion(";
	struct lx_piece name = {part.text, part.size - strlen(".default")};

	header->inherited = part;
	header->inherited_domain = -1;
	if (lx_piece_is(name, "Lexgion"))
		return true;
	if (name.size > sizeof(lexgion) && lx_same_word(name.text, lexgion, sizeof(lexgion) - 1) &&
	    name.text[name.size - 1] == ')') {
		name = lx_piece_trim((struct lx_piece){name.text + sizeof(lexgion) - 1, name.size - sizeof(lexgion)});
		header->from_default = true;
	}
	header->inherited_domain = lx_domain_of(name.text, name.size);
	return header->inherited_domain >= 0 || lx_unknown_domain(parser, name);
}

static bool is_between(char c)
{
	return c == ':' || c == ',' || is_blank(c);
}

/* The size of the first part: up to what stands between parts, outside of brackets, before which a blank may stand. */
static size_t tail_part(struct lx_piece tail)
{
	size_t size = 0, depth = 0;

	for (; size < tail.size; size++) {
		char c = tail.text[size];

		if (depth == 0 && is_blank(c)) {
			size_t next = size;

			while (next < tail.size && is_blank(tail.text[next]))
				next++;
			if (next == tail.size || tail.text[next] != '(')
				break;
			size = next - 1;
		} else if (depth == 0 && is_between(c)) {
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
		while (tail.size > 0 && is_between(*tail.text))
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

		if (target.size <= size || !lx_same_word(target.text, words[i], size) ||
		    !is_blank(target.text[size]))
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
			blank = is_blank(tail.text[i]);
	}
	return lx_piece_trim(tail);
}

void lx_parse_header(struct lx_parser *parser, struct lx_piece line)
{
	struct lx_header header = {.limited = false};
	const char *open = NULL;
	size_t end = header_end(line, &open);
	struct lx_piece names;

	parser->place = LX_IN_BAD_SECTION;
	parser->target_count = 0;
	if (end == line.size && open) {
		lx_complain(parser, (struct lx_piece){open, 1}, *open == '"' ? "the quote is not closed" : "the expression is not closed");
		return;
	}
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
	if (!lx_names_of(header.target, &names))
		parser->group = parser->rules->groups++;
	if (lx_header_target(parser, &header) && parser->place == LX_IN_BAD_SECTION)
		parser->place = LX_IN_SECTION;
}
