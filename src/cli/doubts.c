#include "cli/doubts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open_run.h"
#include "cli/output.h"

static void __attribute__((format(printf, 3, 4))) add(char *out, size_t size, const char *format, ...)
{
	size_t used = strlen(out);
	va_list list;

	va_start(list, format);
	vsnprintf(out + used, size - used, format, list);
	va_end(list);
}

char *lx_doubts_lost(char *out, size_t size, const struct lx_health *health, const struct lx_trace *trace)
{
	const char *between = " (";
	char number[LX_NUMBER_SIZE];

	out[0] = '\0';
	if (!health->lost_total)
		return out;
	add(out, size, "LOST %s", lx_format_plural(number, sizeof(number), health->lost_total, "event"));
	for (unsigned cause = 0; cause < LX_LOSS_COUNT; cause++) {
		if (!health->lost[cause])
			continue;
		add(out, size, "%s%s", between, lx_loss_text(cause));
		if (health->lost[cause] != health->lost_total)
			add(out, size, " %s", lx_format_count(number, sizeof(number), health->lost[cause]));
		if (health->lost_at[cause])
			add(out, size, " at %s", lx_format_seconds(number, sizeof(number),
								   lx_since_start(trace, health->lost_at[cause])));
		between = ", ";
	}
	if (between[0] == ',')
		add(out, size, ")");
	return out;
}

char *lx_doubts_repaired(char *out, size_t size, const struct lx_health *health)
{
	const char *between = "Repaired: ";
	char number[LX_NUMBER_SIZE];

	out[0] = '\0';
	if (health->closed_lost) {
		add(out, size, "%s%s without an end closed with the caller", between,
		    lx_format_plural(number, sizeof(number), health->closed_lost, "call"));
		between = "; ";
	}
	if (health->dropped_ends)
		add(out, size, "%s%s without a begin left out", between,
		    lx_format_plural(number, sizeof(number), health->dropped_ends, "end"));
	return out;
}

char *lx_doubts_open(char *out, size_t size, const struct lx_health *health)
{
	char number[LX_NUMBER_SIZE];

	out[0] = '\0';
	if (health->closed_open)
		add(out, size, "%s open at the end", lx_format_plural(number, sizeof(number), health->closed_open, "call"));
	if (health->closed_open && health->open_processes == 1)
		add(out, size, ": process %u %s", health->open->state.pid,
		    health->open->killed ? LX_NO_EXIT : health->open->running ? "is running" : "stopped recording in them");
	else if (health->closed_open && health->open_killed)
		add(out, size, ": %s " LX_NO_EXIT,
		    lx_format_plural(number, sizeof(number), health->open_killed, "process"));
	if (health->blank)
		add(out, size, "%s%s began and recorded nothing", *out ? "; " : "",
		    lx_format_plural(number, sizeof(number), health->blank, "process"));
	return out;
}

void lx_say_torn(const struct lx_health *health, const struct lx_trace *trace)
{
	char streams[LX_NUMBER_SIZE], until[LX_NUMBER_SIZE], events[LX_NUMBER_SIZE + 4] = "";
	bool one = health->torn == 1;

	if (!health->torn)
		return;
	if (one)
		snprintf(streams, sizeof(streams), "stream %u-%u", health->torn_process->state.pid, health->torn_stream);
	else
		lx_format_plural(streams, sizeof(streams), health->torn, "stream");
	if (health->events) {
		strcpy(events, ", ");
		lx_format_plural(events + 2, sizeof(events) - 2, health->events, "event");
	}
	lx_error("%s: %s %s inside a packet: read up to %s%s (lextrace repair makes it whole)", lx_run_name(trace), streams,
		 one ? "ends" : "end", lx_format_seconds(until, sizeof(until), lx_since_start(trace, trace->last)), events);
}

int lx_say_no_match(struct lx_functions *functions, const char *pattern)
{
	uint32_t found[3];
	uint32_t count = lx_functions_near(functions, pattern, found, 3);
	char names[600] = "";

	for (uint32_t i = 0; i < count; i++)
		add(names, sizeof(names), "%s%s", i ? ", " : "", lx_function_name(functions, found[i]));
	if (count)
		lx_error("no function matches %s; near: %s", pattern, names);
	else
		lx_error("no function matches %s; lextrace report --top 0 lists all", pattern);
	return LX_STATUS_FAILED;
}
