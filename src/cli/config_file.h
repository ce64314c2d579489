/* A configuration file as a tool reads it: with its messages shown. */
#ifndef LX_CLI_CONFIG_FILE_H
#define LX_CLI_CONFIG_FILE_H

#include "base/json.h"
#include "cli/output.h"
#include "decide/rules.h"

struct lx_config_file {
	const char *name;          /* as messages show it */
	char *text;                /* malloc'd */
	size_t size;
	struct lx_rules *rules;
};

/* Where the messages go. One of them, or none: nothing is shown. */
struct lx_config_messages {
	struct lx_output *out;     /* as text, with the line and a caret */
	struct lx_json *json;      /* as objects of the array at hand */
};

/*
 * Reads and parses the file at `path`, which must outlive it, with what the environment says. `c_calls` as in struct
 * lx_rules_environment. 0; 1 after a message: it cannot be read (what is wrong in it is no failure: rules->errors).
 */
int lx_config_file_read(const char *path, int c_calls, const struct lx_config_messages *messages,
			struct lx_config_file *file);
/* The same of a text that is there already; takes it over. NULL: only the environment. */
int lx_config_file_parse(const char *name, char *text, size_t size, int c_calls, const struct lx_config_messages *messages,
			 struct lx_config_file *file);
void lx_config_file_free(struct lx_config_file *file);

/* The file that would be in force here: $PINSIGHT_TRACE_CONFIG_FILE, else ./pinsight_trace_config.txt, else NULL. */
const char *lx_config_file_default(void);

/* "trace.conf:7", "built in", "environment"; returns out. */
const char *lx_config_place(const struct lx_config_file *file, uint32_t line, char *out, size_t size);

#endif
