/* Man pages in roff, from the tables. */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "lextrace/version.h"

/* Text of `size` bytes as roff shows it literally. */
static void literal(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else if (text[i] == '\'')
			fputs("\\(aq", out);
		else if (text[i] == '.' && (i == 0 || text[i - 1] == '\n'))
			fputs("\\&.", out);
		else
			fputc(text[i], out);
	}
}

static void literal_text(FILE *out, const char *text)
{
	literal(out, text, strlen(text));
}

/* Paragraphs; lines that begin with a blank are kept as they are. */
static void paragraphs(FILE *out, const char *text)
{
	bool kept = false;

	while (*text) {
		size_t length = strcspn(text, "\n");
		bool keep = *text == ' ';

		if (keep != kept)
			fputs(keep ? ".nf\n" : ".fi\n", out);
		kept = keep;
		if (length == 0) {
			fputs(".PP\n", out);
		} else {
			literal(out, text, length);
			fputc('\n', out);
		}
		text += length + (text[length] == '\n');
	}
	if (kept)
		fputs(".fi\n", out);
}

static void header(FILE *out, const char *dash_name, const char *summary)
{
	char title[64];
	size_t i = 0;

	snprintf(title, sizeof(title), "LEXTRACE%s", dash_name);
	for (i = 0; title[i]; i++)
		title[i] = (char)toupper((unsigned char)title[i]);
	fprintf(out, ".TH %s 1 \"\" \"lextrace %s\" \"lextrace\"\n.SH NAME\nlextrace%s \\- ", title, LX_VERSION,
		dash_name);
	literal_text(out, summary);
	fputs("\n", out);
}

static void options(FILE *out, const struct lx_option *option)
{
	for (; option && option->name; option++) {
		fputs(".TP\n", out);
		if (option->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
		fputs("\\fB\\-\\-", out);
		literal_text(out, option->name);
		fputs("\\fR", out);
		if (option->value) {
			fputs(" \\fI", out);
			literal_text(out, option->value);
			fputs("\\fR", out);
		}
		fputc('\n', out);
		literal_text(out, option->help);
		fputs(".\n", out);
		if (option->choices) {
			fputs("One of ", out);
			literal_text(out, option->choices);
			fputs(".\n", out);
		}
	}
}

static void examples(FILE *out, const char *lines)
{
	fputs(".SH EXAMPLES\n", out);
	while (*lines) {
		size_t command = strcspn(lines, "\t\n");
		size_t comment = lines[command] == '\t' ? strcspn(lines + command + 1, "\n") : 0;

		fputs(".TP\n\\fB", out);
		literal(out, lines, command);
		fputs("\\fR\n", out);
		literal(out, lines + command + 1, comment);
		fputc('\n', out);
		lines += command + (lines[command] == '\t' ? comment + 1 : 0);
		lines += *lines == '\n';
	}
}

static void exit_status(FILE *out, bool runs_program)
{
	fputs(".SH EXIT STATUS\n", out);
	if (runs_program)
		fputs("That of the program, or by its signal. 125: lextrace could not start; 126: the program cannot be "
		      "executed; 127: it was not found; 2: wrong use.\n",
		      out);
	else
		fputs("0, or 1 when the command failed, or 2 for wrong use.\n", out);
}

static void program_page(FILE *out)
{
	header(out, "", "trace Python programs");
	fputs(".SH SYNOPSIS\n\\fBlextrace\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n"
	      "Traces Python programs: every call of every function, on one time axis, complete however the program ends.\n"
	      ".SH COMMANDS\n",
	      out);
	for (size_t i = 0; lx_commands[i]; i++) {
		fprintf(out, ".TP\n\\fBlextrace\\-%s\\fR(1)\n", lx_commands[i]->name);
		literal_text(out, lx_commands[i]->summary);
		fputs(".\n", out);
	}
	exit_status(out, false);
}

void lx_man_page(const struct lx_command *command, FILE *out)
{
	char dash_name[64];

	if (!command) {
		program_page(out);
		return;
	}
	snprintf(dash_name, sizeof(dash_name), "-%s", command->name);
	header(out, dash_name, command->summary);
	fprintf(out, ".SH SYNOPSIS\n\\fBlextrace %s\\fR ", command->name);
	literal_text(out, command->usage);
	fputs("\n.SH DESCRIPTION\n", out);
	paragraphs(out, command->description);
	fputs(".SH OPTIONS\n", out);
	options(out, command->options);
	options(out, lx_common_options);
	exit_status(out, command->stop_at_word);
	if (command->examples)
		examples(out, command->examples);
	fputs(".SH SEE ALSO\n\\fBlextrace\\fR(1)", out);
	for (size_t i = 0; lx_commands[i]; i++)
		if (lx_commands[i] != command)
			fprintf(out, ", \\fBlextrace\\-%s\\fR(1)", lx_commands[i]->name);
	fputc('\n', out);
}
