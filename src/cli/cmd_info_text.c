/* info for people. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/cmd_info.h"
#include "cli/doubts.h"
#include "cli/open_run.h"
#include "cli/table.h"

#define LINE_SIZE 1024
#define NAMES 12 /* columns of a fact's name and the blanks after it */
#define LEFT 50  /* columns of the left fact of a line */
#define PAIR 130 /* a terminal as wide as this has two facts on a line */

double lx_info_duration(const struct lx_process *process)
{
	const struct lx_state *state = &process->state;
	uint64_t from = state->start.ticks ? state->start.ticks : process->first;
	uint64_t to = state->end.ticks > from ? state->end.ticks : process->last;

	if (!state->end.ticks && process->row_count && from + lx_process_counted(process) > to)
		to = from + lx_process_counted(process);
	return to > from ? (double)(to - from) * process->ns_per_tick : 0;
}

uint64_t lx_info_packet_events(const struct lx_packet_ref *packet)
{
	struct lx_cursor cursor;
	struct lx_event event;
	uint64_t events = 0;

	if (packet->header->events)
		return packet->header->events;
	for (lx_cursor_start(&cursor, packet); lx_cursor_next(&cursor, &event);)
		events++;
	return events;
}

static const char *key_of(const struct lx_process *process, enum lx_process_key key)
{
	return process->key[key] ? process->key[key] : "?";
}

/* On a terminal a long text goes on below itself; returns the columns of its last line. */
static size_t print_wrapped(const struct lx_output *out, const char *text)
{
	size_t room = out->width > 2 * NAMES ? out->width - NAMES : 0;

	while (room && lx_text_width(text) > room) {
		size_t size = lx_text_fit(text, room), at = size;

		while (at > 0 && text[at] != ' ')
			at--;
		if (at == 0)
			at = size;
		fprintf(out->file, "%.*s\n%*s", (int)at, text, NAMES, "");
		text += at + strspn(text + at, " ");
	}
	fputs(text, out->file);
	return lx_text_width(text);
}

void lx_info_fact(const struct lx_info *info, const char *name, const char *text, bool ends)
{
	const struct lx_output *out = &info->out;
	size_t width;

	fprintf(out->file, "%s%-10s%s  ", lx_style(out, LX_DIM), name, lx_style_end(out, LX_DIM));
	width = print_wrapped(out, text);
	if (ends || (out->width && out->width < PAIR))
		putc('\n', out->file);
	else
		fprintf(out->file, "%*s", width < LEFT ? (int)(LEFT - width) : 2, "");
}

/* One line of a terminal: commands may be very long. */
static void say_command(const struct lx_info *info, const char *command)
{
	size_t size = strlen(command) + 16;
	char *cut = info->out.width > 2 * NAMES ? malloc(size) : NULL;

	if (cut)
		lx_text_cut_middle(cut, size, command, info->out.width - NAMES);
	lx_info_fact(info, "program", cut ? cut : command, true);
	free(cut);
}

static void say_program(const struct lx_info *info, const struct lx_process *process)
{
	char text[LINE_SIZE], number[LX_NUMBER_SIZE], ended[16];
	time_t second = (time_t)(process->state.start.realtime / 1000000000);
	struct tm parts;

	say_command(info, lx_functions_program(&info->pass.functions, process)->command);
	if (process->key[LX_KEY_python])
		snprintf(text, sizeof(text), "%s, %s", process->key[LX_KEY_python], key_of(process, LX_KEY_executable));
	else
		snprintf(text, sizeof(text), "none");
	lx_info_fact(info, "python", text, false);
	if (gmtime_r(&second, &parts) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ".%03u UTC",
			 (unsigned)(process->state.start.realtime / 1000000 % 1000));
	lx_info_fact(info, "started", text, true);

	lx_process_ended(process, ended, sizeof(ended));
	snprintf(text, sizeof(text), "%s%s%s %s", strncmp(ended, "status", 6) == 0 ? "exit " : "",
		 process->killed ? "without an exit (os._exit, exec or a signal)" : ended, process->running ? ", read up to" : " after",
		 lx_format_seconds(number, sizeof(number), lx_info_duration(process)));
	lx_info_fact(info, "ended", text, false);
	lx_format_bytes(text, sizeof(text), info->bytes);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s",
		 lx_format_plural(number, sizeof(number), info->files, "file"));
	lx_info_fact(info, "folder", text, true);
}

static void say_host(const struct lx_info *info, const struct lx_process *process)
{
	char text[LINE_SIZE], number[LX_NUMBER_SIZE];
	const char *cpus = key_of(process, LX_KEY_cpus);

	snprintf(text, sizeof(text), "%s, %s, %s CPU%s", key_of(process, LX_KEY_host), key_of(process, LX_KEY_system), cpus,
		 strcmp(cpus, "1") == 0 ? "" : "s");
	lx_info_fact(info, "host", text, false);
	lx_format_seconds(number, sizeof(number), info->clock_error);
	if (process->state.clock_kind == LX_CLOCK_TSC)
		snprintf(text, sizeof(text), "TSC %.2f GHz, within %s of the system's over the run",
			 1 / process->ns_per_tick, number);
	else
		snprintf(text, sizeof(text), "monotonic, within %s of the system's over the run", number);
	lx_info_fact(info, "clock", text, true);
}

static void say_events(const struct lx_info *info, const struct lx_process *process)
{
	const struct lx_health *health = &info->health;
	char text[LINE_SIZE], number[LX_NUMBER_SIZE];
	unsigned order[LX_EV_COUNT], kinds = 0;

	lx_info_modes(process, text, sizeof(text) - sizeof(number));
	snprintf(text + strlen(text), sizeof(number), "; %s",
		 lx_format_plural(number, sizeof(number), health->threads, "thread"));
	lx_info_fact(info, "recorded", text, true);
	lx_format_count(text, sizeof(text), health->events);
	for (unsigned kind = 0; kind < LX_EV_COUNT; kind++) {
		unsigned at = kinds;

		if (!health->kinds[kind])
			continue;
		for (kinds++; at > 0 && health->kinds[order[at - 1]] < health->kinds[kind]; at--)
			order[at] = order[at - 1];
		order[at] = kind;
	}
	for (unsigned i = 0; i < kinds; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "   %s %s", lx_event_name(order[i]),
			 lx_format_count(number, sizeof(number), health->kinds[order[i]]));
		if (info->out.width && strlen(text) + 12 + 4 > info->out.width) { /* one line on a terminal */
			strcpy(text + used, "   …");
			break;
		}
	}
	lx_info_fact(info, "events", text, true);
}

static void say_doubts(const struct lx_info *info)
{
	const struct lx_health *health = &info->health;
	const struct lx_output *out = &info->out;
	char text[LX_DOUBTS_SIZE], number[LX_NUMBER_SIZE];

	if (!health->lost_total && !health->closed_lost && !health->dropped_ends) {
		lx_info_fact(info, "lost", "0", false);
		lx_info_fact(info, "repaired", "0", true);
	} else {
		fputs(lx_style(out, LX_RED), out->file);
		lx_info_fact(info, "lost", health->lost_total ? lx_doubts_lost(text, sizeof(text), health, info->pass.trace) + 5 : "0",
		     true);
		lx_doubts_repaired(text, sizeof(text), health);
		lx_info_fact(info, "repaired", *text ? text + strlen("Repaired: ") : "0", true);
		fputs(lx_style_end(out, LX_RED), out->file);
	}
	if (*lx_doubts_open(text, sizeof(text), health))
		lx_info_fact(info, "ends", text, true);
	if (health->torn)
		lx_info_fact(info, "torn", lx_format_plural(number, sizeof(number), health->torn, "stream"), true);
	for (const char *note = info->pass.trace->notes; note && *note;) {
		size_t size = strcspn(note, "\n");
		char line[LINE_SIZE];

		lx_escape(line, sizeof(line), note, size);
		if (size)
			lx_info_fact(info, "note", line, true);
		note += size + (note[size] == '\n');
	}
}

static double longest(const struct lx_trace *trace)
{
	double most = 0;

	for (size_t i = 0; i < trace->process_count; i++)
		most = fmax(most, lx_info_duration(&trace->processes[i]));
	return most;
}

static int print_processes(const struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	struct lx_table table = { 0 };
	struct lx_unit unit = lx_unit_for(longest(trace));
	char text[LX_NUMBER_SIZE], header[16];

	snprintf(header, sizeof(header), "time %s", unit.name);
	lx_table_column(&table, "process", LX_RIGHT);
	lx_table_column(&table, "parent", LX_RIGHT);
	lx_table_column(&table, "ended", LX_LEFT);
	lx_table_column(&table, header, LX_RIGHT);
	lx_table_column(&table, "threads", LX_RIGHT);
	lx_table_column(&table, "events", LX_RIGHT);
	lx_table_column(&table, "lost", LX_RIGHT);
	lx_table_column(&table, "command", LX_NAME);
	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];
		uint32_t threads = 0;

		if (process->blank)
			continue;

		for (size_t number = 0; number < process->thread_count; number++)
			threads += process->threads[number].tid != 0;
		lx_table_addf(&table, LX_PLAIN, "%u", process->state.pid);
		lx_table_addf(&table, LX_PLAIN, "%u", process->state.parent_pid);
		lx_table_add(&table, LX_PLAIN, lx_process_ended(process, text, sizeof(text)));
		lx_table_add(&table, LX_PLAIN, lx_format_in_unit(text, sizeof(text), unit, lx_info_duration(process)));
		lx_table_addf(&table, LX_PLAIN, "%u", threads);
		lx_table_add(&table, LX_PLAIN, lx_format_count(text, sizeof(text), info->pass.totals[i].events));
		lx_table_add(&table, process->lost_total ? LX_RED : LX_PLAIN,
			     lx_format_count(text, sizeof(text), process->lost_total));
		lx_table_add(&table, LX_BOLD, lx_functions_program(&info->pass.functions, process)->command);
	}
	return lx_table_print(&table, &info->out);
}

static void add_packet(struct lx_table *table, const struct lx_process *process, const struct lx_stream *stream,
		       const struct lx_packet_ref *packet)
{
	const struct lx_packet *header = packet->header;
	const struct lx_trace *trace = process->trace;
	char text[LX_NUMBER_SIZE];
	double from = lx_since_start(trace, lx_real_ns(process, header->timestamp_begin));
	double to = lx_since_start(trace, lx_real_ns(process, header->timestamp_end));

	lx_table_addf(table, LX_PLAIN, "%u", process->state.pid);
	lx_table_addf(table, LX_PLAIN, "%u", stream->number);
	lx_table_addf(table, LX_PLAIN, "%llu", (unsigned long long)header->packet_seq_num);
	lx_table_addf(table, LX_PLAIN, "%u", header->thread);
	lx_table_addf(table, LX_PLAIN, "%.6f", from / 1e9);
	lx_table_addf(table, LX_PLAIN, "%.6f", to / 1e9);
	lx_table_add(table, LX_PLAIN, lx_format_count(text, sizeof(text), lx_info_packet_events(packet)));
	lx_table_add(table, LX_PLAIN, lx_format_count(text, sizeof(text), header->packet_size / 8));
	lx_table_add(table, header->events_discarded ? LX_RED : LX_PLAIN,
		     lx_format_count(text, sizeof(text), header->events_discarded));
	lx_table_add(table, LX_PLAIN, packet->open ? "open" : "");
}

static int print_packets(const struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	struct lx_table table = { 0 };

	lx_table_column(&table, "process", LX_RIGHT);
	lx_table_column(&table, "stream", LX_RIGHT);
	lx_table_column(&table, "packet", LX_RIGHT);
	lx_table_column(&table, "thread", LX_RIGHT);
	lx_table_column(&table, "from s", LX_RIGHT);
	lx_table_column(&table, "to s", LX_RIGHT);
	lx_table_column(&table, "events", LX_RIGHT);
	lx_table_column(&table, "bytes", LX_RIGHT);
	lx_table_column(&table, "lost so far", LX_RIGHT);
	lx_table_column(&table, "", LX_LEFT);
	for (size_t i = 0; i < trace->process_count; i++)
		for (size_t s = 0; s < trace->processes[i].stream_count; s++)
			for (size_t n = 0; n < trace->processes[i].streams[s].packet_count; n++)
				add_packet(&table, &trace->processes[i], &trace->processes[i].streams[s],
					   &trace->processes[i].streams[s].packets[n]);
	return lx_table_print(&table, &info->out);
}

/* Are there packets that only lextrace reads? */
static bool needs_repair(const struct lx_process *process)
{
	for (size_t i = 0; i < process->stream_count; i++) {
		const struct lx_stream *stream = &process->streams[i];

		if (stream->torn || (stream->packet_count && stream->packets[stream->packet_count - 1].open))
			return true;
	}
	return false;
}

static void say_readers(const struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	char text[LINE_SIZE], folder[LINE_SIZE / 2];
	bool repair = false;

	for (size_t i = 0; i < trace->process_count; i++)
		repair = repair || needs_repair(&trace->processes[i]);
	lx_put_word(folder, sizeof(folder), trace->path);
	snprintf(text, sizeof(text), "lextrace report | view | export --to perfetto;  %s%s%s",
		 repair ? "lextrace repair " : "", repair ? folder : "",
		 repair ? ", then babeltrace2" : "babeltrace2 reads the folder as it is");
	lx_info_fact(info, "read it", text, true);
}

int lx_info_text(struct lx_info *info)
{
	const struct lx_process *process = &info->pass.trace->processes[0];
	const struct lx_output *out = &info->out;
	int error;

	fprintf(out->file, "%s%s%s\n", lx_style(out, LX_BOLD), lx_run_name(info->pass.trace),
		lx_style_end(out, LX_BOLD));
	say_program(info, process);
	say_host(info, process);
	say_events(info, process);
	lx_info_say_control(info);
	say_doubts(info);
	say_readers(info);
	fputs("\n", out->file);
	error = print_processes(info);
	if (!error && info->packets) {
		fputs("\n", out->file);
		error = print_packets(info);
	}
	return error;
}
