/* --help, from the tables. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"

#define WIDTH 100      /* of running text where the terminal is no narrower */
#define LABEL_MAX 30   /* longer labels have a line of their own */

const struct lx_option lx_common_options[] = {
	{ "help", 'h', NULL, "show this text", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

static size_t text_width(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 && size.ws_col < WIDTH)
		return size.ws_col;
	return WIDTH;
}

/* Prints text from column `column` on, later lines indented by `indent`; an indented line of the text stays as it is. */
static void wrap(FILE *out, const char *text, size_t indent, size_t column)
{
	size_t width = text_width(out);
	bool start = true;

	while (*text) {
		if (*text == '\n') {
			if (!text[1]) /* ended below */
				break;
			fputc('\n', out);
			text++;
			if (*text == ' ') { /* an example or list */
				size_t length = strcspn(text, "\n");

				fprintf(out, "%*s%.*s", (int)indent, "", (int)length, text);
				text += length;
			}
			column = 0;
			start = true;
			continue;
		}
		size_t length = strcspn(text, " \n");

		if (!start && column + 1 + length > width) {
			fputc('\n', out);
			column = 0;
			start = true;
		}
		if (start && column < indent)
			column += (size_t)fprintf(out, "%*s", (int)(indent - column), "");
		column += (size_t)fprintf(out, "%s%.*s", start ? "" : " ", (int)length, text);
		start = false;
		text += length;
		while (*text == ' ')
			text++;
	}
	fputc('\n', out);
}

static int label(char *text, size_t size, const struct lx_option *option)
{
	return snprintf(text, size, "  %c%c%s --%s%s%s", option->letter ? '-' : ' ', option->letter ? option->letter : ' ',
			option->letter ? "," : " ", option->name, option->value ? " " : "",
			option->value ? option->value : "");
}

static void options(FILE *out, const struct lx_option *table, size_t indent)
{
	for (; table->name; table++) {
		char text[128];
		size_t width = (size_t)label(text, sizeof(text), table);

		fputs(text, out);
		if (width + 2 > indent) {
			fputc('\n', out);
			width = 0;
		}
		wrap(out, table->help, indent, width);
		if (table->choices && !strstr(table->help, "one of"))
			fprintf(out, "%*sone of %s\n", (int)indent, "", table->choices);
	}
}

static size_t option_indent(const struct lx_option *table)
{
	size_t indent = 0;

	for (; table && table->name; table++) {
		char text[128];
		size_t width = (size_t)label(text, sizeof(text), table) + 2;

		if (width > indent && width <= LABEL_MAX)
			indent = width;
	}
	return indent ? indent : LABEL_MAX / 2;
}

static void examples(FILE *out, const char *lines)
{
	size_t indent = 0;

	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t width = strcspn(line, "\t\n") + 4;

		indent = width > indent ? width : indent;
	}
	fputs("\nExamples:\n", out);
	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		int command = (int)strcspn(line, "\t\n");
		int comment = line[command] == '\t' ? (int)strcspn(line + command + 1, "\n") : 0;

		if (comment)
			fprintf(out, "  %-*.*s  %.*s\n", (int)indent - 4, command, line, comment, line + command + 1);
		else
			fprintf(out, "  %.*s\n", command, line);
	}
}

void lx_help_command(const struct lx_command *command, FILE *out)
{
	size_t indent = option_indent(command->options);

	fprintf(out, "Usage: lextrace %s%s%s\n\n", command->name, *command->usage ? " " : "", command->usage);
	wrap(out, command->description, 0, 0);
	fputs("\nOptions:\n", out);
	if (command->options)
		options(out, command->options, indent);
	options(out, lx_common_options, indent);
	if (command->examples)
		examples(out, command->examples);
}

void lx_help_program(FILE *out)
{
	fputs("Usage: lextrace COMMAND [OPTIONS] ...\n\n"
	      "Traces Python programs: every call of every function, on one time axis, complete however the program ends.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; lx_commands[i]; i++)
		fprintf(out, "  %-12s  %s\n", lx_commands[i]->name, lx_commands[i]->summary);
	fputs("\nOptions:\n"
	      "  -h, --help     show this text; lextrace COMMAND --help: that of a command\n"
	      "  -V, --version  show the version\n"
	      "\nFirst use:\n"
	      "  lextrace run app.py        trace a program\n"
	      "  lextrace report            where its time went\n",
	      out);
}
