/* The parts of `lextrace run`: what is executed, where its run goes, where our run-time files are. */
#ifndef LX_CLI_RUN_H
#define LX_CLI_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

#define LX_STATUS_CANNOT_START 125
#define LX_STATUS_NOT_EXECUTABLE 126
#define LX_STATUS_NOT_FOUND 127

#define LX_PROGRAM_NAME_SIZE 64

/* What is executed. Everything is allocated once for the life of the process. */
struct lx_target {
	char *file;      /* path for execv */
	char **argv;
	const char *word; /* TARGET as typed, for messages */
	char program[LX_PROGRAM_NAME_SIZE]; /* short name for the folder: "app" */
	bool python;     /* our interpreter runs it */
};

/*
 * Finds what `lextrace run [-m module] words...` executes, as a shell would: with a slash a path, else along PATH; a
 * Python file that can't be executed itself runs in our interpreter. Returns 0, or after a message the exit status.
 */
int lx_target_find(const char *module, char **words, int count, struct lx_target *target);

/* Short name of a program for its folder: without folders and .py, no character that needs quoting in a shell. */
void lx_program_name(char *out, size_t size, const char *word);

/* Name that the words after an interpreter give: its script, module, or the interpreter's own. */
const char *lx_python_subject(const char *interpreter, char **words, int count);

/* The interpreter lextrace is installed with: python3 beside it, else along PATH. NULL: none. */
char *lx_home_python(void);

/* The folder of the package lextrace, which has boot/. NULL: not found. `target` is asked last. */
char *lx_home_find(const struct lx_target *target);

/* First executable `name` along PATH, or NULL with errno ENOENT, or EACCES for one that can't be executed. */
char *lx_path_search(const char *name);

/* Where the run goes. */
struct lx_run_folder {
	char *shown;    /* as a user would type it here */
	char *absolute;
};

/*
 * Makes the run's folder: `out`, or with NULL the first free lextrace-PROGRAM-N here. With `force` a finished run at
 * `out` is removed first. Returns 0, or after a message the exit status.
 */
int lx_run_folder_make(const char *out, bool force, const char *program, struct lx_run_folder *folder);

/*
 * run --report: starts the program as a child by `start` (which does not return), hands it the signals that are sent to
 * us, waits, prints the closing line unless `quiet`, then the report. Returns the program's status, or ends by its signal.
 */
int lx_run_and_report(void (*start)(void *context), void *context, const struct lx_run_folder *folder, bool quiet);

/* The closing line of a run, to stderr. `status` is that of waitpid for `child`, the program. */
void lx_run_closing_line(const struct lx_run_folder *folder, int child, int status);

#endif
