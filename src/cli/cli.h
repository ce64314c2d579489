/*
 * The command line: one table of commands and options, from which parsing, --help, man pages and shell completion come.
 * One cmd_NAME.c per command; each defines its lx_command, listed once in cli/commands.h.
 */
#ifndef LX_CLI_CLI_H
#define LX_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#define LX_STATUS_OK 0
#define LX_STATUS_FAILED 1
#define LX_STATUS_USAGE 2

struct lx_option {
	const char *name;     /* long name without dashes */
	char letter;          /* 0: none */
	const char *value;    /* what it takes, for help: "DIR"; "A [B]": its words are the last; "A,...": a list; NULL: a switch */
	const char *help;     /* one sentence, no full stop */
	const char *choices;  /* "self total calls": blank-separated right values, for completion and checks; NULL: free */
};

#define LX_OPTIONS_MAX 32
#define LX_WORDS_MAX 64

/* What was given. value[i] belongs to command->options[i]: NULL not given, "" a switch, else its text. */
struct lx_args {
	const char *value[LX_OPTIONS_MAX];
	bool by_letter[LX_OPTIONS_MAX]; /* the value was given to "-n", not to "--top" */
	char **words;         /* the words that are no options */
	int word_count;
};

struct lx_command {
	const char *name;
	const char *usage;        /* after the name: "[OPTIONS] [DIR]" */
	const char *summary;      /* one line, lower case, no full stop */
	const char *description;  /* paragraphs for --help and the man page */
	const char *examples;     /* lines "command\tcomment", or NULL */
	const struct lx_option *options; /* ended by name NULL */
	bool stop_at_word;        /* run: the first word that is no option ends our options */
	const char *word_kind;    /* what words are, for completion: "run" (a run folder), "file", NULL */
	int (*run)(const struct lx_command *command, const struct lx_args *args); /* returns the exit status */
};

/* All commands, ended by NULL (cli/commands.c). */
extern const struct lx_command *const lx_commands[];

/*
 * Parses argv (after the command's name). Prints a message for wrong use and returns LX_STATUS_USAGE; prints help for
 * -h/--help and returns LX_STATUS_OK with *done = true; else fills args. "--" ends options. "-o DIR", "--out DIR",
 * "--out=DIR", "-oDIR" all work; a prefix of an option's name does not.
 */
int lx_args_parse(const struct lx_command *command, int argc, char **argv, struct lx_args *args, bool *done);

/* "--top", or "-n" for by_letter: until the next call. */
const char *lx_option_spelled(const struct lx_option *option, bool by_letter);

/* "lextrace: …\n" to stderr; red "lextrace:" on a terminal. */
void lx_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The nearest of `count` names to `word` by edit distance, or NULL if none is near. */
const char *lx_nearest(const char *word, const char *const *names, size_t count);

/* The run to read: args' first word, else the newest run folder in the current folder (said on *named_by_us = true).
 * Returns a malloc'd path, or NULL after printing the message. */
char *lx_find_run(const struct lx_args *args, bool *named_by_us);

#endif
