#include "capture/meter.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 1024u

uint32_t lx_generation = 1;
uint32_t lx_rules_number = 1;
const struct lx_rules *lx_rules_now;

static struct lx_meter *chunks[LX_LEXGION_MAX / CHUNK + 1];

struct lx_meter *lx_meter_at(uint32_t id)
{
	struct lx_meter **chunk = &chunks[id / CHUNK];
	struct lx_meter *there = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);

	if (!there) {
		there = calloc(CHUNK, sizeof(*there));
		if (!there)
			return NULL;
		struct lx_meter *none = NULL;

		if (!__atomic_compare_exchange_n(chunk, &none, there, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			free(there);
			there = none;
		}
	}
	return &there[id % CHUNK];
}

void lx_meters_clear(void)
{
	for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++)
		if (chunks[i])
			memset(chunks[i], 0, CHUNK * sizeof(**chunks));
}

bool lx_window_is_finite(const struct lx_window *window)
{
	return window->max_traces >= 0 || window->timeout > 0;
}

static uint32_t traced_plan(const struct lx_meter *meter, uint32_t domain, uint64_t switches, bool vary)
{
	const struct lx_window *window = &meter->window;
	const uint64_t both = 1u << LX_PY_START | 1u << LX_PY_RETURN, c = 1u << LX_C_START | 1u << LX_C_RETURN;
	uint32_t plan = 0;

	if (domain == LX_DOMAIN_PYTHON && (switches & c || vary))
		plan |= LX_PLAN_C;
	if (window->max_traces == 0 || (!vary && !(switches & both) && !(plan & LX_PLAN_C)))
		return LX_PLAN_SLOW | LX_PLAN_NEVER;
	if (meter->limited || vary || lx_window_is_finite(window) || window->starts_at > 0 || window->rate != 1 ||
	    (switches & both) != both)
		return plan | LX_PLAN_SLOW;
	if (plan & LX_PLAN_C && ((switches & c) != c || window->max_c_traces >= 0))
		return plan | LX_PLAN_SLOW;
	return plan;
}

static void decide(struct lx_meter *meter, const struct lx_subject *subject, bool c_callable)
{
	static const uint32_t nobody[LX_PUNIT_KINDS_MAX] = {LX_NO_PUNIT, LX_NO_PUNIT, LX_NO_PUNIT};
	const struct lx_rules *rules = lx_rules_now;
	const struct lx_section *section = meter->section;

	if (meter->rules != lx_rules_number) {
		meter->rules = lx_rules_number;
		meter->section = section = lx_rules_section(rules, subject);
		lx_rules_window(rules, section, &meter->window);
		meter->limited = false;
		for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
			meter->limited |= section->punits[kind].said;
		meter->used_up = 0;
	}
	meter->checked = meter->checked_threads = 0;
	uint32_t mode = lx_mode(subject->domain);
	bool vary = lx_rules_switches_vary(rules, section, subject->domain);
	uint64_t switches = lx_rules_switches(rules, section, subject->domain, nobody);

	if (c_callable) /* it belongs to its caller; a window of its own it has only by name */
		meter->plan = mode == LX_MODE_MONITORING	     ? LX_PLAN_SLOW | LX_PLAN_COUNT
			      : section->kind != LX_SECTION_NAMED ? 0
			      : meter->window.max_traces == 0	     ? LX_PLAN_SLOW | LX_PLAN_NEVER
								     : LX_PLAN_SLOW;
	else if (mode == LX_MODE_MONITORING)
		meter->plan = LX_PLAN_SLOW | LX_PLAN_COUNT |
			      (traced_plan(meter, subject->domain, switches, vary) & LX_PLAN_C);
	else if (mode == LX_MODE_TRACING)
		meter->plan = traced_plan(meter, subject->domain, switches, vary);
	else
		meter->plan = LX_PLAN_SLOW | LX_PLAN_NEVER;
	meter->generation = lx_generation;
}

uint32_t lx_meter_plan(const struct lx_subject *subject, uint32_t word, bool c_callable)
{
	struct lx_meter *meter = lx_meter_at(LX_LEXGION_ID(word));

	if (!meter)
		return 0;
	lx_lock();
	if (meter->generation != lx_generation)
		decide(meter, subject, c_callable);
	lx_unlock();
	return meter->plan;
}
