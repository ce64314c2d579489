/* lextrace export: a run as a file of another tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doubts.h"
#include "cli/open_run.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "view/export.h"

enum { TO, OUT, PROCESS, THREAD, QUIET };

static const struct lx_option options[] = {
	[TO] = { "to", 0, "FORMAT", "format of the file (default: what FILE's name says, else perfetto)",
		 "perfetto chrome pfw pfw1 speedscope folded pstats" },
	[OUT] = { "out", 'o', "FILE", "the file to write, gzipped if its name ends in .gz; - is standard output", NULL },
	[PROCESS] = { "process", 0, "PROCESS", "only this process: pid, folder or program", NULL },
	[THREAD] = { "thread", 0, "THREAD", "only these threads: number, kernel id or name", NULL },
	[QUIET] = { "quiet", 'q', NULL, "no line at the end", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

struct job {
	const struct lx_args *args;
	const struct lx_export_format *format;
	struct lx_trace *trace;
	char *path;
};

/* The format that was asked for, or NULL after a message. */
static const struct lx_export_format *choose_format(const struct lx_args *args)
{
	const char *path = args->value[OUT];
	const struct lx_export_format *format;

	if (args->value[TO])
		return lx_export_format_named(args->value[TO]);
	if (!path || strcmp(path, "-") == 0)
		return lx_export_formats[0];
	format = lx_export_format_of_file(path);
	if (!format)
		lx_error("export: the name %s tells no format; add --to and one of %s", path, options[TO].choices);
	return format;
}

/* The run folder's name with the format's ending, in the current folder. malloc'd; NULL without memory. */
static char *default_path(const struct lx_trace *trace, const struct lx_export_format *format)
{
	char *real = realpath(trace->path, NULL), *path;
	const char *whole = real ? real : trace->path, *slash = strrchr(whole, '/');

	if (asprintf(&path, "%s%s", slash && slash[1] ? slash + 1 : whole, format->extension) < 0)
		path = NULL;
	free(real);
	return path;
}

static int cannot_make(const char *path, int error)
{
	const char *slash = strrchr(path, '/');
	int folder = slash && slash > path ? (int)(slash - path) : 1;

	if (error == -ENOENT && slash)
		lx_error("cannot make %s: no such folder %.*s", path, folder, path);
	else if (error == -EOPNOTSUPP)
		lx_error("cannot make %s: this lextrace was built without gzip; name the file without .gz", path);
	else if (error == -EISDIR)
		lx_error("cannot make %s: it is a folder; name a file in it", path);
	else
		lx_error("cannot make %s: %s", path, strerror(-error));
	return LX_STATUS_FAILED;
}

static int cannot_write(const char *path, int error)
{
	if (error == -EPIPE)
		return LX_STATUS_OK; /* the reader has seen enough */
	if (strcmp(path, "-") == 0)
		lx_error("cannot write to standard output: %s", strerror(-error));
	else if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG)
		lx_error("cannot write %s: %s; nothing of it was kept: choose another place with -o, or end its name in .gz",
			 path, strerror(-error));
	else
		lx_error("cannot write %s: %s; nothing of it was kept", path, strerror(-error));
	return LX_STATUS_FAILED;
}

static void print_closing(const struct job *job, const struct lx_export *export, uint64_t bytes)
{
	char slices[LX_NUMBER_SIZE], threads[LX_NUMBER_SIZE], processes[LX_NUMBER_SIZE], size[LX_NUMBER_SIZE];
	const char *path = strcmp(job->path, "-") == 0 ? "standard output" : job->path;
	struct lx_health health;

	lx_health_check(&health, export->pass);
	lx_format_bytes(size, sizeof(size), bytes);
	if (!export->slices && health.counted) {
		lx_error("%s: %s counted in MONITORING; %s, %s, is for %s", lx_run_name(job->trace),
			 lx_format_plural(slices, sizeof(slices), health.counted, "call"), path, size,
			 job->format->summary);
		return;
	}

	lx_format_plural(slices, sizeof(slices), export->slices, "slice");
	lx_format_plural(threads, sizeof(threads), export->threads, "thread");
	lx_format_plural(processes, sizeof(processes), export->processes, "process");
	lx_error("%s: %s of %s in %s; %s, %s, is for %s", lx_run_name(job->trace), slices, threads, processes, path, size,
		 job->format->summary);
}

/* What a reader of the file must know stands on stderr too, even with --quiet. */
static void print_doubts(const struct job *job, const struct lx_pass *pass)
{
	struct lx_health health;
	char lost[LX_DOUBTS_SIZE], number[LX_NUMBER_SIZE];

	lx_health_check(&health, pass);
	lx_say_torn(&health, job->trace);
	if (health.counted && !job->format->sums)
		lx_error("%s: %s counted in MONITORING %s left out: --to pstats takes them", lx_run_name(job->trace),
			 lx_format_plural(number, sizeof(number), health.counted, "call"), health.counted == 1 ? "is" : "are");
	if (*lx_doubts_lost(lost, sizeof(lost), &health, job->trace))
		lx_error("%s: %s: what ran then is missing", lx_run_name(job->trace), lost);
}

/* Nothing but sums, and the format has no place for them? */
static bool is_empty(const struct job *job, const struct lx_export *export)
{
	struct lx_health health;

	lx_health_check(&health, export->pass);
	if (job->format->sums || export->slices || !health.counted)
		return false;
	lx_error("%s: its calls were counted (MONITORING), not recorded: only --to pstats takes that", lx_run_name(job->trace));
	return true;
}

static int write_run(const struct job *job, struct lx_pass *pass)
{
	struct lx_out out;
	struct lx_export export = { .pass = pass, .format = job->format, .out = &out };
	int error = lx_out_open(&out, job->path);

	if (error < 0)
		return cannot_make(job->path, error);
	lx_progress_begin(pass);
	error = lx_export_run(&export);
	lx_progress_end();
	if (error < 0) {
		lx_out_abandon(&out);
		lx_error("export: not enough memory");
		return LX_STATUS_FAILED;
	}
	if (is_empty(job, &export)) {
		lx_out_abandon(&out);
		return LX_STATUS_FAILED;
	}
	error = lx_out_commit(&out);
	if (error < 0)
		return cannot_write(job->path, error);
	print_doubts(job, pass);
	if (!job->args->value[QUIET])
		print_closing(job, &export, out.bytes);
	return LX_STATUS_OK;
}

static int export_run(const struct job *job)
{
	struct lx_pass pass = {
		.trace = job->trace,
		.only_process = job->args->value[PROCESS],
		.only_thread = job->args->value[THREAD],
	};
	int status = LX_STATUS_FAILED;

	if (!job->path || lx_pass_init(&pass) < 0)
		lx_error("export: not enough memory");
	else if (lx_check_filters(&pass))
		status = write_run(job, &pass);
	lx_pass_free(&pass);
	return status;
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	struct job job = { .args = args, .format = choose_format(args) };
	const char *path = args->value[OUT];
	bool named_by_us;
	int status;

	(void)command;
	if (!job.format)
		return LX_STATUS_USAGE;
	if (path && strcmp(path, "-") == 0 && job.format->binary && isatty(STDOUT_FILENO)) {
		lx_error("export: %s is no text for a terminal; name a file: -o FILE%s", job.format->name,
			 job.format->extension);
		return LX_STATUS_USAGE;
	}
	job.trace = lx_open_run(args, &named_by_us);
	if (!job.trace)
		return LX_STATUS_FAILED;
	job.path = path ? strdup(path) : default_path(job.trace, job.format);
	status = export_run(&job);
	free(job.path);
	lx_trace_close(job.trace);
	return status;
}

const struct lx_command lx_cmd_export = {
	.name = "export",
	.usage = "[OPTIONS] [DIR|FILE...]",
	.summary = "write a run as a file of another tool",
	.description =
		"Writes the run in DIR (default: the newest run in the current folder; also .pfw or .pfw.gz files, or a folder that "
		"holds them) in one of these formats:\n"
		"\n"
		"perfetto (.perfetto-trace, .pftrace): the Perfetto UI and trace_processor; small and fast to write.\n"
		"\n"
		"chrome (.json): trace events as JSON, for the Perfetto UI, chrome://tracing and most viewers.\n"
		"\n"
		"pfw (.pfw.gz, .pfw): DFTracer's lines of JSON, times in microseconds. A generator or coroutine that is a region "
		"is one line, with its arguments, its time in \"running\" and the number of its \"slices\". pfw1: the same in the "
		"1.x dialect, which the Perfetto UI opens, too.\n"
		"\n"
		"speedscope (.speedscope.json): one profile a thread.\n"
		"\n"
		"folded (.folded): a line a call path with the ns spent in its last function, for flame graphs. Calls more "
		"than 1000 deep are one frame.\n"
		"\n"
		"pstats (.pstats, .prof): for Python's pstats and what reads its files. Resuming a generator is no call.\n"
		"\n"
		"A slice that did not end by a return says why in \"ended\": yield, exception, switch (another greenlet ran), "
		"open (the program or the tracing ended), lost (its end was not recorded), mode (its domain went to STANDBY or "
		"OFF), point (the configuration leaves out its begin or its end). What MONITORING counted goes to pstats only. "
		"The file appears under its name "
		"when it is complete. Memory does not grow with the number of events.",
	.examples =
		"lextrace export\tthe newest run for the Perfetto UI\n"
		"lextrace export lextrace-app-1 -o app.json.gz\tChrome JSON, gzipped\n"
		"lextrace export --to folded -o - | flamegraph.pl > app.svg\ta flame graph\n"
		"lextrace export -o app.pstats; python -m pstats app.pstats\tas after cProfile",
	.options = options,
	.word_kind = "run",
	.run = run,
};
