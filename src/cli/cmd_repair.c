/* lextrace repair: makes the folders of processes that ended without an exit readable for every CTF reader. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/runs.h"
#include "transform/repair.h"

enum { JSON };

static const struct lx_option options[] = {
	[JSON] = { "json", 0, NULL, "print what was done as JSON", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

static bool changed(const struct lx_repaired *process)
{
	return process->packets || process->cut || process->metadata;
}

static void print_process(const struct lx_repaired *process)
{
	char packets[LX_NUMBER_SIZE], events[LX_NUMBER_SIZE], bytes[LX_NUMBER_SIZE];
	const char *comma = "";

	printf("%s: ", process->name);
	if (process->failed)
		printf("not whole yet%s", changed(process) ? ": " : "");
	else if (process->running)
		printf("still running, left as it is");
	else if (!changed(process))
		printf("whole");
	if (process->packets) {
		printf("%s with %s added", lx_format_plural(packets, sizeof(packets), process->packets, "open packet"),
		       lx_format_plural(events, sizeof(events), process->events, "event"));
		comma = ", ";
	}
	if (process->cut) {
		printf("%s%s of a torn packet cut off", comma, lx_format_plural(bytes, sizeof(bytes), process->cut, "byte"));
		comma = ", ";
	}
	if (process->metadata)
		printf("%smetadata written", comma);
	putchar('\n');
}

static void print_json(const char *path, const struct lx_repair_result *result)
{
	struct lx_json json;

	lx_json_init(&json, stdout, true);
	lx_json_object(&json);
	lx_json_key(&json, "run");
	lx_json_string(&json, path);
	lx_json_key(&json, "processes");
	lx_json_array(&json);
	for (size_t i = 0; i < result->count; i++) {
		const struct lx_repaired *process = &result->processes[i];

		lx_json_object(&json);
		lx_json_key(&json, "name");
		lx_json_string(&json, process->name);
		lx_json_key(&json, "running");
		lx_json_bool(&json, process->running);
		lx_json_key(&json, "failed");
		lx_json_bool(&json, process->failed);
		lx_json_key(&json, "packets_added");
		lx_json_u64(&json, process->packets);
		lx_json_key(&json, "events_added");
		lx_json_u64(&json, process->events);
		lx_json_key(&json, "bytes_cut");
		lx_json_u64(&json, process->cut);
		lx_json_key(&json, "metadata_written");
		lx_json_bool(&json, process->metadata);
		lx_json_object_end(&json);
	}
	lx_json_array_end(&json);
	lx_json_object_end(&json);
	putchar('\n');
}

static int run_repair(const struct lx_command *command, const struct lx_args *args)
{
	struct lx_repair_result result = { NULL, 0 };
	char message[512];
	bool named_by_us;
	size_t repaired = 0;
	char *path = lx_find_run(args, &named_by_us);

	(void)command;
	if (!path)
		return LX_STATUS_FAILED;
	int error = lx_repair(path, &result, message, sizeof(message));

	for (size_t i = 0; i < result.count; i++)
		repaired += changed(&result.processes[i]) && !result.processes[i].failed;
	if (args->value[JSON]) {
		print_json(path, &result);
	} else if (result.count) {
		printf("%s: %zu of %zu processes repaired\n", path, repaired, result.count);
		for (size_t i = 0; i < result.count; i++)
			print_process(&result.processes[i]);
	}
	if (error == -EINVAL && !result.count)
		lx_say_no_trace(path);
	else if (error)
		lx_error("%s", message);
	lx_repair_free(&result);
	free(path);
	return error ? LX_STATUS_FAILED : LX_STATUS_OK;
}

const struct lx_command lx_cmd_repair = {
	.name = "repair",
	.usage = "[OPTIONS] [DIR]",
	.summary = "make a run that was cut short readable for other CTF readers",
	.description = "A process that ends without an exit (os._exit, exec or a signal) leaves its last packets open and its "
		       "names incomplete. lextrace reads such a run as it is; babeltrace2 and other CTF readers need it whole. "
		       "This adds the open packets, cuts off what is no whole packet, and completes the metadata. Nothing that "
		       "was recorded is lost. What is in order is not touched, and neither is a process that still runs.\n"
		       "\n"
		       "DIR is the folder of a run; without it the newest run in the current folder.",
	.examples = "lextrace repair lextrace-app-4\tthen babeltrace2 lextrace-app-4 reads all of it\n",
	.options = options,
	.word_kind = "run",
	.run = run_repair,
};
