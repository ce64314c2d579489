/* `lextrace config explain` for people: a sentence, each key with its line, the sections that fit. */
#include <stdarg.h>
#include <string.h>

#include "cli/cmd_config.h"

/* ---- The sentence ---- */

/* "1st", "1,002nd", "11th" */
static const char *ordinal(char *out, size_t size, uint64_t number)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };
	char digits[LX_NUMBER_SIZE];
	uint64_t last = number % 100 / 10 == 1 ? 0 : number % 10;

	snprintf(out, size, "%s%s", lx_format_count(digits, sizeof(digits), number), ends[last > 3 ? 0 : last]);
	return out;
}

static void put_actions(FILE *file, const struct lx_action *action)
{
	const char *sign = "";
	bool same = true;

	if (action->introspect)
		fprintf(file, "; then the program pauses (INTROSPECT) and");
	else
		fprintf(file, "; then");
	for (int domain = 1; domain < LX_RULED_DOMAINS; domain++)
		same &= action->modes[domain] == action->modes[0];
	if (same) {
		fprintf(file, " all domains go to %s", lx_mode_name((uint32_t)action->modes[0]));
		return;
	}
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		if (action->modes[domain] < 0)
			continue;
		fprintf(file, "%s %s goes to %s", sign, lx_domain_info(domain)->name,
			lx_mode_name((uint32_t)action->modes[domain]));
		sign = ",";
	}
}

/* Why nothing is recorded; false: it is. */
static bool put_refusal(const struct lx_explained *it, FILE *file)
{
	const struct lx_rules *rules = it->file->rules;
	const char *domain = lx_domain_info(it->subject.domain)->name;
	const struct lx_section *of_domain = lx_rules_domain(rules, it->subject.domain);
	char place[1200];

	if (it->mode != LX_MODE_TRACING) {
		lx_config_place(it->file, of_domain->mode.line, place, sizeof(place));
		fprintf(file, "is %s: %s is %s (%s)\n", it->mode == LX_MODE_MONITORING ? "counted, not recorded" : "not recorded",
			domain, lx_mode_name(it->mode), it->mode_variable ? it->mode_variable : place);
		return true;
	}
	if (!it->in_domain) {
		uint32_t line = 0;

		for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
			if (!lx_punits_hold(&of_domain->punits[kind], it->punits[kind]))
				line = of_domain->punits[kind].line;
		fprintf(file, "is not recorded: thread %u is in no set of %s", it->thread, domain);
		fprintf(file, line ? " (%s)\n" : "\n", lx_config_place(it->file, line, place, sizeof(place)));
		return true;
	}
	if (!it->in_section) {
		fprintf(file, "is not recorded: thread %u is not in %s (%s)\n", it->thread, it->section->punit_text,
			lx_config_place(it->file, it->section->line, place, sizeof(place)));
		return true;
	}
	if (it->window.max_traces == 0) {
		const struct lx_section *source = lx_rules_window_source(rules, it->section, LX_KEY_MAX_TRACES);

		fprintf(file, "is never recorded: max_num_traces is 0 (%s)\n",
			lx_config_place(it->file, source ? source->window.max_traces.line : 0, place, sizeof(place)));
		return true;
	}
	return false;
}

static void put_sentence(const struct lx_explained *it, FILE *file)
{
	const struct lx_window *window = &it->window;
	char number[LX_NUMBER_SIZE], one[48], two[48], three[48], last[48];
	uint64_t first = window->starts_at + window->rate;

	fprintf(file, "%s on thread %u ", it->spelled, it->thread);
	if (put_refusal(it, file))
		return;
	fprintf(file, "is recorded: ");
	if (window->rate == 1)
		fprintf(file, "every call");
	else
		fprintf(file, "1 call in %s", lx_format_count(number, sizeof(number), window->rate));
	if (window->starts_at)
		fprintf(file, " after the first %s", lx_format_count(number, sizeof(number), window->starts_at));
	if (window->max_traces > 0)
		fprintf(file, ", at most %s", lx_format_count(number, sizeof(number), (uint64_t)window->max_traces));
	if (window->timeout > 0)
		fprintf(file, ", for %g s", window->timeout);
	fputc('\n', file);
	if (window->rate == 1 && window->max_traces < 0)
		return;
	ordinal(one, sizeof(one), first);
	ordinal(two, sizeof(two), first + window->rate);
	ordinal(three, sizeof(three), first + 2 * window->rate);
	ordinal(last, sizeof(last), first + ((uint64_t)window->max_traces - 1) * window->rate);
	if (window->max_traces == 1)
		fprintf(file, "that is the %s call", one);
	else if (window->max_traces == 2)
		fprintf(file, "that is the %s and %s call", one, two);
	else if (window->max_traces < 0)
		fprintf(file, "that is the %s, %s, %s … call", one, two, three);
	else if (window->rate == 1)
		fprintf(file, "that is the %s to %s call", one, last);
	else
		fprintf(file, "that is the %s, %s, %s … %s call", one, two, three, last);
	if (window->action)
		put_actions(file, window->action);
	fputc('\n', file);
}

/* ---- The keys ---- */

static void put_row(const struct lx_explained *it, struct lx_output *out, const char *key, const char *value, uint32_t line,
		    const char *section, const char *more)
{
	char place[1200];

	lx_config_place(it->file, line, place, sizeof(place));
	fprintf(out->file, "%s%-19s%s  %-19s  %-*s", lx_style(out, LX_CYAN), key, lx_style_end(out, LX_CYAN), value,
		section ? 16 : 0, place);
	fprintf(out->file, "%s%s%s\n", section ? "  " : "", section ? section : "", more);
}

static int64_t own_number(const struct lx_section *section, enum lx_window_key key, uint32_t *line)
{
	const struct lx_window_keys *keys = &section->window;
	const struct lx_value *values[] = { [LX_KEY_STARTS_AT] = &keys->starts_at, [LX_KEY_MAX_TRACES] = &keys->max_traces,
					    [LX_KEY_RATE] = &keys->rate, [LX_KEY_MAX_C_TRACES] = &keys->max_c_traces };

	*line = values[key]->line;
	return values[key]->number;
}

/* "   beats trace.conf:15 (1000)": another section that fits says something else. */
static void put_beaten(const struct lx_explained *it, enum lx_window_key key, const struct lx_section *source, char *out,
		       size_t size)
{
	const struct lx_rules *rules = it->file->rules;
	uint32_t line;
	char place[1200];

	out[0] = '\0';
	if (key > LX_KEY_MAX_C_TRACES || !source)
		return;
	for (size_t i = rules->section_count; i-- > 0;) {
		const struct lx_section *other = rules->sections[i];
		bool fits = other->kind == LX_SECTION_NAMED ? lx_section_matches(other, &it->subject)
							    : other->kind == LX_SECTION_LEXGION ||
								      (other->kind == LX_SECTION_LEXGION_DOMAIN &&
								       other->domain == it->subject.domain);
		if (other == source || !fits)
			continue;
		int64_t number = own_number(other, key, &line);

		if (line) {
			snprintf(out, size, "   beats %s (%lld)", lx_config_place(it->file, line, place, sizeof(place)),
				 (long long)number);
			return;
		}
	}
}

static void put_number(const struct lx_explained *it, struct lx_output *out, const char *name, enum lx_window_key key,
		       int64_t number)
{
	const struct lx_section *source = lx_rules_window_source(it->file->rules, it->section, key);
	char value[32], beaten[1300];
	uint32_t line = 0;

	if (source)
		own_number(source, key, &line);
	snprintf(value, sizeof(value), "%lld", (long long)number);
	put_beaten(it, key, source, beaten, sizeof(beaten));
	put_row(it, out, name, value, line, source && line != LX_LINE_ENVIRONMENT ? source->title : NULL, beaten);
}

static void put_window(const struct lx_explained *it, struct lx_output *out)
{
	const struct lx_rules *rules = it->file->rules;
	const struct lx_window *window = &it->window;
	const struct lx_section *timeout = lx_rules_window_source(rules, it->section, LX_KEY_TIMEOUT);
	const struct lx_section *trigger = lx_rules_window_source(rules, it->section, LX_KEY_TRIGGER);
	const struct lx_section *action = lx_rules_window_source(rules, it->section, LX_KEY_ACTION);
	char text[64];

	put_number(it, out, "trace_starts_at", LX_KEY_STARTS_AT, (int64_t)window->starts_at);
	put_number(it, out, "max_num_traces", LX_KEY_MAX_TRACES, window->max_traces);
	put_number(it, out, "tracing_rate", LX_KEY_RATE, (int64_t)window->rate);
	if (it->subject.domain == LX_DOMAIN_PYTHON)
		put_number(it, out, "max_c_traces", LX_KEY_MAX_C_TRACES, window->max_c_traces);
	if (timeout) {
		snprintf(text, sizeof(text), "%g s", window->timeout);
		put_row(it, out, "window_timeout", text, timeout->window.timeout_line, timeout->title, "");
	}
	if (trigger)
		put_row(it, out, "window_end_trigger", window->trigger == LX_TRIGGER_ALL ? "all" : "first",
			trigger->window.trigger.line, trigger->title, "");
	put_row(it, out, "trace_mode_after", window->action ? window->action->text : "none",
		action ? action->window.action_line : LX_LINE_BUILT_IN, action ? action->title : NULL, "");
}

static void put_switches(const struct lx_explained *it, struct lx_output *out)
{
	const struct lx_switch_info *info = lx_domain_info(it->subject.domain)->switches;

	for (uint32_t bit = 0; info[bit].name; bit++) {
		const struct lx_section *source =
			lx_rules_switch_source(it->file->rules, it->section, it->subject.domain, bit, it->punits);
		const struct lx_switches *said = source ? source->switches : NULL;

		if (source && source->kind == LX_SECTION_LEXGION)
			said += it->subject.domain;
		if (!said && it->subject.domain != LX_DOMAIN_PYTHON && it->subject.domain != LX_DOMAIN_USER)
			continue; /* a long table of what nobody has touched */
		put_row(it, out, info[bit].name, it->switches >> bit & 1 ? "on" : "off", said ? said->line[bit] : 0,
			source ? source->title : NULL, "");
	}
}

static void put_domain(const struct lx_explained *it, struct lx_output *out)
{
	const struct lx_section *section = lx_rules_domain(it->file->rules, it->subject.domain);
	const struct lx_domain_info *info = lx_domain_info(it->subject.domain);
	char key[64], value[64];

	put_row(it, out, "trace_mode", lx_mode_name(it->mode), it->mode_variable ? 0 : section->mode.line,
		it->mode_variable ? it->mode_variable : section->mode.line ? section->title : NULL, "");
	for (int kind = 0; info->punits[kind]; kind++) {
		if (!section->punits[kind].said)
			continue;
		snprintf(key, sizeof(key), "%s.%s", info->name, info->punits[kind]);
		snprintf(value, sizeof(value), "%u is %s", it->thread,
			 lx_punits_hold(&section->punits[kind], it->punits[kind]) ? "in it" : "not in it");
		put_row(it, out, key, value, section->punits[kind].line, section->title, "");
	}
}

/* ---- The sections ---- */

static const char *strength_text(const struct lx_section *section)
{
	if (section->kind != LX_SECTION_NAMED)
		return "default";
	return section->strength == LX_NAME_WITH_FILE ? "exact name with file"
	       : section->strength == LX_NAME_EXACT   ? "exact name"
						      : "wildcard or expression";
}

static void put_section(const struct lx_explained *it, struct lx_output *out, const struct lx_section *section,
			const char *why)
{
	char place[1200];

	fprintf(out->file, "  %-16s  %s", lx_config_place(it->file, section->line, place, sizeof(place)), section->title);
	if (section->punit_text)
		fprintf(out->file, ": %s", section->punit_text);
	fprintf(out->file, "    %s\n", why);
}

static void put_sections(const struct lx_explained *it, struct lx_output *out)
{
	const struct lx_rules *rules = it->file->rules;
	const struct lx_section *of_domain = lx_rules_domain(rules, it->subject.domain);
	bool others = false;

	fprintf(out->file, "\n%sthe section that applies%s\n", lx_style(out, LX_BOLD), lx_style_end(out, LX_BOLD));
	put_section(it, out, it->section, strength_text(it->section));
	if (of_domain->line)
		put_section(it, out, of_domain, "the domain");
	for (size_t i = 0; i < rules->section_count; i++) {
		const struct lx_section *section = rules->sections[i];

		if (section == it->section || section->kind != LX_SECTION_NAMED || !lx_section_matches(section, &it->subject))
			continue;
		if (!others)
			fprintf(out->file, "%sfits, but does not apply%s\n", lx_style(out, LX_BOLD), lx_style_end(out, LX_BOLD));
		others = true;
		put_section(it, out, section, strength_text(section));
	}
}

void lx_explain_text(const struct lx_explained *it, struct lx_output *out)
{
	put_sentence(it, out->file);
	fputc('\n', out->file);
	put_domain(it, out);
	put_window(it, out);
	put_switches(it, out);
	put_sections(it, out);
}
