/* lextrace view: events, one a line. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_view.h"
#include "cli/doubts.h"
#include "cli/open_run.h"

enum { MATCH, EVENT, THREAD, PROCESS, FROM, TO, LIMIT, DATE, GMT, JSON, COLOR, NO_PAGER };

static const struct lx_option options[] = {
	[MATCH] = { "match", 0, "PATTERN", "only functions whose name fits the wildcard, or FILE.py:NAME", NULL },
	[EVENT] = { "event", 0, "PATTERN", "only events whose name fits the wildcard, as in '*:c_call_*'", NULL },
	[THREAD] = { "thread", 0, "N|NAME", "only this thread: number, kernel id, or name with wildcards", NULL },
	[PROCESS] = { "process", 0, "PID", "only this process: pid, folder or program", NULL },
	[FROM] = { "from", 0, "TIME", "not before: seconds from the run's start, or HH:MM:SS.frac", NULL },
	[TO] = { "to", 0, "TIME", "not after", NULL },
	[LIMIT] = { "limit", 'n', "N", "stop after N lines", NULL },
	[DATE] = { "date", 0, NULL, "dates before the times", NULL },
	[GMT] = { "gmt", 0, NULL, "times in UTC, not the local zone", NULL },
	[JSON] = { "json", 0, NULL, "one JSON object a line", NULL },
	[COLOR] = { "color", 0, "WHEN", "colour", "auto always never" },
	[NO_PAGER] = { "no-pager", 0, NULL, "no pager on a terminal", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

struct choice {
	struct lx_view view;
	const char *match;
	bool kinds[LX_EV_COUNT + 1]; /* wanted; the last stands for unknown ones */
	uint64_t from, to, limit;
	uint64_t matches; /* lexgions that fit --match */
};

/* The event that a wrong name comes near to, with "python:" or without it. */
static const char *nearest_event(const char *word)
{
	const char *whole[LX_EV_COUNT], *parts[LX_EV_COUNT], *near;

	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++) {
		whole[kind] = lx_event_name(kind);
		parts[kind] = strchr(whole[kind], ':') + 1;
	}
	near = lx_nearest(word, whole, LX_EV_COUNT);
	if (near)
		return near;
	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++)
		if (strcmp(parts[kind], word) == 0)
			return whole[kind];
	near = lx_nearest(word, parts, LX_EV_COUNT);
	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++)
		if (near == parts[kind])
			return whole[kind];
	return NULL;
}

static int bad_event(const char *pattern)
{
	const char *near = nearest_event(pattern);
	char names[1024] = "";

	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s", kind ? " " : "", lx_event_name(kind));
	}
	lx_error("--event: no event fits %s%s%s%s (%s)", pattern, near ? "; did you mean " : "", near ? near : "",
		 near ? "?" : "", names);
	return LX_STATUS_USAGE;
}

/* What needs no run. */
static int read_options(struct choice *choice, const struct lx_args *args)
{
	const char *event = args->value[EVENT], *limit = args->value[LIMIT];
	bool any = !event;
	char *end;

	choice->match = args->value[MATCH];
	choice->view.pass.only_thread = args->value[THREAD];
	choice->view.pass.only_process = args->value[PROCESS];
	choice->view.json = args->value[JSON];
	choice->view.date = args->value[DATE];
	choice->view.gmt = args->value[GMT];
	choice->limit = UINT64_MAX;
	if (limit) {
		choice->limit = strtoull(limit, &end, 10);
		if (end == limit || *end || *limit == '-') {
			lx_error("%s: %s is no number of lines",
				 lx_option_spelled(&options[LIMIT], args->by_letter[LIMIT]), limit);
			return LX_STATUS_USAGE;
		}
	}
	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++) {
		choice->kinds[kind] = !event || fnmatch(event, lx_event_name(kind), FNM_NOESCAPE) == 0;
		any = any || choice->kinds[kind];
	}
	choice->kinds[LX_EV_COUNT] = !event;
	return any ? LX_STATUS_OK : bad_event(event);
}

static bool read_moment(const struct choice *choice, const struct lx_args *args, int option, uint64_t *real_ns)
{
	const char *text = args->value[option];

	if (!text || lx_view_time(choice->view.pass.trace, text, choice->view.gmt, real_ns))
		return true;
	lx_error("--%s: %s is no time: seconds from the start (2.5) or HH:MM:SS.frac", options[option].name, text);
	return false;
}

static int choose_lexgions(struct choice *choice, struct lx_view_source *source, const struct lx_process *process)
{
	struct lx_functions *functions = &choice->view.pass.functions;
	uint32_t *map = NULL;
	int error = lx_functions_map(functions, process, &map);

	source->lexgions = calloc(process->lexgion_count + 1, sizeof(*source->lexgions));
	if (!source->lexgions)
		error = -ENOMEM;
	for (size_t id = 0; id <= process->lexgion_count && !error; id++) {
		source->lexgions[id] = lx_function_matches(functions, map[id], choice->match);
		choice->matches += source->lexgions[id];
	}
	free(map);
	return error;
}

static int prepare(struct choice *choice)
{
	struct lx_view *view = &choice->view;
	const struct lx_trace *trace = view->pass.trace;
	int error = 0;

	view->second = INT64_MIN;
	view->sources = calloc(trace->process_count + 1, sizeof(*view->sources));
	if (!view->sources)
		return -ENOMEM;
	for (size_t i = 0; i < trace->process_count && !error; i++) {
		struct lx_view_source *source = &view->sources[i];
		const struct lx_process *process = &trace->processes[i];

		source->wanted = lx_pass_has_process(&view->pass, process);
		if (!source->wanted)
			continue;
		if (view->pass.only_thread) {
			source->threads = calloc(process->thread_count + 1, sizeof(*source->threads));
			if (!source->threads)
				return -ENOMEM;
			for (size_t n = 0; n < process->thread_count; n++)
				source->threads[n] = lx_pass_has_thread(&view->pass, &process->threads[n]);
		}
		error = choice->match ? choose_lexgions(choice, source, process) : 0;
	}
	return error;
}

static void release(struct choice *choice)
{
	const struct lx_trace *trace = choice->view.pass.trace;

	for (size_t i = 0; choice->view.sources && i < trace->process_count; i++) {
		struct lx_view_source *source = &choice->view.sources[i];

		for (size_t id = 0; source->fields && id <= trace->processes[i].lexgion_count; id++)
			free(source->fields[id]);
		free(source->fields);
		free(source->program);
		free(source->threads);
		free(source->lexgions);
	}
	free(choice->view.sources);
	lx_pass_free(&choice->view.pass);
}

static bool wanted(const struct choice *choice, const struct lx_merged *event)
{
	const struct lx_view_source *source = &choice->view.sources[event->process - choice->view.pass.trace->processes];
	uint32_t kind = event->event.kind, id = event->event.value;

	if (!source->wanted || event->real_ns < choice->from || !choice->kinds[kind < LX_EV_COUNT ? kind : LX_EV_COUNT])
		return false;
	if (source->threads && !source->threads[event->thread->number])
		return false;
	if (!source->lexgions)
		return true;
	return lx_event_has_lexgion(kind) &&
	       source->lexgions[id < event->process->lexgion_count ? id : event->process->lexgion_count];
}

/* Only one process: the others need not be merged. */
static const struct lx_process *only_process(const struct choice *choice)
{
	const struct lx_trace *trace = choice->view.pass.trace;
	const struct lx_process *only = NULL;

	for (size_t i = 0; i < trace->process_count; i++) {
		if (!choice->view.sources[i].wanted)
			continue;
		if (only)
			return NULL;
		only = &trace->processes[i];
	}
	return only;
}

static int print_events(struct choice *choice)
{
	struct lx_view *view = &choice->view;
	const struct lx_trace *trace = view->pass.trace;
	struct lx_merged event;
	struct lx_merge *merge;
	int error = lx_merge_open(trace, only_process(choice), &merge);

	if (error)
		return error;
	for (size_t i = 0; i < trace->process_count && !error; i++)
		if (view->sources[i].wanted)
			error = lx_view_line_init(view, &view->sources[i], &trace->processes[i]);
	for (uint64_t lines = 0; !error && lines < choice->limit && lx_merge_next(merge, &event);) {
		if (event.real_ns > choice->to)
			break;
		if (!wanted(choice, &event))
			continue;
		error = lx_view_line(view, &event);
		lines++;
	}
	lx_merge_close(merge);
	return error;
}

static int answer(struct choice *choice, const struct lx_args *args)
{
	struct lx_pass *pass = &choice->view.pass;
	struct lx_health health;
	char lost[LX_DOUBTS_SIZE];
	int error = lx_pass_init(pass);

	if (!error && !lx_check_filters(pass))
		return LX_STATUS_FAILED;
	if (!error)
		error = prepare(choice);
	if (error)
		return error;
	if (choice->match && !choice->matches)
		return lx_say_no_match(&pass->functions, choice->match);
	lx_health_check(&health, pass);
	lx_say_torn(&health, pass->trace);
	if (*lx_doubts_lost(lost, sizeof(lost), &health, pass->trace))
		lx_error("%s: %s; they are missing here", lx_run_name(pass->trace), lost);
	lx_output_begin(&choice->view.out, args->value[COLOR], !args->value[NO_PAGER] && !choice->view.json);
	return lx_output_end(&choice->view.out, print_events(choice));
}

static int begins_after(const struct lx_trace *trace, const char *from)
{
	char end[LX_NUMBER_SIZE];

	lx_error("--from: %s is after the end of the run, which lasts %s", from,
		 lx_format_seconds(end, sizeof(end), (double)(trace->last - trace->first)));
	return LX_STATUS_FAILED;
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	struct choice choice = { .to = UINT64_MAX };
	struct lx_trace *trace;
	bool named_by_us;
	int status = read_options(&choice, args);

	(void)command;
	if (status)
		return status;
	trace = lx_open_run(args, &named_by_us);
	if (!trace)
		return LX_STATUS_FAILED;
	choice.view.pass.trace = trace;
	if (args->value[FROM] && read_moment(&choice, args, FROM, &choice.from) && choice.from > trace->last)
		status = begins_after(trace, args->value[FROM]);
	else if (read_moment(&choice, args, FROM, &choice.from) && read_moment(&choice, args, TO, &choice.to))
		status = answer(&choice, args);
	else
		status = LX_STATUS_USAGE;
	if (status == -ENOMEM) {
		lx_error("%s: not enough memory to read it; --process reads less", trace->path);
		status = LX_STATUS_FAILED;
	}
	release(&choice);
	lx_trace_close(trace);
	return status;
}

const struct lx_command lx_cmd_view = {
	.name = "view",
	.usage = "[OPTIONS] [DIR|FILE...]",
	.summary = "print the events of a run, one a line",
	.description =
		"Prints all events of the run in DIR, or of the newest run in the current folder, merged over its processes and "
		"threads by time: the time, the time since the line above, program and process, the event's name, its fields. "
		"Any number of events needs the same memory. DIR may also be .pfw or .pfw.gz files, or a folder that holds them; "
		"their events are read into memory first.\n"
		"\n"
		"python_thread_id is the number that lextrace gives to the thread, 0 for the main thread.",
	.examples =
		"lextrace view --limit 20\tthe first events\n"
		"lextrace view --match 'Solver.*' --from 0.01 --to 0.02\ta hundredth of a second of some functions\n"
		"lextrace view --event '*unwind' --thread MainThread\twhere exceptions passed\n"
		"lextrace view --json | jq .name\tfor programs",
	.options = options,
	.word_kind = "run",
	.run = run,
};
