/* Rules of a text for the tests, with what was said of it. */
#ifndef LX_TESTS_CONFIG_SAID_H
#define LX_TESTS_CONFIG_SAID_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "decide/rules.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static char said[65536]; /* "3:18: text\n"; a warning's begins with "warning ", that of a variable with its name */
static size_t said_size, said_count;
static uint32_t said_line;

/* Each message is text, at a place that is there; no line of the file has two. */
static void on_message(void *context, const struct lx_message *message)
{
	size_t size = strlen(message->text);

	(void)context;
	for (size_t i = 0; i < size;) {
		unsigned length = lx_utf8_length(message->text + i, size - i);

		assert_int_not_equal(length, 0);
		assert_true((unsigned char)message->text[i] >= ' ' && message->text[i] != 0x7f);
		i += length;
	}
	assert_true(size > 0 && message->column > 0 && message->span > 0);
	if (!message->source) {
		assert_true(message->line > said_line);
		assert_true(message->text_of_line && message->column <= message->size_of_line + 1);
		said_line = message->line;
	}
	said_count++;
	if (said_size + 700 < sizeof(said))
		said_size += (size_t)snprintf(said + said_size, sizeof(said) - said_size, "%s%s%u:%u: %s\n",
					      message->source ? message->source : "", message->error ? "" : "warning ",
					      message->line, message->column, message->text);
}

static inline struct lx_rules *parse_sized(const char *text, size_t size, const struct lx_rules_environment *environment)
{
	char *exact = malloc(size + !size); /* so that a sanitizer sees a read behind the end */
	struct lx_rules *rules = NULL;

	memcpy(exact, text, size);
	said_size = said_count = said_line = 0;
	said[0] = '\0';
	assert_int_equal(lx_rules_parse(exact, size, environment, on_message, NULL, &rules), 0);
	assert_int_equal(rules->errors + rules->warnings, said_count);
	free(exact);
	return rules;
}

static inline struct lx_rules *parse(const char *text)
{
	return parse_sized(text, strlen(text), NULL);
}

static inline struct lx_rules *parse_right(const char *text)
{
	struct lx_rules *rules = parse(text);

	assert_string_equal(said, "");
	return rules;
}

static inline const struct lx_section *section_at(const struct lx_rules *rules, const char *name, const char *file, uint32_t line)
{
	const struct lx_subject subject = {LX_DOMAIN_PYTHON, name, file, strlen(name), strlen(file), line};

	return lx_rules_section(rules, &subject);
}

static inline struct lx_window window_of(const struct lx_rules *rules, const char *name)
{
	struct lx_window window;

	lx_rules_window(rules, section_at(rules, name, "/x/app.py", 1), &window);
	return window;
}

static inline bool admits(const struct lx_rules *rules, const char *name, uint32_t thread)
{
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = {thread, LX_NO_PUNIT, LX_NO_PUNIT};

	return lx_rules_domain_admits(rules, LX_DOMAIN_PYTHON, punits) &&
	       lx_section_admits(section_at(rules, name, "/x/app.py", 1), punits);
}

static inline uint64_t switches_of(const struct lx_rules *rules, const char *name, uint32_t thread)
{
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = {thread, LX_NO_PUNIT, LX_NO_PUNIT};

	return lx_rules_switches(rules, section_at(rules, name, "/x/app.py", 1), LX_DOMAIN_PYTHON, punits);
}

#endif
