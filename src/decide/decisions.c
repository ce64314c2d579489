/* Values in force: which section's key counts. */
#include <string.h>

#include "decide/own.h"

#define C_TRACES_DEFAULT 1000 /* of a window that is finite, where the C calls come from a default */

static const struct lx_own_rules *own(const struct lx_rules *rules)
{
	return (const struct lx_own_rules *)rules;
}

const struct lx_section *lx_rules_domain(const struct lx_rules *rules, uint32_t domain)
{
	return own(rules)->domains[domain];
}

const char *lx_knob_name(const struct lx_own_rules *rules, uint32_t number)
{
	return rules->rules.knobs[number].name;
}

const struct lx_knob *lx_rules_knob(const struct lx_rules *rules, const char *name)
{
	uint32_t at = lx_names_find(own(rules), &own(rules)->knobs, lx_knob_name, name, strlen(name));

	return at ? &rules->knobs[at - 1] : NULL;
}

/* ---- Windows ---- */

static bool says(const struct lx_section *section, enum lx_window_key key)
{
	const struct lx_window_keys *keys = &section->window;

	switch (key) {
	case LX_KEY_STARTS_AT:
		return keys->starts_at.line;
	case LX_KEY_MAX_TRACES:
		return keys->max_traces.line;
	case LX_KEY_RATE:
		return keys->rate.line;
	case LX_KEY_MAX_C_TRACES:
		return keys->max_c_traces.line;
	case LX_KEY_TIMEOUT:
		return keys->timeout_line;
	case LX_KEY_TRIGGER:
		return keys->trigger.line;
	case LX_KEY_ACTION:
		return keys->action_line;
	}
	return false;
}

const struct lx_section *lx_rules_window_source(const struct lx_rules *rules, const struct lx_section *section,
						enum lx_window_key key)
{
	const struct lx_section *of_domain = own(rules)->lexgion_domains[section->domain], *of_all = own(rules)->lexgion;

	if (says(section, key))
		return section;
	if (section->kind == LX_SECTION_NAMED && section->from_default && says(of_domain, key))
		return of_domain;
	/* A named section takes the numbers of [Lexgion.default], and no action unless it says so. */
	if (key == LX_KEY_ACTION && section->kind == LX_SECTION_NAMED && !section->from_default && !section->from_all)
		return NULL;
	return says(of_all, key) ? of_all : NULL;
}

static int64_t number(const struct lx_rules *rules, const struct lx_section *section, enum lx_window_key key,
		      int64_t otherwise)
{
	const struct lx_section *source = lx_rules_window_source(rules, section, key);

	if (!source)
		return otherwise;
	switch (key) {
	case LX_KEY_STARTS_AT:
		return source->window.starts_at.number;
	case LX_KEY_MAX_TRACES:
		return source->window.max_traces.number;
	case LX_KEY_RATE:
		return source->window.rate.number;
	case LX_KEY_MAX_C_TRACES:
		return source->window.max_c_traces.number;
	default:
		return source->window.trigger.number;
	}
}

/* Whether this very section switches C calls on. */
static bool says_c_on(const struct lx_section *section)
{
	const struct lx_switches *switches = section->switches;

	return switches && section->domain == LX_DOMAIN_PYTHON && section->kind != LX_SECTION_LEXGION &&
	       switches->said & switches->on & 1u << LX_C_START;
}

void lx_rules_window(const struct lx_rules *rules, const struct lx_section *section, struct lx_window *out)
{
	const struct lx_section *timeout = lx_rules_window_source(rules, section, LX_KEY_TIMEOUT);
	const struct lx_section *action = lx_rules_window_source(rules, section, LX_KEY_ACTION);

	out->starts_at = (uint64_t)number(rules, section, LX_KEY_STARTS_AT, 0);
	out->max_traces = number(rules, section, LX_KEY_MAX_TRACES, -1);
	out->rate = (uint64_t)number(rules, section, LX_KEY_RATE, 1);
	out->max_c_traces = number(rules, section, LX_KEY_MAX_C_TRACES,
				   out->max_traces < 0 || says_c_on(section) ? -1 : C_TRACES_DEFAULT);
	out->timeout = timeout ? timeout->window.timeout : 0;
	out->trigger = (enum lx_trigger)number(rules, section, LX_KEY_TRIGGER, LX_TRIGGER_FIRST);
	out->action = action ? action->window.action : NULL;
	out->group = action && action->window.action ? action->group : section->group;
}

/* ---- Sets of punits ---- */

bool lx_punits_hold(const struct lx_punits *set, uint32_t punit)
{
	size_t low = 0, high = set->count;

	if (!set->said)
		return true;
	if (punit == LX_NO_PUNIT)
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (set->ranges[middle].last < punit)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->count && set->ranges[low].first <= punit;
}

bool lx_section_admits(const struct lx_section *section, const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
		if (!lx_punits_hold(&section->punits[kind], punits[kind]))
			return false;
	return true;
}

bool lx_rules_domain_admits(const struct lx_rules *rules, uint32_t domain, const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	bool limited = false, within = false;

	for (size_t i = 0; i < own(rules)->punit_count; i++) {
		const struct lx_section *section = own(rules)->punits[i];

		if (section->domain != domain)
			continue;
		limited = true;
		within |= lx_section_admits(section, punits);
	}
	return (!limited || within) && lx_section_admits(own(rules)->domains[domain], punits);
}

/* ---- Event switches ---- */

static const struct lx_switches *switches_of(const struct lx_section *section, uint32_t domain)
{
	if (!section || !section->switches)
		return NULL;
	if (section->kind == LX_SECTION_LEXGION)
		return &section->switches[domain];
	return section->domain == domain ? section->switches : NULL;
}

/* The sections that have a say, the strongest first: at most 5 and the punit sections. */
static const struct lx_section *switch_source(const struct lx_rules *rules, const struct lx_section *section,
					      uint32_t domain, uint32_t bit, const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	const struct lx_section *chain[3] = {NULL, NULL, NULL};
	const struct lx_section *of_domain = own(rules)->lexgion_domains[domain], *of_all = own(rules)->lexgion;
	const uint64_t mask = 1ull << bit;

	if (section && section->kind == LX_SECTION_NAMED) {
		chain[0] = section;
		chain[1] = section->from_default ? of_domain : NULL;
		chain[2] = section->from_default || section->from_all ? of_all : NULL;
	} else if (section && section->kind == LX_SECTION_LEXGION_DOMAIN) {
		chain[0] = section;
		chain[1] = of_all;
	}
	for (int i = 0; i < 3; i++) {
		const struct lx_switches *switches = switches_of(chain[i], domain);

		if (switches && switches->said & mask)
			return chain[i];
	}
	for (size_t i = own(rules)->punit_count; i-- > 0;) {
		const struct lx_section *limited = own(rules)->punits[i];
		const struct lx_switches *switches = switches_of(limited, domain);

		if (switches && switches->said & mask && lx_section_admits(limited, punits))
			return limited;
	}
	const struct lx_switches *switches = switches_of(own(rules)->domains[domain], domain);

	return switches && switches->said & mask ? own(rules)->domains[domain] : NULL;
}

const struct lx_section *lx_rules_switch_source(const struct lx_rules *rules, const struct lx_section *section,
						uint32_t domain, uint32_t bit, const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	return switch_source(rules, section, domain, bit, punits);
}

uint64_t lx_rules_switches(const struct lx_rules *rules, const struct lx_section *section, uint32_t domain,
			   const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	const struct lx_switch_info *info = lx_domain_info(domain)->switches;
	uint64_t on = 0;

	for (uint32_t bit = 0; info[bit].name; bit++) {
		const struct lx_section *source = switch_source(rules, section, domain, bit, punits);
		bool by_default = info[bit].on;

		if (domain == LX_DOMAIN_PYTHON && (bit == LX_C_START || bit == LX_C_RETURN))
			by_default = own(rules)->c_calls;
		if (source ? (switches_of(source, domain)->on >> bit & 1) != 0 : by_default)
			on |= 1ull << bit;
	}
	return on;
}

bool lx_rules_switches_vary(const struct lx_rules *rules, const struct lx_section *section, uint32_t domain)
{
	static const uint32_t nobody[LX_PUNIT_KINDS_MAX] = {LX_NO_PUNIT, LX_NO_PUNIT, LX_NO_PUNIT};

	for (size_t i = 0; i < own(rules)->punit_count; i++) {
		const struct lx_switches *switches = switches_of(own(rules)->punits[i], domain);

		for (uint32_t bit = 0; switches && bit < LX_SWITCHES_MAX; bit++) {
			if (!(switches->said >> bit & 1))
				continue;
			const struct lx_section *source = switch_source(rules, section, domain, bit, nobody);

			if (!source || source->kind == LX_SECTION_DOMAIN)
				return true;
		}
	}
	return false;
}
