/* The configuration language: any bytes are rules and messages, the same each time, and the rules answer all questions. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decide/rules.h"

struct seen {
	size_t count;
	uint32_t last_line;
};

/* Messages come in the order of the lines, one a line, at a place that is there, with a text. */
static void on_message(void *context, const struct lx_message *message)
{
	struct seen *seen = context;

	seen->count++;
	if (message->line <= seen->last_line || message->column < 1 || message->span < 1 || !*message->text)
		abort();
	for (size_t i = 0, size = strlen(message->text); i < size;) {
		unsigned length = lx_utf8_length(message->text + i, size - i);

		if (length == 0 || (unsigned char)message->text[i] < ' ')
			abort();
		i += length;
	}
	if (message->text_of_line && message->column > message->size_of_line + 1)
		abort();
	seen->last_line = message->line;
}

/* A section that is looked up is there, and no section before it in strength or in the file fits. */
static void check_section(const struct lx_rules *rules, const struct lx_subject *subject, const struct lx_section *found)
{
	bool named = found->kind == LX_SECTION_NAMED;

	if (named && !lx_section_matches(found, subject))
		abort();
	for (size_t i = 0; i < rules->section_count; i++) {
		const struct lx_section *section = rules->sections[i];

		if (section->number != i || section->removed)
			abort();
		if (section->kind != LX_SECTION_NAMED || !lx_section_matches(section, subject))
			continue;
		if (!named || section->strength < found->strength)
			abort();
		if (section->strength == LX_NAME_PATTERN && found->strength == LX_NAME_PATTERN && i < found->number)
			abort();
	}
}

static void ask(const struct lx_rules *rules, const char *name, const char *file, uint32_t line, uint32_t domain)
{
	const struct lx_subject subject = {domain, name, file, strlen(name), strlen(file), line};
	const struct lx_section *section = lx_rules_section(rules, &subject);
	struct lx_window window;

	if (!section)
		abort();
	check_section(rules, &subject, section);
	lx_rules_window(rules, section, &window);
	if (window.rate < 1 || window.max_traces < -1 || window.max_c_traces < -1)
		abort();
	for (uint32_t thread = 0; thread < 4; thread++) {
		const uint32_t punits[LX_PUNIT_KINDS_MAX] = {thread, thread, LX_NO_PUNIT};

		lx_section_admits(section, punits);
		lx_rules_domain_admits(rules, domain, punits);
		lx_rules_switches(rules, section, domain, punits);
		for (uint32_t bit = 0; lx_domain_info(domain)->switches[bit].name; bit++)
			lx_rules_switch_source(rules, section, domain, bit, punits);
	}
	lx_rules_switches_vary(rules, section, domain);
	for (int key = LX_KEY_STARTS_AT; key <= LX_KEY_ACTION; key++)
		lx_rules_window_source(rules, section, (enum lx_window_key)key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lx_rules *rules, *again;
	struct seen first = {0, 0}, second = {0, 0};

	if (lx_rules_parse((const char *)data, size, NULL, on_message, &first, &rules) != 0 ||
	    lx_rules_parse((const char *)data, size, NULL, on_message, &second, &again) != 0)
		abort();
	if (first.count != second.count || first.count != rules->errors + rules->warnings ||
	    rules->section_count != again->section_count || rules->knob_count != again->knob_count)
		abort();
	ask(rules, "compute", "solver.py", 1, LX_DOMAIN_PYTHON);
	ask(rules, "Solver.run", "/a/pkg/solver.py", 42, LX_DOMAIN_PYTHON);
	ask(rules, "compute", "/x/pkg/solver/__init__.py", 1, LX_DOMAIN_PYTHON);
	ask(rules, "main.<locals>.<lambda>", "", 7, LX_DOMAIN_PYTHON);
	ask(rules, "IO/read", "", 0, LX_DOMAIN_USER);
	ask(rules, "0x4010bd", "", 0, LX_DOMAIN_OPENMP);
	for (size_t i = 0; i < rules->knob_count; i++)
		if (!lx_rules_knob(rules, rules->knobs[i].name))
			abort();
	lx_rules_free(rules);
	lx_rules_free(again);
	return 0;
}
