/* The program: finds the command and hands the other words to it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/run.h"
#include "cli/runs.h"
#include "lextrace/version.h"

#define COMMANDS_MAX 32

/* Could the word be meant for run? Words of other tools' commands, which are programs too, were meant for us. */
static bool is_program(const char *word)
{
	static const char *const taken[] = { "html", "top", "config", "diff" };

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(word, taken[i]) == 0)
			return false;
	char *path = strpbrk(word, "./") ? NULL : lx_path_search(word);
	bool found = path || strpbrk(word, "./") || access(word, F_OK) == 0;

	free(path);
	return found;
}

/* Words that no command has: what was meant? */
static int unknown_command(const char *word)
{
	const char *names[COMMANDS_MAX];
	size_t count = 0;

	while (lx_commands[count] && count < COMMANDS_MAX) {
		names[count] = lx_commands[count]->name;
		count++;
	}
	if (word[0] == '-') {
		lx_error("no option %s before a command; see lextrace --help", word);
		return LX_STATUS_USAGE;
	}
	const char *near = lx_nearest(word, names, count);

	if (near)
		lx_error("no command %s; did you mean %s?", word, near);
	else if (is_program(word))
		lx_error("no command %s; to trace a program: lextrace run %s", word, word);
	else
		lx_error("no command %s; lextrace --help lists them", word);
	return LX_STATUS_USAGE;
}

/* lextrace --man [COMMAND]: its page in roff. */
static int man(int argc, char **argv)
{
	const struct lx_command *command = argc > 2 ? lx_command_find(argv[2]) : NULL;

	if (argc > 2 && !command)
		return unknown_command(argv[2]);
	lx_man_page(command, stdout);
	return LX_STATUS_OK;
}

/* lextrace --man-pages FOLDER: all pages as files, for the build. */
static int man_pages(const char *folder)
{
	for (size_t i = 0; i == 0 || lx_commands[i - 1]; i++) {
		const struct lx_command *command = i ? lx_commands[i - 1] : NULL;
		char path[4096];

		snprintf(path, sizeof(path), "%s/lextrace%s%s.1", folder, command ? "-" : "", command ? command->name : "");
		FILE *file = fopen(path, "w");

		if (file)
			lx_man_page(command, file);
		if (!file || fclose(file) != 0) {
			lx_error("cannot write %s: %s", path, strerror(errno));
			return LX_STATUS_FAILED;
		}
	}
	return LX_STATUS_OK;
}

static int help(int argc, char **argv)
{
	const struct lx_command *command = argc > 2 ? lx_command_find(argv[2]) : NULL;

	if (argc > 2 && !command)
		return unknown_command(argv[2]);
	if (command)
		lx_help_command(command, stdout);
	else
		lx_help_program(stdout);
	return LX_STATUS_OK;
}

static int is(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int dispatch(int argc, char **argv)
{
	struct lx_args args;
	bool done;

	if (argc < 2 || is(argv[1], "-h", "--help") || strcmp(argv[1], "help") == 0)
		return help(argc, argv);
	if (is(argv[1], "-V", "--version")) {
		printf("lextrace %s\n", LX_VERSION);
		return LX_STATUS_OK;
	}
	/* For the build and for completion: not in the help. */
	if (strcmp(argv[1], "--man") == 0)
		return man(argc, argv);
	if (strcmp(argv[1], "--man-pages") == 0 && argc == 3)
		return man_pages(argv[2]);
	if (strcmp(argv[1], "--runs") == 0) {
		lx_runs_print(stdout);
		return LX_STATUS_OK;
	}

	const struct lx_command *command = lx_command_find(argv[1]);

	if (!command)
		return unknown_command(argv[1]);
	int status = lx_args_parse(command, argc - 2, argv + 2, &args, &done);

	return status != LX_STATUS_OK || done ? status : command->run(command, &args);
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	if (fflush(stdout) != 0 && errno != EPIPE && status == LX_STATUS_OK) {
		lx_error("cannot write the answer: %s", strerror(errno));
		status = LX_STATUS_FAILED;
	}
	return status;
}
