/* lextrace report: where the time went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_report.h"
#include "cli/open_run.h"

enum {
	SORT, TOP, MATCH, OWN, TREE, CALLERS, CALLEES, THREADS, PROCESSES, THREAD, PROCESS, COLUMNS, MIN, DEPTH, ROOT,
	INVERT, IMPORTS, ASCII, FULL_PATHS, JSON, COLOR, NO_PAGER
};

static const struct lx_option options[] = {
	[SORT] = { "sort", 's', "COLUMN", "order of the functions (self)", "self total calls mean p99 max name" },
	[TOP] = { "top", 'n', "N", "number of rows (20), 0 for all; the rest is summed", NULL },
	[MATCH] = { "match", 0, "PATTERN", "only functions whose name fits the wildcard, or FILE.py:NAME", NULL },
	[OWN] = { "own", 0, NULL, "count libraries and code made at run time in their callers' lines", NULL },
	[TREE] = { "tree", 0, NULL, "the call tree", NULL },
	[CALLERS] = { "callers", 0, "NAME", "who calls NAME (a name or pattern, as for --match)", NULL },
	[CALLEES] = { "callees", 0, "NAME", "whom NAME calls", NULL },
	[THREADS] = { "threads", 0, NULL, "a table by thread", NULL },
	[PROCESSES] = { "processes", 0, NULL, "a table by process", NULL },
	[THREAD] = { "thread", 0, "N|NAME", "only this thread: number, kernel id, or name with wildcards", NULL },
	[PROCESS] = { "process", 0, "PID", "only this process: pid, folder or program", NULL },
	[COLUMNS] = { "columns", 0, "COLUMN,...", "columns of the table, in this order",
		      "self self% total total% calls mean p50 p90 p95 p99 p99.9 max name place" },
	[MIN] = { "min", 0, "PERCENT", "--tree: sum up what has less of the time (1)", NULL },
	[DEPTH] = { "depth", 0, "N", "--tree: show N levels of lines", NULL },
	[ROOT] = { "root", 0, "NAME", "--tree: what runs below NAME only", NULL },
	[INVERT] = { "invert", 0, NULL, "--tree: from functions up to their callers, by self time", NULL },
	[IMPORTS] = { "imports", 0, NULL, "--tree: unfold the import system", NULL },
	[ASCII] = { "ascii", 0, NULL, "--tree: draw with + - | only", NULL },
	[FULL_PATHS] = { "full-paths", 0, NULL, "whole paths of files", NULL },
	[JSON] = { "json", 0, NULL, "JSON: times in ns, all rows unless --top is given", NULL },
	[COLOR] = { "color", 0, "WHEN", "colour", "auto always never" },
	[NO_PAGER] = { "no-pager", 0, NULL, "no pager on a terminal", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

/* A number from 0 on; false after a message. */
static bool read_number(const struct lx_args *args, int option, double limit, double *value)
{
	const char *text = args->value[option];
	char *end;

	if (!text)
		return true;
	*value = strtod(text, &end);
	if (end == text || *end || !(*value >= 0 && *value <= limit)) {
		lx_error("%s: %s is no number from 0 to %.0f", lx_option_spelled(&options[option], args->by_letter[option]), text,
			 limit);
		return false;
	}
	return true;
}

/* The answers exclude each other. */
static bool one_answer(const struct lx_args *args)
{
	static const int answers[] = { TREE, CALLERS, CALLEES, THREADS, PROCESSES };
	int given = -1;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (!args->value[answers[i]])
			continue;
		if (given >= 0) {
			lx_error("--%s and --%s are two answers: ask for one", options[given].name, options[answers[i]].name);
			return false;
		}
		given = answers[i];
	}
	for (int i = MIN; i <= ASCII; i++)
		if (args->value[i] && !args->value[TREE] && !args->value[ROOT] && !args->value[INVERT]) {
			lx_error("--%s belongs to --tree", options[i].name);
			return false;
		}
	return true;
}

static bool read_options(struct lx_report *report, const struct lx_args *args)
{
	double top = args->value[JSON] ? 0 : 20, depth = 0;

	report->min = args->value[JSON] ? 0 : 1;
	if (!one_answer(args) || !read_number(args, TOP, 1e15, &top) ||
	    !read_number(args, MIN, 100, &report->min) ||
	    !read_number(args, DEPTH, 1e9, &depth))
		return false;
	report->top = (uint64_t)top;
	report->depth = (uint32_t)depth;
	report->sort = args->value[SORT] ? args->value[SORT] : "self";
	report->match = args->value[MATCH];
	report->columns = args->value[COLUMNS];
	report->root = args->value[ROOT];
	report->caller_of = args->value[CALLEES];
	report->callee_of = args->value[CALLERS];
	report->own = args->value[OWN];
	report->invert = args->value[INVERT];
	report->tree = args->value[TREE] || report->invert || report->root;
	report->imports = args->value[IMPORTS];
	report->ascii = args->value[ASCII];
	report->threads = args->value[THREADS];
	report->processes = args->value[PROCESSES];
	report->json = args->value[JSON];
	report->color = args->value[COLOR];
	report->pager = !args->value[NO_PAGER] && !report->json;
	report->pass.only_thread = args->value[THREAD];
	report->pass.only_process = args->value[PROCESS];
	report->pass.functions.full_paths = args->value[FULL_PATHS];
	return true;
}

static int answer(struct lx_report *report)
{
	if (report->tree)
		return lx_report_tree(report);
	if (report->caller_of || report->callee_of)
		return lx_report_edges(report);
	if (report->threads || report->processes)
		return lx_report_threads(report);
	return lx_report_table(report);
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	struct lx_report report = { 0 };
	struct lx_trace *trace;
	bool named_by_us, full_paths;
	int status;

	(void)command;
	if (!read_options(&report, args))
		return LX_STATUS_USAGE;
	trace = lx_open_run(args, &named_by_us);
	if (!trace)
		return LX_STATUS_FAILED;
	report.dir = named_by_us ? NULL : args->words[0];
	report.pass.trace = trace;
	full_paths = report.pass.functions.full_paths;
	status = lx_pass_init(&report.pass);
	report.pass.functions.full_paths = full_paths;
	if (!status)
		status = lx_check_filters(&report.pass) ? answer(&report) : LX_STATUS_FAILED;
	if (status == -ENOMEM) {
		lx_error("%s: not enough memory to read it; --process or --thread reads less", trace->path);
		status = LX_STATUS_FAILED;
	}
	lx_pass_free(&report.pass);
	lx_trace_close(trace);
	return status;
}

const struct lx_command lx_cmd_report = {
	.name = "report",
	.usage = "[OPTIONS] [DIR|FILE...]",
	.summary = "say where the time went, by function, call path, thread or process",
	.description =
		"Reads the run in the folder DIR, or the newest run in the current folder, and prints a table of its functions. "
		"DIR may also be a .pfw or .pfw.gz file, of DFTracer or of lextrace, several of these, or a folder that holds them.\n"
		"\n"
		"self is the time in a function without its callees; total is with them, of a recursion the outermost call only. "
		"Shares are of the time of all threads taken together. calls counts all calls, mean is self time a call, p99 and "
		"max are of whole calls. A generator's or coroutine's time is that of all its slices between begin, yield and "
		"end; its calls are the beginnings, its p99 and max are of slices. Percentiles are exact to 3 %, all else is "
		"exact.\n"
		"\n"
		"Calls that MONITORING counted stand in the table like others: of them calls, self and total are known, not the "
		"time of a single one (-), nor who called whom (--tree, --callers and --callees leave them out). Calls of which "
		"the configuration records one event only have no time (-).\n"
		"\n"
		"Lost events, what the reader made good, and sections of the configuration that matched nothing are said above "
		"the table.",
	.examples =
		"lextrace report\tthe newest run here, by self time\n"
		"lextrace report -s total -n 40 lextrace-app-2\tmore of another one\n"
		"lextrace report --tree --min 5\tthe call tree down to shares of 5 %\n"
		"lextrace report --callers 'Solver.*'\twho calls the methods of Solver\n"
		"lextrace report --match app.py:run --json\tfor programs",
	.options = options,
	.word_kind = "run",
	.run = run,
};
