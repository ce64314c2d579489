/* lextrace info: what a run is, and how far to trust it. */
#include <errno.h>
#include <ftw.h>
#include <math.h>

#include "cli/cmd_info.h"
#include "cli/doubts.h"
#include "cli/open_run.h"
#include "cli/progress.h"

enum { PACKETS, JSON, COLOR, NO_PAGER };

static const struct lx_option options[] = {
	[PACKETS] = { "packets", 0, NULL, "a table of the packets in the stream files", NULL },
	[JSON] = { "json", 0, NULL, "JSON", NULL },
	[COLOR] = { "color", 0, "WHEN", "colour", "auto always never" },
	[NO_PAGER] = { "no-pager", 0, NULL, "no pager on a terminal", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

static uint64_t walked_bytes, walked_files; /* nftw() has no context */

static int add_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)path;
	(void)place;
	if (kind == FTW_F) {
		walked_bytes += (uint64_t)status->st_size;
		walked_files++;
	}
	return 0;
}

/* The largest distance of a packet's two clock readings from the line that the reader lays through them, in ns. */
static double clock_error(const struct lx_process *process)
{
	double worst = 0;

	for (size_t i = 0; i < process->stream_count; i++) {
		for (size_t n = 0; n < process->streams[i].packet_count; n++) {
			const struct lx_packet *packet = process->streams[i].packets[n].header;
			uint64_t real = lx_real_ns(process, packet->timestamp_begin);
			double off = packet->clock_realtime ? fabs((double)(int64_t)(real - packet->clock_realtime)) : 0;

			worst = off > worst ? off : worst;
		}
	}
	return worst;
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	static const struct lx_pass_ops ops = { .begin = NULL };
	struct lx_info info = { .json = args->value[JSON], .packets = args->value[PACKETS] };
	struct lx_trace *trace;
	bool named_by_us;
	int status;

	(void)command;
	trace = lx_open_run(args, &named_by_us);
	if (!trace)
		return LX_STATUS_FAILED;
	info.pass.trace = trace;
	walked_bytes = walked_files = 0;
	nftw(trace->path, add_file, 16, FTW_PHYS);
	info.bytes = walked_bytes;
	info.files = walked_files;
	status = lx_pass_init(&info.pass);
	if (!status) {
		lx_progress_begin(&info.pass);
		status = lx_pass_run(&info.pass, &ops, NULL);
		lx_progress_end();
	}
	if (!status) {
		lx_health_check(&info.health, &info.pass);
		info.clock_error = clock_error(&trace->processes[0]);
		lx_say_torn(&info.health, trace);
		lx_output_begin(&info.out, args->value[COLOR], !args->value[NO_PAGER] && !info.json);
		status = lx_output_end(&info.out, info.json ? lx_info_json(&info) : lx_info_text(&info));
	}
	if (status == -ENOMEM) {
		lx_error("%s: not enough memory to read it", trace->path);
		status = LX_STATUS_FAILED;
	}
	lx_pass_free(&info.pass);
	lx_trace_close(trace);
	return status;
}

const struct lx_command lx_cmd_info = {
	.name = "info",
	.usage = "[OPTIONS] [DIR|FILE...]",
	.summary = "say what a run is: program, processes, clock, losses, repairs",
	.description =
		"Describes the run in DIR, or the newest run in the current folder: the program and its end, host and clock, "
		"numbers of events by kind, what was lost and why, what readers make good, notes of the recorder, and a table "
		"of the processes. DIR may also be .pfw or .pfw.gz files, or a folder that holds them.",
	.examples = "lextrace info\tthe newest run here\n"
		    "lextrace info --packets lextrace-app-2\thow its streams were written\n"
		    "lextrace info --json | jq .lost\tfor programs",
	.options = options,
	.word_kind = "run",
	.run = run,
};
