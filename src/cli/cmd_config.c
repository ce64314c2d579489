/* lextrace config: check, explain, init. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_config.h"
#include "cli/commands.h"

static const struct lx_option options[] = {
	[LX_CONFIG_THREAD] = { "thread", 0, "N", "explain: the thread's number (default: 0, the main thread)", NULL },
	[LX_CONFIG_RUN] = { "run", 0, "DIR", "explain: what really happened in this run", NULL },
	[LX_CONFIG_OUT] = { "out", 'o', "FILE", "init: the file to write (default: pinsight_trace_config.txt)", NULL },
	[LX_CONFIG_FORCE] = { "force", 0, NULL, "init: replace the file", NULL },
	[LX_CONFIG_JSON] = { "json", 0, NULL, "check, explain: JSON", NULL },
	[LX_CONFIG_COLOR] = { "color", 0, "WHEN", "colour", "auto always never" },
	{ NULL, 0, NULL, NULL, NULL },
};

static size_t written_sections(const struct lx_rules *rules)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->section_count; i++)
		count += rules->sections[i]->line != LX_LINE_BUILT_IN && !rules->sections[i]->removed;
	return count;
}

static int check_json(const char *path, struct lx_output *out)
{
	struct lx_config_file file;
	struct lx_json json;
	struct lx_config_messages messages = { NULL, &json };

	lx_json_init(&json, out->file, true);
	lx_json_object(&json);
	lx_json_key(&json, "file");
	lx_json_string(&json, path);
	lx_json_key(&json, "messages");
	lx_json_array(&json);
	if (lx_config_file_read(path, -1, &messages, &file) != 0)
		return LX_STATUS_FAILED;
	lx_json_array_end(&json);
	lx_json_key(&json, "errors");
	lx_json_u64(&json, file.rules->errors);
	lx_json_key(&json, "warnings");
	lx_json_u64(&json, file.rules->warnings);
	lx_json_key(&json, "sections");
	lx_json_u64(&json, written_sections(file.rules));
	lx_json_object_end(&json);
	int status = file.rules->errors ? LX_STATUS_FAILED : LX_STATUS_OK;

	lx_config_file_free(&file);
	return status;
}

static int check_text(const char *path, struct lx_output *out)
{
	struct lx_config_file file;
	struct lx_config_messages messages = { out, NULL };
	char sections[LX_NUMBER_SIZE], errors[LX_NUMBER_SIZE];

	if (lx_config_file_read(path, -1, &messages, &file) != 0)
		return LX_STATUS_FAILED;
	int status = file.rules->errors ? LX_STATUS_FAILED : LX_STATUS_OK;

	lx_format_plural(sections, sizeof(sections), written_sections(file.rules), "section");
	lx_format_plural(errors, sizeof(errors), file.rules->errors, "error");
	fprintf(out->file, "%s: %s, %s\n", path, sections, file.rules->errors ? errors : "no errors");
	lx_config_file_free(&file);
	return status;
}

static int check(const struct lx_args *args, char **words, int count)
{
	const char *path = count > 0 ? words[0] : lx_config_file_default();
	struct lx_output out;

	if (count > 1) {
		lx_error("config check: one file at a time");
		return LX_STATUS_USAGE;
	}
	if (!path) {
		lx_error("config check: no file named, and no pinsight_trace_config.txt here");
		return LX_STATUS_USAGE;
	}
	lx_output_begin(&out, args->value[LX_CONFIG_COLOR], false);
	return lx_output_end(&out, args->value[LX_CONFIG_JSON] ? check_json(path, &out) : check_text(path, &out));
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	static const struct {
		const char *name;
		int (*run)(const struct lx_args *args, char **words, int count);
	} subcommands[] = { { "check", check }, { "explain", lx_config_explain }, { "init", lx_config_init } };
	static const char *const names[] = { "check", "explain", "init" };

	if (args->word_count == 0) {
		lx_error("config: check, explain or init? lextrace config --help");
		return LX_STATUS_USAGE;
	}
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(*subcommands); i++)
		if (strcmp(args->words[0], subcommands[i].name) == 0)
			return subcommands[i].run(args, args->words + 1, args->word_count - 1);
	const char *near = lx_nearest(args->words[0], names, 3);

	(void)command;
	if (near)
		lx_error("config: %s? Did you mean %s?", args->words[0], near);
	else
		lx_error("config: %s? One of check explain init", args->words[0]);
	return LX_STATUS_USAGE;
}

const struct lx_command lx_cmd_config = {
	.name = "config",
	.usage = "check [FILE] | explain [FILE] [NAME] [--thread N] [--run DIR] | init [DIR] [-o FILE]",
	.summary = "check a configuration, explain what it decides, write one from a run",
	.description =
		"check reads a configuration file and shows what is wrong with it, line by line; its exit status is 1 if there is "
		"an error.\n"
		"\n"
		"explain says whether and how calls of a function are recorded on a thread, which section decides, and where each "
		"value comes from. NAME is written as in a section: Python:solver.py:Solver.run, Python:compute, User:IO/read. "
		"With --run it adds what happened in that run. Without NAME it lists the sections, and with --run how many "
		"places of the run each one matched. FILE may be left out where PINSIGHT_TRACE_CONFIG_FILE names it, where "
		"pinsight_trace_config.txt lies here, or where the run keeps its own.\n"
		"\n"
		"init writes a commented configuration from the run in DIR, or the newest run here: the functions with the most "
		"events get a window, and a comment says by how much the next trace shrinks.\n",
	.examples = "lextrace config check trace.conf\twhat is wrong with it\n"
		    "lextrace config explain trace.conf Python:solver.py:Solver.run --thread 2\twhat happens to its calls\n"
		    "lextrace config init lextrace-app-1 -o trace.conf\ta first configuration for the next run\n",
	.options = options,
	.word_kind = "file",
	.run = run,
};
