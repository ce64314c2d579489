#include <string.h>

#include "cli/commands.h"

const struct lx_command *const lx_commands[] = {
#define LX_X(name) &lx_cmd_##name,
	LX_COMMANDS(LX_X)
#undef LX_X
	NULL,
};

const struct lx_command *lx_command_find(const char *name)
{
	for (size_t i = 0; lx_commands[i]; i++)
		if (strcmp(lx_commands[i]->name, name) == 0)
			return lx_commands[i];
	return NULL;
}
