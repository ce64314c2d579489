/* "key = value" */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/config.h"

enum window_key { STARTS_AT, MAX_TRACES, RATE, MAX_C_TRACES, TIMEOUT, TRIGGER, ACTION };

/* The first spelling of a key is ours, the others are accepted as well. */
static const struct {
	const char *name;
	enum window_key key;
} window_keys[] = {
	{"trace_starts_at", STARTS_AT},	      {"max_num_traces", MAX_TRACES}, {"tracing_rate", RATE},
	{"max_c_traces", MAX_C_TRACES},	      {"window_timeout", TIMEOUT},    {"window_end_trigger", TRIGGER},
	{"trace_mode_after", ACTION},	      {"window_end_action", ACTION},
};

#define WINDOW_KEYS (sizeof(window_keys) / sizeof(*window_keys))

static int window_key_of(struct lx_piece name)
{
	for (size_t i = 0; i < WINDOW_KEYS; i++)
		if (lx_piece_is(name, window_keys[i].name))
			return (int)window_keys[i].key;
	return -1;
}

static int switch_of(uint32_t domain, struct lx_piece name)
{
	const struct lx_switch_info *info = lx_domain_info(domain)->switches;

	for (int bit = 0; info[bit].name; bit++)
		if (lx_piece_is(name, info[bit].name))
			return bit;
	return -1;
}

/* "Python.": taken off the key's front. The domain, -1: there is none, -2: there is one and it is unknown. */
static int take_domain(struct lx_piece *key)
{
	const char *dot = memchr(key->text, '.', key->size);

	if (!dot)
		return -1;
	int domain = lx_domain_of(key->text, (size_t)(dot - key->text));

	if (domain < 0)
		return -2;
	key->size -= (size_t)(dot - key->text) + 1;
	key->text = dot + 1;
	return domain;
}

/* ---- Setting ---- */

static void set_switch(struct lx_parser *parser, struct lx_section *section, uint32_t domain, int bit, bool on)
{
	bool of_all = section->kind == LX_SECTION_LEXGION;

	if (!section->switches)
		section->switches = lx_rules_take(parser->rules, (of_all ? LX_RULED_DOMAINS : 1) * sizeof(*section->switches));
	if (!section->switches)
		return;
	struct lx_switches *switches = &section->switches[of_all ? domain : 0];

	switches->said |= 1ull << bit;
	switches->on = (switches->on & ~(1ull << bit)) | (uint64_t)on << bit;
	switches->line[bit] = parser->line;
}

static bool parse_trigger(struct lx_parser *parser, struct lx_piece value, int64_t *out)
{
	if (lx_piece_is(value, "first") || lx_piece_is(value, "all")) {
		*out = lx_piece_is(value, "all") ? LX_TRIGGER_ALL : LX_TRIGGER_FIRST;
		return true;
	}
	lx_complain(parser, value, "'%.*s' is neither first nor all", (int)(value.size < 60 ? value.size : 60), value.text);
	return false;
}

static void set_window_key(struct lx_parser *parser, enum window_key key, struct lx_piece value)
{
	static const int64_t least[] = {[STARTS_AT] = 0, [MAX_TRACES] = -1, [RATE] = 1, [MAX_C_TRACES] = -1};
	struct lx_value number = {0, parser->line};
	const struct lx_action *action = NULL;
	double seconds = 0;
	bool right;

	if (key == TIMEOUT)
		right = lx_parse_seconds(parser, value, &seconds);
	else if (key == TRIGGER)
		right = parse_trigger(parser, value, &number.number);
	else if (key == ACTION)
		right = lx_parse_action(parser, value, &action);
	else
		right = lx_parse_number(parser, value, least[key], &number.number);
	for (size_t i = 0; i < parser->target_count && right; i++) {
		struct lx_section *section = parser->targets[i];
		struct lx_window_keys *keys = &section->window;

		switch (key) {
		case STARTS_AT:
			keys->starts_at = number;
			break;
		case MAX_TRACES:
			keys->max_traces = number;
			break;
		case RATE:
			keys->rate = number;
			break;
		case MAX_C_TRACES:
			keys->max_c_traces = number;
			break;
		case TIMEOUT:
			keys->timeout = seconds;
			keys->timeout_line = parser->line;
			break;
		case TRIGGER:
			keys->trigger = number;
			break;
		case ACTION:
			keys->action = action;
			keys->action_line = parser->line;
			if (section->kind == LX_SECTION_NAMED)
				section->group = parser->group;
			break;
		}
	}
}

/* ---- Knobs ---- */

static void set_knob_value(struct lx_own_rules *rules, struct lx_knob *knob, struct lx_piece value)
{
	char *end;
	bool quoted = value.size > 1 && *value.text == '"' && value.text[value.size - 1] == '"';

	if (quoted)
		value = (struct lx_piece){value.text + 1, value.size - 2};
	knob->text = lx_rules_text(rules, value.text, value.size);
	knob->kind = LX_KNOB_STRING;
	if (quoted || value.size == 0 || strchr("+-.0123456789", *value.text) == NULL || strpbrk(knob->text, "xXnN"))
		return;
	errno = 0;
	knob->integer = strtoll(knob->text, &end, 10);
	knob->real = (double)knob->integer;
	if (!*end && errno == 0) {
		knob->kind = LX_KNOB_INT;
		return;
	}
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the program may have set a decimal comma */

	knob->real = plain ? strtod_l(knob->text, &end, plain) : 0;
	if (plain)
		freelocale(plain);
	if (plain && !*end && isfinite(knob->real))
		knob->kind = LX_KNOB_DOUBLE;
	else
		knob->real = 0;
}

static struct lx_knob *add_knob(struct lx_own_rules *rules, struct lx_piece name)
{
	if (rules->rules.knob_count == rules->knob_space) {
		size_t space = rules->knob_space ? rules->knob_space * 2 : 16;
		struct lx_knob *larger = realloc(rules->rules.knobs, space * sizeof(*larger));

		if (!larger)
			return NULL;
		rules->rules.knobs = larger;
		rules->knob_space = space;
	}
	uint32_t number = (uint32_t)rules->rules.knob_count++;

	rules->rules.knobs[number] = (struct lx_knob){.name = lx_rules_text(rules, name.text, name.size)};
	return lx_names_set(rules, &rules->knobs, lx_knob_name, number) ? &rules->rules.knobs[number] : NULL;
}

static void set_knob(struct lx_parser *parser, struct lx_piece name, struct lx_piece value)
{
	struct lx_own_rules *rules = parser->rules;
	uint32_t at = lx_names_find(rules, &rules->knobs, lx_knob_name, name.text, name.size);
	struct lx_knob *knob = at ? &rules->rules.knobs[at - 1] : add_knob(rules, name);

	if (!knob) {
		rules->no_memory = true;
		return;
	}
	knob->line = parser->line;
	set_knob_value(rules, knob, value);
}

/* ---- Which key it is ---- */

static bool is_kind(uint32_t domain, struct lx_piece name)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	for (int kind = 0; info->punits[kind]; kind++)
		if (lx_piece_is(name, info->punits[kind]))
			return true;
	return false;
}

/* A key that is known, in a section that does not have it. False: it is not known. */
static bool misplaced_key(struct lx_parser *parser, const struct lx_section *section, struct lx_piece key)
{
	struct lx_piece name = key;
	int domain = take_domain(&name), size = (int)(key.size < 60 ? key.size : 60);

	if (domain == -1 && window_key_of(key) >= 0)
		lx_complain(parser, key, "'%.*s' belongs in a Lexgion section", size, key.text);
	else if (domain == -1 && lx_piece_is(key, "trace_mode"))
		lx_complain(parser, key, "'trace_mode' belongs in a section like [Python.default]");
	else if (domain >= 0 && is_kind((uint32_t)domain, name))
		lx_complain(parser, key, "'%.*s' belongs in [%s.default]%s", size, key.text, lx_domain_info((uint32_t)domain)->name,
			    section->kind == LX_SECTION_NAMED || section->kind == LX_SECTION_LEXGION_DOMAIN
				    ? ", a set of this section behind its name"
				    : "");
	else
		return false;
	return true;
}

/* All that this section may have but sets of punits. */
static size_t words_of(const struct lx_section *section, const char *words[], size_t space)
{
	size_t count = 0;

	if (section->kind == LX_SECTION_DOMAIN)
		words[count++] = "trace_mode";
	for (size_t i = 0; i < WINDOW_KEYS && section->kind != LX_SECTION_DOMAIN && section->kind != LX_SECTION_PUNIT; i++)
		words[count++] = window_keys[i].name;
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		const struct lx_domain_info *info = lx_domain_info(domain);

		if (section->kind != LX_SECTION_LEXGION && domain != section->domain)
			continue;
		for (int bit = 0; info->switches[bit].name && count < space; bit++)
			words[count++] = info->switches[bit].name;
	}
	return count;
}

/* The kind of punit in a section like [Python.default] that is nearly, or without its domain, what was written. */
static const char *near_kind(const struct lx_section *section, struct lx_piece key)
{
	const struct lx_domain_info *info = lx_domain_info(section->domain);
	size_t count = 0;
	int domain = take_domain(&key);

	while (info->punits[count])
		count++;
	return section->kind == LX_SECTION_DOMAIN && (domain == -1 || domain == (int)section->domain)
		       ? lx_near_word(key, info->punits, count)
		       : NULL;
}

static void unknown_key(struct lx_parser *parser, const struct lx_section *section, struct lx_piece key)
{
	const char *words[160];
	int size = (int)(key.size < 60 ? key.size : 60);

	if (misplaced_key(parser, section, key))
		return;
	const char *near = lx_near_word(key, words, words_of(section, words, sizeof(words) / sizeof(*words)));
	const char *kind = near ? NULL : near_kind(section, key);

	lx_complain(parser, key, "unknown key '%.*s'%s%s%s%s%s", size, key.text, near || kind ? " (did you mean '" : "",
		    kind ? lx_domain_info(section->domain)->name : "", kind ? "." : "", kind ? kind : near ? near : "",
		    near || kind ? "'?)" : "");
}

static bool set_punits(struct lx_parser *parser, struct lx_section *section, uint32_t domain, struct lx_piece name,
		       struct lx_piece value)
{
	const struct lx_domain_info *info = lx_domain_info(domain);

	for (int kind = 0; info->punits[kind]; kind++)
		if (lx_piece_is(name, info->punits[kind])) {
			lx_parse_punits(parser, value, &section->punits[kind]);
			return true;
		}
	return false;
}

static void set_mode(struct lx_parser *parser, struct lx_section *section, struct lx_piece value)
{
	char message[256];
	int mode;

	if (lx_mode_read(value, &mode, message, sizeof(message)))
		section->mode = (struct lx_value){mode, parser->line};
	else
		lx_complain(parser, value, "%s", message);
}

/* In the section at hand, of whose targets all are of one kind. */
static void set_key(struct lx_parser *parser, struct lx_piece key, struct lx_piece value)
{
	struct lx_section *section = parser->targets[0];
	struct lx_piece name = key;
	int domain = take_domain(&name), window = domain < 0 ? window_key_of(key) : -1, bit = -1;
	bool windows = section->kind != LX_SECTION_DOMAIN && section->kind != LX_SECTION_PUNIT, on;

	if (section->kind == LX_SECTION_DOMAIN && domain < 0 && lx_piece_is(key, "trace_mode")) {
		set_mode(parser, section, value);
		return;
	}
	if (windows && window >= 0) {
		set_window_key(parser, (enum window_key)window, value);
		return;
	}
	if (section->kind == LX_SECTION_DOMAIN && domain == (int)section->domain &&
	    set_punits(parser, section, section->domain, name, value))
		return;
	for (size_t i = 0; domain == -1 && section->kind != LX_SECTION_LEXGION && i < parser->target_count; i++)
		if (switch_of(parser->targets[i]->domain, name) >= 0)
			domain = (int)parser->targets[i]->domain;
	for (int i = 0; domain == -1 && section->kind == LX_SECTION_LEXGION && i < LX_RULED_DOMAINS; i++)
		if (switch_of((uint32_t)i, name) >= 0)
			domain = i;
	if (domain >= 0)
		bit = switch_of((uint32_t)domain, name);
	if (bit < 0) {
		unknown_key(parser, section, key);
		return;
	}
	bool fits = section->kind == LX_SECTION_LEXGION;

	for (size_t i = 0; i < parser->target_count; i++)
		fits |= parser->targets[i]->domain == (uint32_t)domain;
	if (!fits) {
		lx_complain(parser, key, "'%.*s' is of another domain than the section", (int)(key.size < 60 ? key.size : 60),
			    key.text);
		return;
	}
	if (!lx_parse_switch(parser, value, &on))
		return;
	for (size_t i = 0; i < parser->target_count; i++)
		if (parser->targets[i]->kind == LX_SECTION_LEXGION || parser->targets[i]->domain == (uint32_t)domain)
			set_switch(parser, parser->targets[i], (uint32_t)domain, bit, on);
}

void lx_parse_key(struct lx_parser *parser, struct lx_piece line)
{
	const char *sign = memchr(line.text, '=', line.size);
	struct lx_piece key = {line.text, sign ? (size_t)(sign - line.text) : line.size}, value;

	if (parser->place == LX_IN_BAD_SECTION)
		return; /* its header was reported */
	if (!sign) {
		lx_complain(parser, line, "neither a section '[…]' nor 'key = value'");
		return;
	}
	key = lx_piece_trim(key);
	value = lx_piece_trim((struct lx_piece){sign + 1, line.size - (size_t)(sign - line.text) - 1});
	if (key.size == 0)
		lx_complain(parser, line, "a key is missing before '='");
	else if (parser->place == LX_IN_NOTHING)
		lx_complain(parser, key, "this key stands in no section");
	else if (parser->place == LX_IN_REMOVED)
		lx_complain(parser, key, "a section that is removed has no keys");
	else if (parser->place == LX_IN_KNOBS)
		set_knob(parser, key, value);
	else if (value.size == 0)
		lx_complain(parser, key, "'%.*s' has no value", (int)(key.size < 60 ? key.size : 60), key.text);
	else
		set_key(parser, key, value);
}
