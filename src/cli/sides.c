#include "cli/sides.h"

#include <errno.h>
#include <string.h>

#include "cli/configured.h"
#include "decide/rules.h"

/* The sides that a pair of switches leaves out; none where both are off, as nothing is written then. */
static uint8_t left_out(uint64_t switches, unsigned begin, unsigned end)
{
	bool begins = switches >> begin & 1, ends = switches >> end & 1;

	return begins == ends ? 0 : begins ? LX_SIDE_NO_END : LX_SIDE_NO_BEGIN;
}

#define NO_C_CALLS 0x80u /* for a while: the function has none, so those inside of it are of callers that are not recorded */

/* Sides of one thread. */
struct table {
	uint8_t *bits;      /* by lexgion id, then one for unknown ids and callers */
	bool any, c_calls;  /* some bit is set; some function has C calls */
	uint8_t c_common;   /* the sides that C calls of all functions have in common */
};

static void decide(struct table *table, const struct lx_rules *rules, const struct lx_process *process, size_t id,
		   const uint32_t punits[LX_PUNIT_KINDS_MAX])
{
	const struct lx_lexgion *lexgion = &process->lexgions[id];
	const struct lx_subject subject = { lexgion->domain,	lexgion->name,	    lexgion->file,
					    lexgion->name_size, lexgion->file_size, lexgion->line };
	uint64_t switches;

	if (!lexgion->defined || lexgion->domain > LX_DOMAIN_USER || lexgion->flags & (LX_LEXGION_C | LX_LEXGION_IMPORT))
		return;
	switches = lx_rules_switches(rules, lx_rules_section(rules, &subject), lexgion->domain, punits);
	if (lexgion->domain == LX_DOMAIN_USER) {
		table->bits[id] = left_out(switches, LX_REGION_START, LX_REGION_RETURN);
	} else {
		uint8_t c_calls = left_out(switches, LX_C_START, LX_C_RETURN);

		table->bits[id] = (uint8_t)(left_out(switches, LX_PY_START, LX_PY_RETURN) | c_calls << LX_SIDE_C);
		if (switches & (1u << LX_C_START | 1u << LX_C_RETURN)) {
			table->c_common = table->c_calls ? table->c_common & c_calls : c_calls;
			table->c_calls = true;
		} else {
			table->bits[id] |= NO_C_CALLS;
		}
	}
}

static int make_table(struct table *table, const struct lx_rules *rules, const struct lx_process *process, uint32_t thread)
{
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = { thread, LX_NO_PUNIT, LX_NO_PUNIT };

	*table = (struct table){ .bits = lx_trace_alloc(process->trace, process->lexgion_count + 1) };
	if (!table->bits)
		return -ENOMEM;
	for (size_t id = 1; id < process->lexgion_count; id++)
		decide(table, rules, process, id, punits);
	table->bits[process->lexgion_count] = NO_C_CALLS;
	for (size_t id = 0; id <= process->lexgion_count; id++) {
		if (table->bits[id] & NO_C_CALLS)
			table->bits[id] = (uint8_t)((table->bits[id] & ~NO_C_CALLS) | table->c_common << LX_SIDE_C);
		table->any = table->any || table->bits[id];
	}
	return 0;
}

/* Are the switches of some section not the same on all threads? */
static bool varies(const struct lx_rules *rules)
{
	for (uint32_t domain = LX_DOMAIN_PYTHON; domain <= LX_DOMAIN_USER; domain++) {
		if (lx_rules_switches_vary(rules, NULL, domain))
			return true;
		for (size_t i = 0; i < rules->section_count; i++) {
			const struct lx_section *section = rules->sections[i];

			if (section->kind == LX_SECTION_NAMED && section->domain == domain &&
			    lx_rules_switches_vary(rules, section, domain))
				return true;
		}
	}
	return false;
}

/* The tables of all threads in `sides`; *any: they say something. */
static int make_sides(struct lx_sides *sides, const struct lx_rules *rules, struct lx_process *process, bool *any)
{
	bool varied = varies(rules);
	struct table table = { NULL };

	sides->threads = lx_trace_alloc(process->trace, (process->thread_count + 1) * sizeof(*sides->threads));
	if (!sides->threads)
		return -ENOMEM;
	for (size_t number = 0; number < process->thread_count; number++) {
		if ((varied && process->threads[number].tid) || !table.bits)
			if (make_table(&table, rules, process, (uint32_t)number) < 0)
				return -ENOMEM;
		sides->threads[number] = table.bits;
		*any = *any || table.any;
	}
	return 0;
}

static int add(struct lx_process *process, const struct lx_config *config, bool *any)
{
	struct lx_sides *sides = &process->sides[process->side_count];
	struct lx_rules *rules = lx_config_rules(config);
	int error = rules ? make_sides(sides, rules, process, any) : -ENOMEM;

	sides->from = config->from;
	process->side_count++;
	lx_rules_free(rules);
	return error;
}

/* Who writes no name of a switch has all events in pairs. */
static bool may_leave_out(const struct lx_process *process)
{
	static const char *const parts[] = { "_start", "_return", "region_" };

	for (size_t n = 0; n <= process->earlier_count; n++) {
		const struct lx_config *config = n < process->earlier_count ? &process->earlier[n] : &process->config;

		for (size_t i = 0; config->text && i < sizeof(parts) / sizeof(parts[0]); i++)
			if (memmem(config->text, config->size, parts[i], strlen(parts[i])))
				return true;
	}
	return false;
}

static int find(struct lx_process *process)
{
	bool any = false;
	int error = 0;

	if (!process->config.text || !may_leave_out(process))
		return 0;
	process->sides = lx_trace_alloc(process->trace, (process->earlier_count + 1) * sizeof(*process->sides));
	if (!process->sides)
		return -ENOMEM;
	for (size_t i = 0; i < process->earlier_count && !error; i++)
		error = add(process, &process->earlier[i], &any);
	if (!error)
		error = add(process, &process->config, &any);
	if (error || !any)
		process->side_count = 0;
	return error;
}

int lx_sides_find(struct lx_trace *trace)
{
	int error = 0;

	for (size_t i = 0; i < trace->process_count && !error; i++)
		error = find(&trace->processes[i]);
	return error;
}
