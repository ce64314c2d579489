#include <fnmatch.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/own.h"

/* ---- Names as patterns ---- */

static bool has_wildcard(const char *text, size_t size)
{
	const char *close = memrchr(text, ']', size);

	for (size_t i = 0; i < size; i++)
		if (text[i] == '*' || text[i] == '?' || (text[i] == '[' && close && close > text + i))
			return true;
	return false;
}

/* The colon between file and name; those of a class, as in "[[:alpha:]]*", are none. */
static const char *colon_of(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == ':' && (i == 0 || text[i - 1] != '[') && (i + 1 == size || text[i + 1] != ']'))
			return text + i;
	return NULL;
}

/* Characters of names are UTF-8, in the program as in the command line. */
static locale_t utf8_of(struct lx_own_rules *rules)
{
	if (!rules->locale)
		rules->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return rules->locale;
}

/* In the locale, if there is one: then back to what is returned. */
static locale_t enter(locale_t locale)
{
	return locale ? uselocale(locale) : (locale_t)0;
}

static void leave(locale_t before)
{
	if (before)
		uselocale(before);
}

/* Takes "@42" off the end of a name. */
static uint32_t take_line(const char *text, size_t *size)
{
	size_t at = *size, digits = 0;
	uint64_t line = 0;

	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--, digits++;
	if (digits == 0 || digits > 9 || at == 0 || text[at - 1] != '@' || at == 1)
		return 0;
	for (size_t i = at; i < *size; i++)
		line = line * 10 + (uint64_t)(text[i] - '0');
	*size = at - 1;
	return (uint32_t)line;
}

#define EXPRESSION_MAX 1000 /* bytes: the C library goes as deep as brackets do */
#define COST_MAX 10000 /* copies of its parts that an expression may ask for */

/* The C library copies what '+' and '{n}' stand behind, and copies of copies: a few dozen of them take all memory there is. */
static bool is_costly(const char *expression)
{
	double cost = 1;

	for (const char *at = expression; *at && cost <= COST_MAX; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '+')
			cost *= 2;
		else if (*at == '{')
			for (const char *number = at + 1; *number && *number != '}'; number++)
				if (number[-1] == '{' || number[-1] == ',')
					cost *= 1 + (double)strtoul(number, NULL, 10);
	}
	return cost > COST_MAX;
}

/* "\1" takes time without end. */
static bool refers_back(const char *expression)
{
	for (const char *at = expression; (at = strchr(at, '\\')) && at[1]; at += 2)
		if (at[1] >= '1' && at[1] <= '9')
			return true;
	return false;
}

/* "/expression/": an escaped slash is a slash. */
static bool make_expression(struct lx_own_rules *rules, struct lx_pattern *pattern, const char *text, size_t size,
			    char *message, size_t message_size)
{
	char plain[EXPRESSION_MAX + 1];
	size_t used = 0;

	if (size > EXPRESSION_MAX) {
		snprintf(message, message_size, "an expression of more than %d bytes", EXPRESSION_MAX);
		return false;
	}
	if (size < 2 || text[size - 1] != '/') {
		snprintf(message, message_size, "an expression ends with '/'");
		return false;
	}
	for (size_t i = 1; i < size - 1; i++) {
		if (text[i] == '/') {
			snprintf(message, message_size, "a '/' inside an expression is written '\\/'");
			return false;
		}
		if (text[i] == '\\' && text[++i] != '/')
			plain[used++] = '\\';
		plain[used++] = text[i];
	}
	plain[used] = '\0';
	if (refers_back(plain)) {
		snprintf(message, message_size, "an expression can't refer back to its parts ('\\1')");
		return false;
	}
	if (is_costly(plain)) {
		snprintf(message, message_size, "an expression with too many repetitions");
		return false;
	}
	locale_t before = enter(pattern->locale = utf8_of(rules));
	int wrong = regcomp(&pattern->expression, plain, REG_EXTENDED | REG_NOSUB);

	leave(before);
	if (wrong == REG_ESPACE) {
		rules->no_memory = true;
		return false;
	}
	if (wrong) {
		char why[128];

		regerror(wrong, &pattern->expression, why, sizeof(why));
		snprintf(message, message_size, "wrong expression: %s", why);
		return false;
	}
	pattern->kind = LX_NAME_IS_EXPRESSION;
	return true;
}

struct lx_pattern *lx_pattern_make(struct lx_own_rules *rules, uint32_t domain, const char *text, size_t size,
				   char *message, size_t message_size)
{
	struct lx_pattern *pattern = lx_rules_take(rules, sizeof(*pattern));
	const char *colon = domain == LX_DOMAIN_PYTHON && size > 0 && *text != '/' ? colon_of(text, size) : NULL;

	if (!pattern)
		return NULL;
	if (size > LX_DEFINITION_TEXT_MAX && *text != '/') {
		snprintf(message, message_size, "a name of more than %u bytes", LX_DEFINITION_TEXT_MAX);
		return NULL;
	}
	if (colon) {
		size_t length = (size_t)(colon - text);

		if (length == 0 || length + 1 == size) {
			snprintf(message, message_size, "a name stands on both sides of ':'");
			return NULL;
		}
		pattern->file = lx_rules_text(rules, text, length);
		pattern->file_is_wild = has_wildcard(text, length);
		text = colon + 1;
		size -= length + 1;
	}
	if (domain == LX_DOMAIN_PYTHON)
		pattern->line = take_line(text, &size);
	if (size == 0) {
		snprintf(message, message_size, "a name is missing");
		return NULL;
	}
	pattern->name = lx_rules_text(rules, text, size);
	pattern->name_size = size;
	if (*text != '/' && has_wildcard(text, size))
		pattern->kind = LX_NAME_IS_WILD;
	if (pattern->kind == LX_NAME_IS_WILD || pattern->file_is_wild)
		pattern->locale = utf8_of(rules);
	if (rules->no_memory || (*text == '/' && !make_expression(rules, pattern, text, size, message, message_size)))
		return NULL;
	return pattern;
}

void lx_pattern_free(struct lx_pattern *pattern)
{
	if (pattern && pattern->kind == LX_NAME_IS_EXPRESSION)
		regfree(&pattern->expression);
}

enum lx_strength lx_pattern_strength(const struct lx_pattern *pattern)
{
	if (pattern->kind != LX_NAME_IS_TEXT || pattern->file_is_wild)
		return LX_NAME_PATTERN;
	return pattern->file || pattern->line ? LX_NAME_WITH_FILE : LX_NAME_EXACT;
}

/* ---- Whether one fits ---- */

/* Whether the path ends in these bytes, at the start of one of its parts. */
static bool ends_in(const char *path, size_t size, const char *tail, size_t tail_size)
{
	return tail_size <= size && memcmp(path + size - tail_size, tail, tail_size) == 0 &&
	       (tail_size == size || path[size - tail_size - 1] == '/');
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A wildcard for a path with slashes fits where as many parts of the end do. */
static bool wild_file_fits(const char *pattern, const char *path)
{
	const char *at = path + strlen(path);

	for (const char *slash = pattern; (slash = strchr(slash, '/')); slash++)
		for (at -= at > path; at > path && *at != '/';)
			at--;
	if (!strchr(pattern, '/'))
		return fnmatch(pattern, base_name(path), 0) == 0;
	while (at > path && at[-1] != '/')
		at--;
	return fnmatch(pattern, at, FNM_PATHNAME) == 0;
}

static bool file_fits(const struct lx_pattern *pattern, const struct lx_subject *subject, char *file)
{
	if (!pattern->file)
		return true;
	if (!pattern->file_is_wild)
		return ends_in(subject->file, subject->file_size, pattern->file, strlen(pattern->file));
	memcpy(file, subject->file, subject->file_size);
	file[subject->file_size] = '\0';
	return wild_file_fits(pattern->file, file);
}

/* "pkg.solver.compute": the name compute in pkg/solver.py or pkg/solver/__init__.py. */
static bool module_name_fits(const struct lx_pattern *pattern, const struct lx_subject *subject, char *file)
{
	size_t size = pattern->name_size, module;

	if (pattern->file || subject->name_size + 2 > size || subject->file_size == 0 ||
	    memcmp(pattern->name + size - subject->name_size, subject->name, subject->name_size) != 0 ||
	    pattern->name[size - subject->name_size - 1] != '.')
		return false;
	module = size - subject->name_size - 1;
	if (module + sizeof("/__init__.py") > LX_DEFINITION_TEXT_MAX)
		return false;
	for (size_t i = 0; i < module; i++)
		file[i] = pattern->name[i] == '.' ? '/' : pattern->name[i];
	memcpy(file + module, ".py", 3);
	if (ends_in(subject->file, subject->file_size, file, module + 3))
		return true;
	memcpy(file + module, "/__init__.py", 12);
	return ends_in(subject->file, subject->file_size, file, module + 12);
}

static bool matches(const struct lx_pattern *pattern, const struct lx_subject *subject)
{
	static char text[LX_DEFINITION_TEXT_MAX * 2 + 8]; /* a thread's stack may be a small one */

	if (pattern->kind == LX_NAME_IS_TEXT) {
		if (pattern->name_size == subject->name_size && memcmp(pattern->name, subject->name, subject->name_size) == 0)
			return file_fits(pattern, subject, text);
		return subject->domain == LX_DOMAIN_PYTHON && module_name_fits(pattern, subject, text);
	}
	if (!file_fits(pattern, subject, text))
		return false;
	memcpy(text, subject->name, subject->name_size);
	text[subject->name_size] = '\0';
	if (pattern->kind == LX_NAME_IS_WILD)
		return fnmatch(pattern->name, text, 0) == 0;
	return regexec(&pattern->expression, text, 0, NULL, 0) == 0;
}

bool lx_section_matches(const struct lx_section *section, const struct lx_subject *subject)
{
	const struct lx_pattern *pattern = section->pattern;

	if (!pattern || section->removed || section->domain != subject->domain || subject->name_size > LX_DEFINITION_TEXT_MAX + 4 ||
	    subject->file_size > LX_DEFINITION_TEXT_MAX + 4 || (pattern->line && pattern->line != subject->line))
		return false;
	locale_t before = enter(pattern->locale);
	bool right = matches(pattern, subject);

	leave(before);
	return right;
}
