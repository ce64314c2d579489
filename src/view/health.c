#include "view/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lx_loss_text(enum lx_loss cause)
{
	static const char *const texts[] = {
#define LX_X(number, NAME, field, text) [number] = text,
		LX_LOSSES(LX_X)
#undef LX_X
	};

	return texts[cause];
}

const char *lx_loss_key(enum lx_loss cause)
{
	static const char *const fields[] = {
#define LX_X(number, NAME, field, text) [number] = field,
		LX_LOSSES(LX_X)
#undef LX_X
	};

	return fields[cause] + strlen("lost_");
}

char *lx_process_ended(const struct lx_process *process, char *out, size_t size)
{
	if (process->blank)
		snprintf(out, size, "-");
	else if (process->running)
		snprintf(out, size, "running");
	else if (process->killed)
		snprintf(out, size, "no exit");
	else if (process->state.ended == 2)
		snprintf(out, size, "stopped");
	else
		snprintf(out, size, "status %d", process->state.exit_status & 255);
	return out;
}

static void add_losses(struct lx_health *health, const struct lx_process *process)
{
	for (unsigned cause = 0; cause < LX_LOSS_COUNT; cause++) {
		uint64_t ticks = process->state.lost_at[cause];
		uint64_t at = ticks ? lx_real_ns(process, ticks) : 0;

		health->lost[cause] += process->lost[cause];
		if (at && process->lost[cause] && (!health->lost_at[cause] || at < health->lost_at[cause]))
			health->lost_at[cause] = at;
	}
	health->lost_total += process->lost_total;
}

static void add_streams(struct lx_health *health, const struct lx_process *process)
{
	for (size_t i = 0; i < process->stream_count; i++) {
		if (!process->streams[i].torn)
			continue;
		if (!health->torn++) {
			health->torn_process = process;
			health->torn_stream = process->streams[i].number;
		}
	}
}

static void add_totals(struct lx_health *health, const struct lx_process *process, const struct lx_spans_totals *totals)
{
	health->events += totals->events;
	health->calls += totals->begins;
	health->closed_open += totals->closed_open;
	health->closed_lost += totals->closed_lost;
	health->dropped_ends += totals->dropped_ends;
	for (unsigned kind = 0; kind < LX_EV_COUNT; kind++)
		health->kinds[kind] += totals->kinds[kind];
	if (totals->closed_open) {
		if (!health->open_processes++)
			health->open = process;
		health->open_killed += process->killed;
	}
}

static void add_rows(struct lx_health *health, const struct lx_pass *pass, const struct lx_process *process)
{
	for (size_t i = 0; i < process->row_count; i++)
		if (process->rows[i].calls && lx_pass_has_thread(pass, &process->threads[process->rows[i].thread]))
			health->counted += process->rows[i].calls;
	health->bounded += process->state.bounded;
}

uint64_t lx_process_counted(const struct lx_process *process)
{
	uint64_t *busy = calloc(process->thread_count + 1, sizeof(*busy)), most = 0;

	for (size_t i = 0; busy && i < process->row_count; i++) {
		uint64_t *now = &busy[process->rows[i].thread];

		*now += process->rows[i].exclusive;
		most = *now > most ? *now : most;
	}
	free(busy);
	return most;
}

/* A process starts before its first event and ends after its last one; a killed one left no end. */
static void add_duration(const struct lx_process *process, uint64_t *start, uint64_t *end)
{
	const struct lx_state *state = &process->state;
	uint64_t first = lx_real_ns(process, process->first), last = lx_real_ns(process, process->last);

	if (state->start.realtime && (state->start.realtime < first || !process->first))
		first = state->start.realtime;
	if (state->end.realtime > last)
		last = state->end.realtime;
	if (!state->end.realtime && state->start.ticks && process->row_count) {
		uint64_t counted = lx_real_ns(process, state->start.ticks + lx_process_counted(process));

		last = counted > last ? counted : last;
	}
	*start = first < *start ? first : *start;
	*end = last > *end ? last : *end;
}

void lx_health_check(struct lx_health *health, const struct lx_pass *pass)
{
	uint64_t start = UINT64_MAX, end = 0;

	*health = (struct lx_health){ 0 };
	for (size_t i = 0; i < pass->trace->process_count; i++) {
		const struct lx_process *process = &pass->trace->processes[i];

		if (!lx_pass_has_process(pass, process))
			continue;
		if (process->blank) {
			health->blank++;
			continue;
		}
		health->processes++;
		add_duration(process, &start, &end);
		add_rows(health, pass, process);
		health->killed += process->killed;
		health->running += process->running;
		for (size_t number = 0; number < process->thread_count; number++)
			health->threads += process->threads[number].tid && lx_pass_has_thread(pass, &process->threads[number]);
		add_losses(health, process);
		add_streams(health, process);
		add_totals(health, process, &pass->totals[i]);
	}
	health->duration = end > start ? end - start : 0;
	health->complete = !health->lost_total && !health->torn && !health->closed_lost && !health->dropped_ends &&
			   !health->running && !health->blank && !pass->trace->damaged;
}
