/* The line that ends a run whose program was our child. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/output.h"
#include "cli/run.h"
#include "transform/trace.h"

static uint64_t events_of(const struct lx_process *process)
{
	uint64_t events = 0;

	for (size_t i = 0; i < process->stream_count; i++) {
		for (size_t j = 0; j < process->streams[i].packet_count; j++) {
			const struct lx_packet_ref *packet = &process->streams[i].packets[j];
			struct lx_cursor cursor;
			struct lx_event event;

			events += packet->header->events;
			if (packet->header->events) /* an open packet does not know */
				continue;
			lx_cursor_start(&cursor, packet);
			while (lx_cursor_next(&cursor, &event))
				events++;
		}
	}
	return events;
}

static uint64_t bytes_of(const struct lx_process *process)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < process->stream_count; i++)
		for (size_t j = 0; j < process->streams[i].packet_count; j++)
			bytes += process->streams[i].packets[j].header->content_size / 8;
	return bytes;
}

/* "none lost", or "LOST 12 (disk full at 2.81 s)". */
static void losses(const struct lx_trace *trace, char *out, size_t size)
{
	static const char *const texts[] = {
#define LX_X(number, NAME, field, text) [number] = text,
		LX_LOSSES(LX_X)
#undef LX_X
	};
	char count[LX_NUMBER_SIZE], moment[LX_NUMBER_SIZE];
	uint64_t lost = 0, first_at = 0;
	unsigned cause = 0;

	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];

		lost += process->lost_total;
		for (unsigned j = 0; j < LX_LOSS_COUNT; j++) {
			uint64_t at = process->state.lost_at[j] ? lx_real_ns(process, process->state.lost_at[j]) : 0;

			if (at && (!first_at || at < first_at)) {
				first_at = at;
				cause = j;
			}
		}
	}
	if (!lost)
		snprintf(out, size, "none lost");
	else if (!first_at)
		snprintf(out, size, "LOST %s", lx_format_count(count, sizeof(count), lost));
	else
		snprintf(out, size, "LOST %s (%s at %s)", lx_format_count(count, sizeof(count), lost), texts[cause],
			 lx_format_seconds(moment, sizeof(moment),
					   first_at > trace->first ? (double)(first_at - trace->first) : 0));
}

/*
 * " (2 ended without an exit, read as they are)" or "". How the program itself ended is known: its exit status is no news,
 * nor that it became another program by exec; a signal is.
 */
static void without_exit(const struct lx_trace *trace, int child, int status, char *out, size_t size)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
	size_t others = 0;
	bool program = false;

	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];

		if (!process->killed || process->blank)
			continue;
		if (process->state.pid == (uint32_t)child)
			program = true;
		else
			others++;
	}
	out[0] = '\0';
	if (program && name && !others)
		snprintf(out, size, " (killed by SIG%s, read as it is)", name);
	else if (program && name)
		snprintf(out, size, " (the program killed by SIG%s, %zu other%s ended without an exit, read as they are)", name,
			 others, others == 1 ? "" : "s");
	else if (others)
		snprintf(out, size, " (%zu ended without an exit, read as %s)", others, others == 1 ? "it is" : "they are");
}

static size_t blanks_of(const struct lx_trace *trace)
{
	size_t blanks = 0;

	for (size_t i = 0; i < trace->process_count; i++)
		blanks += trace->processes[i].blank;
	return blanks;
}

void lx_run_closing_line(const struct lx_run_folder *folder, int child, int status)
{
	char message[512], count[LX_NUMBER_SIZE], processes[LX_NUMBER_SIZE], time[LX_NUMBER_SIZE], size[LX_NUMBER_SIZE];
	char lost[160], ends[160];
	uint64_t events = 0, bytes = 0, began;
	struct lx_trace *trace;

	if (lx_trace_open(folder->absolute, &trace, message, sizeof(message)) != 0) {
		lx_error("nothing was traced: no Python was started, or one with -I, -E, -S or an empty environment, or one that "
			 "lextrace has no extension for");
		return;
	}
	for (size_t i = 0; i < trace->process_count; i++) {
		events += events_of(&trace->processes[i]);
		bytes += bytes_of(&trace->processes[i]);
	}
	began = trace->process_count - blanks_of(trace);
	losses(trace, lost, sizeof(lost));
	without_exit(trace, child, status, ends, sizeof(ends));
	lx_error("%s event%s of %s in %s, %s, %s%s%s: lextrace report %s", lx_format_count(count, sizeof(count), events),
		 events == 1 ? "" : "s", lx_format_plural(processes, sizeof(processes), began, "process"),
		 lx_format_seconds(time, sizeof(time), (double)(trace->last - trace->first)),
		 lx_format_bytes(size, sizeof(size), bytes), lost, ends,
		 trace->processes[0].state.c_calls_off ? ", C calls off" : "", folder->shown);
	lx_trace_close(trace);
}
