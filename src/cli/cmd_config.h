/* What the files of `lextrace config` share. */
#ifndef LX_CLI_CMD_CONFIG_H
#define LX_CLI_CMD_CONFIG_H

#include "cli/cli.h"
#include "cli/config_file.h"

enum { LX_CONFIG_THREAD, LX_CONFIG_RUN, LX_CONFIG_OUT, LX_CONFIG_FORCE, LX_CONFIG_JSON, LX_CONFIG_COLOR };

/* The subcommands; `words` are those behind their name. Return the exit status. */
int lx_config_explain(const struct lx_args *args, char **words, int count);
int lx_config_init(const struct lx_args *args, char **words, int count);

/* What a configuration decides for a place on a thread. */
struct lx_explained {
	struct lx_config_file *file;
	struct lx_subject subject;
	uint32_t thread;
	uint32_t punits[LX_PUNIT_KINDS_MAX];
	const char *spelled;       /* the place as the user wrote it */
	const struct lx_section *section;
	struct lx_window window;
	uint64_t switches;
	uint32_t mode;
	const char *mode_variable; /* the environment variable that says so, or NULL */
	bool in_domain, in_section;
};

void lx_explain_json(const struct lx_explained *it, struct lx_json *json);
void lx_explain_text(const struct lx_explained *it, struct lx_output *out);
/* What the run in the folder says of it, after the text or as members of the JSON object. 0 or the exit status. */
int lx_explain_run(const struct lx_explained *it, const char *folder, struct lx_output *out, struct lx_json *json);
/* How many lexgions of the run each section of the file matched. */
int lx_explain_sections(const struct lx_config_file *file, const char *folder, struct lx_output *out, struct lx_json *json);

#endif
