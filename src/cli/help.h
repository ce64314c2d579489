/* Texts made from the tables of commands and options: --help, man pages, completion scripts. */
#ifndef LX_CLI_HELP_H
#define LX_CLI_HELP_H

#include <stdio.h>

#include "cli/cli.h"

/* The options that every command has, beside its own: --help. Ended by name NULL. */
extern const struct lx_option lx_common_options[];

/* Help of the program, its commands one a line. */
void lx_help_program(FILE *out);

/* Help of one command. */
void lx_help_command(const struct lx_command *command, FILE *out);

/* Man page in roff: of the command, or of the program when command is NULL. */
void lx_man_page(const struct lx_command *command, FILE *out);

#endif
