/* What stands above and below every answer of report: the run, how far to trust it, what to type next. */
#include <string.h>

#include "cli/cmd_report.h"
#include "cli/configured.h"
#include "cli/doubts.h"
#include "cli/open_run.h"
#include "view/modes.h"

static const char *command_of(const struct lx_report *report)
{
	const struct lx_trace *trace = report->pass.trace;
	size_t first = 0;

	while (first + 1 < trace->process_count && !lx_pass_has_process(&report->pass, &trace->processes[first]))
		first++;
	return report->pass.functions.programs[first].command;
}

/* Sections of the configuration that fit nothing: most are misspelt. */
static void print_unmatched(const struct lx_report *report)
{
	const struct lx_output *out = &report->out;
	struct lx_unmatched *list;
	size_t count;

	lx_unmatched_find(&report->pass, &list, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(out->file, "%s%s:%u: %s matched nothing%s\n", lx_style(out, LX_YELLOW), list[i].file, list[i].line,
			list[i].title, lx_style_end(out, LX_YELLOW));
	lx_unmatched_free(list, count);
}

/* Losses and repairs in red, ends that are none in plain; nothing where there are none. */
static void print_doubts(const struct lx_report *report)
{
	const struct lx_trace *trace = report->pass.trace;
	char lost[LX_DOUBTS_SIZE], repaired[LX_DOUBTS_SIZE], open[LX_DOUBTS_SIZE], number[LX_NUMBER_SIZE];
	const struct lx_output *out = &report->out;
	FILE *file = out->file;

	lx_doubts_lost(lost, sizeof(lost), &report->health, trace);
	lx_doubts_repaired(repaired, sizeof(repaired), &report->health);
	lx_doubts_open(open, sizeof(open), &report->health);
	if (*lost || *repaired)
		fprintf(file, "%s%s%s%s%s%s\n", lx_style(out, LX_RED), lost, *lost ? ": times after that are missing." : "",
			*lost && *repaired ? "  " : "", repaired, lx_style_end(out, LX_RED));
	if (*open)
		fprintf(file, "%s\n", open);
	if (report->health.bounded)
		fprintf(file, "%s left out by max_c_traces\n",
			lx_format_plural(number, sizeof(number), report->health.bounded, "C call"));
	if (report->callers && report->health.counted)
		fprintf(file, "%s counted in MONITORING %s left out: who called whom is not known\n",
			lx_format_plural(number, sizeof(number), report->health.counted, "call"),
			report->health.counted == 1 ? "is" : "are");
	if (report->health.running)
		fprintf(file, "still running: read up to %s\n",
			lx_format_seconds(number, sizeof(number), lx_since_start(trace, trace->last)));
}

/* "1,204,118 calls counted (MONITORING)", "12 calls (8 counted in MONITORING)". */
static void print_calls(const struct lx_report *report, uint64_t calls)
{
	char number[LX_NUMBER_SIZE];
	FILE *file = report->out.file;

	fputs(lx_format_plural(number, sizeof(number), calls, "call"), file);
	if (report->counted == calls && calls)
		fputs(" counted (MONITORING)", file);
	else if (report->counted)
		fprintf(file, " (%s counted in MONITORING)", lx_format_count(number, sizeof(number), report->counted));
}

static void print_head(const struct lx_report *report, uint64_t calls, uint32_t functions)
{
	const struct lx_trace *trace = report->pass.trace;
	const struct lx_output *out = &report->out;
	char number[LX_NUMBER_SIZE];

	fprintf(out->file, "%s%s%s: %s\n", lx_style(out, LX_BOLD), lx_run_name(trace), lx_style_end(out, LX_BOLD),
		command_of(report));
	fprintf(out->file, "%s, ", lx_format_seconds(number, sizeof(number), (double)report->health.duration));
	fprintf(out->file, "%s, ", lx_format_plural(number, sizeof(number), report->health.processes, "process"));
	fprintf(out->file, "%s, ", lx_format_plural(number, sizeof(number), report->health.threads, "thread"));
	print_calls(report, calls);
	if (functions)
		fprintf(out->file, " of %s", lx_format_plural(number, sizeof(number), functions, "function"));
	fprintf(out->file, "%s\n", report->health.lost_total ? "" : ", none lost");
	print_doubts(report);
	print_unmatched(report);
	fputs("\n", out->file);
}

static void json_unmatched(struct lx_report *report)
{
	struct lx_json *js = &report->js;
	struct lx_unmatched *list;
	size_t count;

	lx_json_key(js, "sections_unmatched");
	lx_json_array(js);
	lx_unmatched_find(&report->pass, &list, &count);
	for (size_t i = 0; i < count; i++) {
		lx_json_object(js);
		lx_json_key(js, "file");
		lx_json_string(js, list[i].file);
		lx_json_key(js, "line");
		lx_json_u64(js, list[i].line);
		lx_json_key(js, "section");
		lx_json_string(js, list[i].title);
		lx_json_object_end(js);
	}
	lx_json_array_end(js);
	lx_unmatched_free(list, count);
}

static void json_losses(struct lx_report *report)
{
	const struct lx_health *health = &report->health;
	struct lx_json *js = &report->js;

	lx_json_key(js, "lost");
	lx_json_object(js);
	lx_json_key(js, "events");
	lx_json_u64(js, health->lost_total);
	for (unsigned cause = 0; cause < LX_LOSS_COUNT; cause++) {
		if (!health->lost[cause])
			continue;
		lx_json_key(js, lx_loss_key(cause));
		lx_json_u64(js, health->lost[cause]);
	}
	lx_json_object_end(js);
	lx_json_key(js, "repaired");
	lx_json_object(js);
	lx_json_key(js, "closed_at_last_event");
	lx_json_u64(js, health->closed_open);
	lx_json_key(js, "closed_with_caller");
	lx_json_u64(js, health->closed_lost);
	lx_json_key(js, "ends_left_out");
	lx_json_u64(js, health->dropped_ends);
	lx_json_key(js, "torn_streams");
	lx_json_u64(js, health->torn);
	lx_json_object_end(js);
}

static void json_head(struct lx_report *report, uint64_t calls, uint32_t functions)
{
	const struct lx_trace *trace = report->pass.trace;
	struct lx_json *js = &report->js;

	lx_json_init(js, report->out.file, true);
	lx_json_object(js);
	lx_json_key(js, "run");
	lx_json_string(js, trace->path);
	lx_json_key(js, "command");
	lx_json_string(js, command_of(report));
	lx_json_key(js, "complete");
	lx_json_bool(js, report->health.complete);
	lx_json_key(js, "duration_ns");
	lx_json_u64(js, report->health.duration);
	lx_json_key(js, "processes");
	lx_json_u64(js, report->health.processes);
	lx_json_key(js, "threads");
	lx_json_u64(js, report->health.threads);
	lx_json_key(js, "events");
	lx_json_u64(js, report->health.events);
	lx_json_key(js, "calls");
	lx_json_u64(js, calls);
	lx_json_key(js, "counted");
	lx_json_u64(js, report->counted);
	lx_json_key(js, "c_calls_left_out");
	lx_json_u64(js, report->health.bounded);
	if (functions) {
		lx_json_key(js, "functions_called");
		lx_json_u64(js, functions);
	}
	json_losses(report);
	json_unmatched(report);
}

static void say_empty(const struct lx_report *report)
{
	const struct lx_process *process = &report->pass.trace->processes[0];
	const struct lx_state *state = &process->state;
	char time[LX_NUMBER_SIZE], cause[LX_PLACE_SIZE];
	uint32_t mode = state->modes[LX_DOMAIN_PYTHON];

	fprintf(report->out.file, "%s: 0 events: the program ", lx_run_name(report->pass.trace));
	if (state->end.ticks > state->start.ticks)
		fprintf(report->out.file, "ended after %s",
			lx_format_seconds(time, sizeof(time),
					  (double)(state->end.ticks - state->start.ticks) * process->ns_per_tick));
	else
		fputs(process->running ? "is still running" : process->blank ? "began and recorded nothing" : LX_NO_EXIT,
		      report->out.file);
	if (mode != LX_MODE_TRACING && process->journal_count) {
		lx_mode_cause(&report->pass, process, LX_DOMAIN_PYTHON, cause, sizeof(cause));
		fprintf(report->out.file, " in %s%s%s%s", lx_mode_text(mode), *cause ? " (" : "", cause, *cause ? ")" : "");
	}
	fputs("\n", report->out.file);
}

bool lx_report_has_callers(struct lx_report *report, uint64_t calls)
{
	const char *name = lx_run_name(report->pass.trace);

	report->callers = true;
	lx_health_check(&report->health, &report->pass);
	if (calls || !report->health.counted)
		return true;
	lx_error("%s: its calls were counted (MONITORING), without who called whom: lextrace report%s%s shows them", name,
		 report->dir ? " " : "", report->dir ? report->dir : "");
	return false;
}

static bool has_something(const struct lx_health *health)
{
	return health->events || health->counted || health->lost_total;
}

bool lx_report_begin(struct lx_report *report, uint64_t calls, uint32_t functions)
{
	lx_health_check(&report->health, &report->pass);
	lx_say_torn(&report->health, report->pass.trace);
	lx_output_begin(&report->out, report->color, report->pager);
	if (report->json)
		json_head(report, calls, functions);
	else if (has_something(&report->health))
		print_head(report, calls, functions);
	else
		say_empty(report);
	return report->json || has_something(&report->health);
}

int lx_report_end(struct lx_report *report, int status)
{
	if (report->json && report->js.depth) {
		lx_json_object_end(&report->js);
		putc('\n', report->out.file);
	}
	return lx_output_end(&report->out, status);
}

static void print_word(FILE *file, const char *word)
{
	char text[4096];

	lx_put_word(text, sizeof(text), word);
	fputs(text, file);
}

static void print_next(const struct lx_report *report, const char *between, const char *command, const char *option,
		       const char *word)
{
	FILE *file = report->out.file;

	fprintf(file, "%slextrace %s", between, command);
	if (report->dir) {
		putc(' ', file);
		print_word(file, report->dir);
	}
	fprintf(file, " %s", option);
	if (word) {
		putc(' ', file);
		print_word(file, word);
	}
}

void lx_report_next(struct lx_report *report, const char *name)
{
	FILE *file = report->out.file;

	if (!report->out.terminal || report->json)
		return;
	fprintf(file, "\n%snext: ", lx_style(&report->out, LX_DIM));
	print_next(report, "", "report", report->tree ? "--sort total" : "--tree", NULL);
	if (name)
		print_next(report, "    ", "report", "--callers", name);
	print_next(report, "    ", "export", "--to perfetto", NULL);
	fprintf(file, "%s\n", lx_style_end(&report->out, LX_DIM));
}

void lx_report_json_function(struct lx_report *report, uint32_t function)
{
	const struct lx_lexgion *lexgion = report->pass.functions.items[function].lexgion;
	struct lx_json *js = &report->js;

	lx_json_key(js, "name");
	lx_json_text(js, lexgion->name, lexgion->name_size);
	lx_json_key(js, "file");
	lx_json_text(js, lexgion->file, lexgion->file_size);
	lx_json_key(js, "line");
	lx_json_u64(js, lexgion->line);
	lx_json_key(js, "domain");
	lx_json_string(js, lx_domain_name(lexgion->domain));
	lx_json_key(js, "c");
	lx_json_bool(js, lexgion->flags & LX_LEXGION_C);
	if (lexgion->flags & LX_LEXGION_IMPORT) {
		lx_json_key(js, "import");
		lx_json_bool(js, true);
	}
}

enum lx_style lx_report_heat(double percent)
{
	return percent >= 20 ? LX_RED : percent >= 5 ? LX_YELLOW : LX_PLAIN;
}
