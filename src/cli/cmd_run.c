/* lextrace run: sets the environment in which the program traces itself, and becomes the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/run.h"
#include "view/program.h"

enum { OUT, CONFIG, FORCE, NO_FOLLOW, FOLLOW, C_CALLS, REPORT, QUIET, MODULE };

static const struct lx_option options[] = {
	[OUT] = { "out", 'o', "DIR", "folder of the run (default: the next free lextrace-PROGRAM-N here)", NULL },
	[CONFIG] = { "config", 'c', "FILE", "a configuration file: what is recorded, how often, until when", NULL },
	[FORCE] = { "force", 0, NULL, "replace the run that is at DIR", NULL },
	[NO_FOLLOW] = { "no-follow", 0, NULL, "do not trace the processes that the program starts", NULL },
	[FOLLOW] = { "follow", 0, NULL, "trace them too (the default)", NULL },
	[C_CALLS] = { "c-calls", 0, NULL, "record calls of C functions too", NULL },
	[REPORT] = { "report", 0, NULL, "print the report (its first 10 lines) when the program has ended", NULL },
	[QUIET] = { "quiet", 'q', NULL, "no line at the end", NULL },
	[MODULE] = { "module", 'm', "MODULE [ARGS]", "run a module, as python -m does", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

struct run {
	const struct lx_args *args;
	struct lx_target target;
	struct lx_run_folder folder;
	char *home;
	char *config; /* absolute path or NULL */
};

/* -c names a file here; who is used to python's -c gives code. */
static int find_config(struct run *run)
{
	const char *name = run->args->value[CONFIG];
	struct stat status;
	char code[1024];

	if (!name)
		return 0;
	if (stat(name, &status) == 0 && !S_ISDIR(status.st_mode) && (run->config = realpath(name, NULL)))
		return 0;
	if (strpbrk(name, " ()=;\"'\n")) {
		lx_put_word(code, sizeof(code), name);
		lx_error("-c names a configuration file, %s is none; for code: lextrace run python -c %s", name, code);
	} else if (errno == ENOENT) {
		lx_error("%s: no such file; -c names a configuration file", name);
	} else {
		lx_error("%s: %s; -c names a configuration file", name,
			 S_ISDIR(status.st_mode) ? "is a folder" : strerror(errno));
	}
	return LX_STATUS_USAGE;
}

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name); /* of an outer run */
}

/* PYTHONPATH begins with our boot folder, whose sitecustomize starts tracing and puts the variable back. */
static int set_python_path(const char *home)
{
	const char *old = getenv("PYTHONPATH");
	char *boot, *path;

	if (asprintf(&boot, "%s/boot", home) < 0)
		return -ENOMEM;
	size_t size = strlen(boot);

	if (old && strncmp(old, boot, size) == 0 && (old[size] == ':' || !old[size])) /* of an outer run */
		old += size + (old[size] == ':');
	if (asprintf(&path, "%s%s%s", boot, old && *old ? ":" : "", old ? old : "") < 0)
		return -ENOMEM;
	return setenv("PYTHONPATH", path, 1) == 0 ? 0 : -errno;
}

/* Processes that the program starts may have another current folder: the file is named by its whole path. */
static void name_default_config(void)
{
	const char *name = lx_config_file_default();
	char *whole = name ? realpath(name, NULL) : NULL;

	if (whole)
		setenv("PINSIGHT_TRACE_CONFIG_FILE", whole, 1);
	free(whole);
}

static int set_environment(const struct run *run, bool quiet)
{
	const struct lx_args *args = run->args;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	set_or_unset("LEXTRACE_DIR", run->folder.absolute);
	set_or_unset("LEXTRACE_ROOT", pid);
	set_or_unset("LEXTRACE_FOLLOW", args->value[NO_FOLLOW] ? "0" : "1");
	set_or_unset("LEXTRACE_C_CALLS", args->value[C_CALLS] ? "1" : NULL);
	set_or_unset("LEXTRACE_QUIET", quiet ? "1" : NULL);
	set_or_unset("LEXTRACE_PROGRAM", run->target.program);
	if (run->config)
		setenv("PINSIGHT_TRACE_CONFIG_FILE", run->config, 1);
	else
		name_default_config();
	return set_python_path(run->home);
}

/* The file's #! line names an interpreter that is not there: its name, or "". */
static void missing_interpreter(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[PATH_MAX] = "";

	out[0] = '\0';
	if (!file)
		return;
	if (fgets(line, sizeof(line), file) && strncmp(line, "#!", 2) == 0) {
		const char *name = line + 2 + strspn(line + 2, " \t");

		snprintf(out, size, "%.*s", (int)strcspn(name, " \t\n"), name);
	}
	fclose(file);
}

static void exec_by_shell(const struct lx_target *target)
{
	size_t count = 0;

	while (target->argv[count])
		count++;
	char **argv = calloc(count + 2, sizeof(*argv));

	if (!argv)
		return;
	argv[0] = "sh";
	argv[1] = target->file;
	memcpy(argv + 2, target->argv + 1, (count - 1) * sizeof(*argv));
	execv("/bin/sh", argv);
	free(argv);
}

/* Becomes the program. Returns only when that fails: the exit status, after a message. */
static int become(const struct run *run, bool quiet)
{
	char interpreter[PATH_MAX];

	if (set_environment(run, quiet) != 0) {
		lx_error("no memory for the program's environment");
		return LX_STATUS_CANNOT_START;
	}
	execv(run->target.file, run->target.argv);
	int reason = errno;

	if (reason == ENOEXEC) /* a file without #!: the shell's, as in a shell */
		exec_by_shell(&run->target);

	rmdir(run->folder.absolute); /* nothing was recorded */
	missing_interpreter(run->target.file, interpreter, sizeof(interpreter));
	if (reason == ENOENT && interpreter[0])
		lx_error("%s: the interpreter of its first line is missing: %s", run->target.word, interpreter);
	else
		lx_error("%s: cannot be executed: %s", run->target.word, strerror(reason));
	return reason == ENOENT ? LX_STATUS_NOT_FOUND : LX_STATUS_NOT_EXECUTABLE;
}

static void child(void *context)
{
	_exit(become(context, true));
}

/* What is wrong with the configuration that will be in force: said once, here. A line that is wrong is left out. */
static void show_messages(const struct run *run)
{
	struct lx_output out = { .file = stderr };
	struct lx_config_messages messages = { &out, NULL };
	const char *path = run->config ? run->config : lx_config_file_default();
	struct lx_config_file file;

	if (path && access(path, F_OK) != 0) {
		lx_error("%s: no such file (PINSIGHT_TRACE_CONFIG_FILE): the defaults hold", path);
		path = NULL;
	}
	int status = path ? lx_config_file_read(path, -1, &messages, &file)
			  : lx_config_file_parse("", NULL, 0, -1, &messages, &file);

	if (status == 0)
		lx_config_file_free(&file);
}

static int run_command(const struct lx_command *command, const struct lx_args *args)
{
	struct run run = { .args = args };
	bool quiet = args->value[QUIET];
	int status;

	(void)command;
	if ((status = find_config(&run)) != 0)
		return status;
	if (!args->value[MODULE] && args->word_count == 0) {
		lx_error("run: no program given: lextrace run [OPTIONS] TARGET [ARGS]");
		return LX_STATUS_USAGE;
	}
	status = lx_target_find(args->value[MODULE], args->words, args->word_count, &run.target);
	if (status != 0)
		return status;
	run.home = lx_home_find(&run.target);
	if (!run.home) {
		lx_error("its Python package was not found near the program nor by python3; "
			 "set LEXTRACE_HOME to the folder lextrace/ of the package");
		return LX_STATUS_CANNOT_START;
	}
	status = lx_run_folder_make(args->value[OUT], args->value[FORCE], run.target.program, &run.folder);
	if (status != 0)
		return status;
	if (!quiet)
		show_messages(&run);
	if (args->value[REPORT])
		return lx_run_and_report(child, &run, &run.folder, quiet);
	return become(&run, quiet);
}

const struct lx_command lx_cmd_run = {
	.name = "run",
	.usage = "[OPTIONS] TARGET [ARGS]",
	.summary = "run a program and record what it does",
	.description =
		"Runs a program and records every call of its Python functions, in all its threads and in the processes "
		"that it starts. TARGET is the first word that is no option; all words after it belong to the program. "
		"It is a Python file or any command, found as a shell finds it. A file app.py is run by the Python that lextrace "
		"is installed in; for a program's own environment: lextrace run venv/bin/python app.py\n"
		"\n"
		"The program behaves as if it were not traced: its output, its exit status, its signals. When it ends, one "
		"line on stderr says how much was recorded and names the command that shows it. What was recorded is safe "
		"however the program ends. A program that ends by os._exit, exec or a signal prints no such line; with --report "
		"there is always one.\n"
		"\n"
		"The exit status is that of the program; 125 when lextrace could not start, 126 when the program cannot be "
		"executed, 127 when it was not found.\n",
	.examples = "lextrace run app.py --verbose\trun app.py; --verbose is its own\n"
		    "lextrace run -m pytest -q\trun a module\n"
		    "lextrace run python -X dev app.py\trun any command\n"
		    "lextrace run --report app.py\tshow at once where the time went\n",
	.options = options,
	.stop_at_word = true,
	.word_kind = "command",
	.run = run_command,
};
