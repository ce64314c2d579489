#include "decide/config.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CHUNK_SIZE 16384u

struct chunk {
	struct chunk *next;
	max_align_t bytes[];
};

/* ---- Memory of the rules ---- */

void *lx_rules_take(struct lx_own_rules *rules, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!rules->chunks || rules->chunk_space - rules->chunk_used < size) {
		size_t space = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		struct chunk *chunk = calloc(1, sizeof(*chunk) + space);

		if (!chunk) {
			rules->no_memory = true;
			return NULL;
		}
		chunk->next = rules->chunks;
		rules->chunks = chunk;
		rules->chunk_space = space;
		rules->chunk_used = 0;
	}
	void *taken = (char *)rules->chunks->bytes + rules->chunk_used;

	rules->chunk_used += size;
	return taken;
}

const char *lx_rules_text(struct lx_own_rules *rules, const char *text, size_t size)
{
	char *copy = lx_rules_take(rules, size + 1);

	if (copy)
		memcpy(copy, text, size);
	return copy ? copy : "";
}

void lx_rules_free(struct lx_rules *public_rules)
{
	struct lx_own_rules *rules = (struct lx_own_rules *)public_rules;

	if (!rules)
		return;
	for (size_t i = 0; i < public_rules->section_count; i++)
		lx_pattern_free(public_rules->sections[i]->pattern);
	while (rules->chunks) {
		struct chunk *next = rules->chunks->next;

		free(rules->chunks);
		rules->chunks = next;
	}
	if (rules->locale)
		freelocale(rules->locale);
	free(rules->rules.sections);
	free(rules->rules.knobs);
	free(rules->titles.slots);
	free(rules->knobs.slots);
	free(rules);
}

/* ---- Messages ---- */

static uint32_t characters(const char *text, size_t size)
{
	uint32_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)text[i] & 0xC0) != 0x80;
	return count;
}

void lx_keep_characters(char *text)
{
	size_t size = strlen(text), kept = 0;

	for (size_t i = 0; i < size;) {
		unsigned length = lx_utf8_length(text + i, size - i);

		if ((unsigned char)text[i] < ' ' || text[i] == 0x7F)
			text[i] = '?';
		memmove(text + kept, text + i, length);
		kept += length;
		i += length ? length : 1;
	}
	text[kept] = '\0';
}

static void tell(struct lx_parser *parser, bool error, struct lx_piece piece, const char *format, va_list arguments)
{
	char text[512];
	bool in_line = parser->line_text.text && piece.text >= parser->line_text.text;
	struct lx_message message = {.error = error, .source = parser->source, .line = parser->line, .text = text};

	if (!parser->source && parser->wrong_line == parser->line)
		return;
	if (!parser->source && error)
		parser->wrong_line = parser->line;
	vsnprintf(text, sizeof(text), format, arguments);
	lx_keep_characters(text);
	if (error)
		parser->rules->rules.errors++;
	else
		parser->rules->rules.warnings++;
	if (!parser->message)
		return;
	message.column = in_line ? characters(parser->line_text.text, (size_t)(piece.text - parser->line_text.text)) + 1 : 1;
	message.span = characters(piece.text, piece.size);
	if (message.span == 0)
		message.span = 1;
	message.text_of_line = parser->source ? NULL : parser->line_text.text;
	message.size_of_line = parser->line_text.size;
	parser->message(parser->context, &message);
}

void lx_complain(struct lx_parser *parser, struct lx_piece piece, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(parser, true, piece, format, arguments);
	va_end(arguments);
}

void lx_warn(struct lx_parser *parser, struct lx_piece piece, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(parser, false, piece, format, arguments);
	va_end(arguments);
}

/* ---- Lines ---- */

struct lx_piece lx_piece_trim(struct lx_piece piece)
{
	while (piece.size > 0 && (*piece.text == ' ' || *piece.text == '\t'))
		piece.text++, piece.size--;
	while (piece.size > 0 && (piece.text[piece.size - 1] == ' ' || piece.text[piece.size - 1] == '\t'))
		piece.size--;
	return piece;
}

bool lx_piece_is(struct lx_piece piece, const char *word)
{
	return strlen(word) == piece.size && lx_same_word(word, piece.text, piece.size);
}

/* A comment begins at the line's start or behind a blank; not in quotes. */
static struct lx_piece without_comment(struct lx_piece line)
{
	bool blank = true;

	for (size_t i = 0; i < line.size; i++) {
		char c = line.text[i];
		const char *close = c == '"' ? memchr(line.text + i + 1, '"', line.size - i - 1) : NULL;

		if (close)
			i = (size_t)(close - line.text);
		if (blank && (c == '#' || c == ';')) {
			line.size = i;
			break;
		}
		blank = c == ' ' || c == '\t';
	}
	return line;
}

/* Bytes that are no text: the line is left out. */
static bool is_text(struct lx_parser *parser, struct lx_piece line)
{
	for (size_t i = 0; i < line.size;) {
		unsigned length = lx_utf8_length(line.text + i, line.size - i);

		if (length == 0 || line.text[i] == '\0') {
			lx_complain(parser, (struct lx_piece){line.text + i, 1}, "%s",
				    length ? "a NUL byte: the line is left out" : "not UTF-8: the line is left out");
			return false;
		}
		i += length;
	}
	return true;
}

static void parse_line(struct lx_parser *parser)
{
	struct lx_piece line = lx_piece_trim(parser->line_text);

	if (line.size == 0 || *line.text == '#' || *line.text == ';') {
		if (line.size > 0)
			is_text(parser, parser->line_text);
		return;
	}
	if (!is_text(parser, parser->line_text)) {
		if (*line.text == '[')
			parser->place = LX_IN_BAD_SECTION;
		return;
	}
	if (*line.text == '[')
		lx_parse_header(parser, line);
	else
		lx_parse_key(parser, lx_piece_trim(without_comment(line)));
}

static void parse_text(struct lx_parser *parser, const char *text, size_t size)
{
	if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
		text += 3, size -= 3;
	while (size > 0 && !parser->rules->no_memory) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;

		parser->line++;
		parser->line_text = (struct lx_piece){text, length > 0 && text[length - 1] == '\r' ? length - 1 : length};
		parse_line(parser);
		length += end != NULL;
		text += length;
		size -= length;
	}
}

/* ---- Sections ---- */

static const char *title_at(const struct lx_own_rules *rules, uint32_t number)
{
	return rules->rules.sections[number]->title;
}

static struct lx_section *add_section(struct lx_own_rules *rules)
{
	if (rules->rules.section_count == rules->section_space) {
		size_t space = rules->section_space ? rules->section_space * 2 : 32;
		struct lx_section **larger = realloc(rules->rules.sections, space * sizeof(*larger));

		if (!larger)
			return NULL;
		rules->rules.sections = larger;
		rules->section_space = space;
	}
	struct lx_section *section = lx_rules_take(rules, sizeof(*section));

	if (section)
		rules->rules.sections[rules->rules.section_count++] = section;
	return section;
}

struct lx_section *lx_section_known(const struct lx_own_rules *rules, const char *title)
{
	uint32_t at = lx_names_find(rules, &rules->titles, title_at, title, strlen(title));

	return at && !rules->rules.sections[at - 1]->removed ? rules->rules.sections[at - 1] : NULL;
}

struct lx_section *lx_section_get(struct lx_parser *parser, enum lx_section_kind kind, uint32_t domain, const char *title)
{
	struct lx_own_rules *rules = parser->rules;
	struct lx_section *section = lx_section_known(rules, title);

	if (section)
		return section;
	section = add_section(rules); /* one that was removed comes again in a new place of the file */
	if (section) {
		section->kind = kind;
		section->domain = domain;
		section->title = lx_rules_text(rules, title, strlen(title));
		section->line = parser->line;
		section->number = (uint32_t)rules->rules.section_count - 1;
		section->group = parser->group;
	}
	if (!section || !lx_names_set(rules, &rules->titles, title_at, (uint32_t)rules->rules.section_count - 1))
		rules->no_memory = true;
	return rules->no_memory ? NULL : section;
}

/* [Lexgion.default], [Lexgion(Domain).default] and [Domain.default] are always there. */
static void make_defaults(struct lx_parser *parser)
{
	struct lx_own_rules *rules = parser->rules;
	char title[64];

	parser->group = rules->groups++;
	rules->lexgion = lx_section_get(parser, LX_SECTION_LEXGION, 0, "[Lexgion.default]");
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		snprintf(title, sizeof(title), "[%s.default]", lx_domain_info(domain)->name);
		rules->domains[domain] = lx_section_get(parser, LX_SECTION_DOMAIN, domain, title);
		snprintf(title, sizeof(title), "[Lexgion(%s).default]", lx_domain_info(domain)->name);
		parser->group = rules->groups++;
		rules->lexgion_domains[domain] = lx_section_get(parser, LX_SECTION_LEXGION_DOMAIN, domain, title);
	}
}

/* ---- The environment ---- */

static struct lx_piece next_part(struct lx_piece *rest)
{
	const char *colon = memchr(rest->text, ':', rest->size);
	struct lx_piece part = {rest->text, colon ? (size_t)(colon - rest->text) : rest->size};
	size_t taken = part.size + (colon != NULL);

	rest->text += taken;
	rest->size -= taken;
	return lx_piece_trim(part);
}

/* PINSIGHT_TRACE_RATE is written like PINSIGHT_TRACE_WINDOW, too: "0:50:1:0:MONITORING" has a timeout. */
static bool has_timeout(struct lx_piece rest)
{
	struct lx_piece first = next_part(&rest);
	bool number = first.size > 0 && rest.size > 0;

	for (size_t i = 0; i < first.size && number; i++)
		number = (first.text[i] >= '0' && first.text[i] <= '9') || first.text[i] == '.';
	return number;
}

/* "start:max:rate[:timeout][:action]" */
static void parse_window_variable(struct lx_parser *parser, const char *name, const char *value, bool with_timeout)
{
	struct lx_piece rest = {value, strlen(value)};
	struct lx_window_keys keys = {.starts_at = {0, LX_LINE_ENVIRONMENT}};
	struct lx_window_keys *target = &parser->rules->lexgion_domains[LX_DOMAIN_PYTHON]->window;

	parser->source = name;
	parser->line_text = rest;
	keys.max_traces.line = keys.rate.line = LX_LINE_ENVIRONMENT;
	bool right = lx_parse_number(parser, next_part(&rest), 0, &keys.starts_at.number) &&
		     lx_parse_number(parser, next_part(&rest), -1, &keys.max_traces.number) &&
		     lx_parse_number(parser, next_part(&rest), 1, &keys.rate.number);
	struct lx_piece timeout = right && (with_timeout || has_timeout(rest)) ? next_part(&rest) : (struct lx_piece){"", 0};

	if (timeout.size > 0 && !lx_piece_is(timeout, "0")) {
		right = lx_parse_seconds(parser, timeout, &keys.timeout);
		keys.timeout_line = LX_LINE_ENVIRONMENT;
	}
	if (right && rest.size > 0) {
		right = lx_parse_action(parser, lx_piece_trim(rest), &keys.action);
		keys.action_line = LX_LINE_ENVIRONMENT;
	}
	if (right)
		*target = keys;
	parser->source = NULL;
}

static void parse_environment(struct lx_parser *parser, const struct lx_rules_environment *environment)
{
	static const char *const variables[LX_RULED_DOMAINS] = {
		"PINSIGHT_TRACE_PYTHON", "PINSIGHT_TRACE_USER", "PINSIGHT_TRACE_IO",
		"PINSIGHT_TRACE_OPENMP", "PINSIGHT_TRACE_MPI",	"PINSIGHT_TRACE_CUDA",
	};

	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		const char *mode = environment->modes[domain];
		char message[256];
		int number;

		if (!mode || !*mode)
			continue;
		parser->source = variables[domain];
		parser->line_text = (struct lx_piece){mode, strlen(mode)};
		if (!lx_mode_read(parser->line_text, &number, message, sizeof(message)))
			lx_complain(parser, parser->line_text, "%s", message);
		parser->source = NULL;
	}
	if (environment->rate && *environment->rate)
		parse_window_variable(parser, "PINSIGHT_TRACE_RATE", environment->rate, false);
	if (environment->window && *environment->window)
		parse_window_variable(parser, "PINSIGHT_TRACE_WINDOW", environment->window, true);
}

int lx_rules_parse(const char *text, size_t size, const struct lx_rules_environment *environment, lx_message_fn message,
		   void *context, struct lx_rules **out)
{
	struct lx_own_rules *rules = calloc(1, sizeof(*rules));
	struct lx_parser parser = {.rules = rules, .message = message, .context = context};

	if (!rules)
		return -ENOMEM;
	rules->c_calls = !environment || environment->c_calls != 0;
	make_defaults(&parser);
	if (!rules->no_memory && environment)
		parse_environment(&parser, environment);
	parser.line = 0;
	if (!rules->no_memory)
		parse_text(&parser, text, size);
	if (!rules->no_memory)
		lx_rules_index(rules);
	free(parser.targets);
	if (rules->no_memory) {
		lx_rules_free(&rules->rules);
		return -ENOMEM;
	}
	*out = &rules->rules;
	return 0;
}
