/* The list of commands, in the order of --help: X(name) stands for `const struct lx_command lx_cmd_NAME`. */
#ifndef LX_CLI_COMMANDS_H
#define LX_CLI_COMMANDS_H

#include "cli/cli.h"

#define LX_COMMANDS(X)                                                                                                 \
	X(run)                                                                                                         \
	X(report)                                                                                                      \
	X(view)                                                                                                        \
	X(export)                                                                                                      \
	X(info)                                                                                                        \
	X(config)                                                                                                      \
	X(ctl)                                                                                                         \
	X(repair)                                                                                                      \
	X(completions)

#define LX_X(name) extern const struct lx_command lx_cmd_##name;
LX_COMMANDS(LX_X)
#undef LX_X

/* The command of that name, or NULL. */
const struct lx_command *lx_command_find(const char *name);

#endif
