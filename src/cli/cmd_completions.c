/* lextrace completions: scripts for shells, from the tables. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"

static const struct lx_option options[] = {
	{ NULL, 0, NULL, NULL, NULL },
};

static const struct lx_option *options_of(const struct lx_command *command)
{
	return command->options ? command->options : lx_common_options + 1;
}

static bool takes_file(const struct lx_option *option)
{
	return option->value && (strstr(option->value, "FILE") || strstr(option->value, "DIR"));
}

static bool takes_runs(const struct lx_command *command)
{
	return command->word_kind && strcmp(command->word_kind, "run") == 0;
}

/* Text inside single quotes of a POSIX shell. */
static void single_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){ *text, 0 }, stdout);
	putchar('\'');
}

/* ---- bash ---- */

static void bash_option_values(const struct lx_command *command)
{
	for (const struct lx_option *option = options_of(command); option->name; option++) {
		if (!option->value)
			continue;
		printf("\t%s:--%s%s", command->name, option->name, option->letter ? "" : ") ");
		if (option->letter)
			printf("|%s:-%c) ", command->name, option->letter);
		if (option->choices)
			printf("COMPREPLY=($(compgen -W '%s' -- \"$word\"));;\n", option->choices);
		else
			printf("%s;;\n", takes_file(option) ? "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))" : ":");
	}
}

static void bash_options(const struct lx_command *command)
{
	printf("\t%s) options='", command->name);
	for (const struct lx_option *option = options_of(command); option->name; option++)
		printf("--%s ", option->name);
	printf("--help'; runs=%d;;\n", takes_runs(command));
}

static void bash(void)
{
	fputs("_lextrace() {\n"
	      "\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"${COMP_WORDS[1]}\"\n"
	      "\tlocal options='' runs=0 i\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	for (size_t i = 0; lx_commands[i]; i++)
		printf("%s ", lx_commands[i]->name);
	fputs("--help --version' -- \"$word\"))\n\t\treturn\n\tfi\n", stdout);
	for (size_t i = 0; lx_commands[i]; i++) {
		if (!lx_commands[i]->stop_at_word)
			continue;
		/* Behind the program's name the program's own completion goes on. */
		printf("\tif [[ $command == %s ]]; then\n"
		       "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		       "\t\t\tcase \"${COMP_WORDS[i]}\" in\n",
		       lx_commands[i]->name);
		for (const struct lx_option *option = options_of(lx_commands[i]); option->name; option++) {
			if (option->value && option->letter)
				printf("\t\t\t-%c|--%s) ((i++));;\n", option->letter, option->name);
			else if (option->value)
				printf("\t\t\t--%s) ((i++));;\n", option->name);
		}
		fputs("\t\t\t-*) ;;\n"
		      "\t\t\t*) if declare -F _command_offset >/dev/null; then _command_offset \"$i\"\n"
		      "\t\t\t   else compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")); fi; return;;\n"
		      "\t\t\tesac\n\t\tdone\n\tfi\n",
		      stdout);
	}
	fputs("\tcase \"$command:$before\" in\n", stdout);
	for (size_t i = 0; lx_commands[i]; i++)
		bash_option_values(lx_commands[i]);
	fputs("\t*) before='';;\n\tesac\n\t[[ -z $before ]] || return\n\tcase \"$command\" in\n", stdout);
	for (size_t i = 0; lx_commands[i]; i++)
		bash_options(lx_commands[i]);
	fputs("\tesac\n"
	      "\tif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	      "\telif ((runs)); then compopt -o filenames\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$(lextrace --runs)\" -- \"$word\") $(compgen -d -- \"$word\"))\n"
	      "\telif [[ $command == completions ]]; then COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\"))\n"
	      "\telse compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\") $(compgen -c -- \"$word\")); fi\n"
	      "}\n"
	      "complete -F _lextrace lextrace\n",
	      stdout);
}

/* ---- zsh ---- */

static void zsh_text(const char *text)
{
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" :
		      strchr("[]:\\", *text) ? (char[]){ '\\', *text, 0 } : (char[]){ *text, 0 }, stdout);
}

static void zsh_options(const struct lx_command *command)
{
	for (const struct lx_option *option = options_of(command); option->name; option++) {
		for (int form = option->letter ? 0 : 1; form < 2; form++) {
			if (form == 0)
				printf(" \\\n\t\t\t'-%c%s[", option->letter, option->value ? "+" : "");
			else
				printf(" \\\n\t\t\t'--%s%s[", option->name, option->value ? "=" : "");
			zsh_text(option->help);
			putchar(']');
			if (option->value && option->choices)
				printf(":value:(%s)", option->choices);
			else if (option->value)
				printf(":value:%s", takes_file(option) ? "_files" : "");
			putchar('\'');
		}
	}
}

static void zsh(void)
{
	fputs("#compdef lextrace\n"
	      "_lextrace_runs() { local -a runs; runs=(${(f)\"$(lextrace --runs)\"}); compadd -a runs; _files -/ }\n"
	      "_lextrace() {\n\tlocal -a commands; commands=(\n",
	      stdout);
	for (size_t i = 0; lx_commands[i]; i++) {
		printf("\t\t'%s:", lx_commands[i]->name);
		zsh_text(lx_commands[i]->summary);
		fputs("'\n", stdout);
	}
	fputs("\t)\n\tif ((CURRENT == 2)); then _describe command commands; return; fi\n"
	      "\tshift words; ((CURRENT--))\n\tcase $words[1] in\n",
	      stdout);
	for (size_t i = 0; lx_commands[i]; i++) {
		const struct lx_command *command = lx_commands[i];

		printf("\t%s) _arguments -S", command->name);
		zsh_options(command);
		fputs(" \\\n\t\t\t'--help[show this text]'", stdout);
		if (command->stop_at_word)
			fputs(" \\\n\t\t\t'(-):program: _alternative \"files\\:file\\:_files\" \"commands\\:command\\:_command_names -e\"'"
			      " \\\n\t\t\t'*::arguments: _normal'", stdout);
		else if (takes_runs(command))
			fputs(" \\\n\t\t\t'*:run:_lextrace_runs'", stdout);
		else if (strcmp(command->name, "completions") == 0)
			fputs(" \\\n\t\t\t':shell:(bash zsh fish)'", stdout);
		fputs(";;\n", stdout);
	}
	fputs("\tesac\n}\n"
	      "if [ \"$funcstack[1]\" = _lextrace ]; then _lextrace \"$@\"; else compdef _lextrace lextrace; fi\n",
	      stdout);
}

/* ---- fish ---- */

static void fish_command(const struct lx_command *command)
{
	const char *seen = "__fish_seen_subcommand_from";

	printf("complete -c lextrace -n __fish_use_subcommand -f -a %s -d ", command->name);
	single_quoted(command->summary);
	putchar('\n');
	for (const struct lx_option *option = options_of(command); option->name; option++) {
		printf("complete -c lextrace -n '%s %s' -l %s", seen, command->name, option->name);
		if (option->letter)
			printf(" -s %c", option->letter);
		if (option->value)
			fputs(takes_file(option) ? " -r" : " -x", stdout);
		if (option->choices)
			printf(" -a '%s'", option->choices);
		fputs(" -d ", stdout);
		single_quoted(option->help);
		putchar('\n');
	}
	if (takes_runs(command))
		printf("complete -c lextrace -n '%s %s' -a '(lextrace --runs)'\n", seen, command->name);
	if (command->stop_at_word)
		printf("complete -c lextrace -n '%s %s' -a '(__fish_complete_subcommand --fcs-skip=2)'\n", seen, command->name);
}

static void fish(void)
{
	for (size_t i = 0; lx_commands[i]; i++)
		fish_command(lx_commands[i]);
	puts("complete -c lextrace -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'");
}

static int run_completions(const struct lx_command *command, const struct lx_args *args)
{
	const char *shell = args->word_count == 1 ? args->words[0] : "";

	(void)command;
	if (strcmp(shell, "bash") == 0) {
		bash();
	} else if (strcmp(shell, "zsh") == 0) {
		zsh();
	} else if (strcmp(shell, "fish") == 0) {
		fish();
	} else {
		lx_error("completions: one shell of bash zsh fish: lextrace completions bash");
		return LX_STATUS_USAGE;
	}
	return LX_STATUS_OK;
}

const struct lx_command lx_cmd_completions = {
	.name = "completions",
	.usage = "bash|zsh|fish",
	.summary = "print a completion script for a shell",
	.description = "Prints a script that completes lextrace's commands, options, run folders and column names. For bash "
		       "put it into ~/.local/share/bash-completion/completions/lextrace, for zsh into a folder of $fpath as "
		       "_lextrace, for fish into ~/.config/fish/completions/lextrace.fish.\n",
	.examples = "source <(lextrace completions bash)\tin this shell\n",
	.options = options,
	.word_kind = "shell",
	.run = run_completions,
};
