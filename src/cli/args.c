/* Parsing a command's words by its table of options. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"

static size_t option_count(const struct lx_command *command)
{
	size_t count = 0;

	while (command->options && command->options[count].name)
		count++;
	assert(count <= LX_OPTIONS_MAX);
	return count;
}

/* Number of the option of that name (name_size bytes) or, with name NULL, of that letter; -1: none. */
static int find_option(const struct lx_command *command, const char *name, size_t name_size, char letter)
{
	size_t count = option_count(command);

	for (size_t i = 0; i < count; i++) {
		const struct lx_option *option = &command->options[i];

		if (name ? strlen(option->name) == name_size && memcmp(option->name, name, name_size) == 0 :
			   option->letter && option->letter == letter)
			return (int)i;
	}
	return -1;
}

/* An option that takes "MODULE [ARGS]" is followed by nothing of ours. */
static bool takes_the_rest(const struct lx_option *option)
{
	return option->value && strchr(option->value, ' ');
}

static bool is_choice(const char *choices, const char *word, size_t size)
{
	while (*choices) {
		size_t length = strcspn(choices, " ");

		if (length == size && memcmp(choices, word, size) == 0)
			return true;
		choices += length;
		choices += strspn(choices, " ");
	}
	return false;
}

static const char *nearest_choice(const char *choices, const char *word, char *copy, size_t copy_size)
{
	const char *names[64];
	size_t count = 0;

	snprintf(copy, copy_size, "%s", choices);
	for (char *rest = copy, *name; (name = strtok_r(rest, " ", &rest)) && count < 64;)
		names[count++] = name;
	return lx_nearest(word, names, count);
}

const char *lx_option_spelled(const struct lx_option *option, bool by_letter)
{
	static char spelled[40];

	if (by_letter)
		snprintf(spelled, sizeof(spelled), "-%c", option->letter);
	else
		snprintf(spelled, sizeof(spelled), "--%s", option->name);
	return spelled;
}

/* Checks a value, or each part of a list "a,b", against the option's choices. */
static int check_choices(const struct lx_option *option, bool by_letter, const char *value)
{
	bool list = option->value && strchr(option->value, ',');

	if (!option->choices || !option->value)
		return LX_STATUS_OK;
	for (const char *part = value;; part++) {
		size_t size = list ? strcspn(part, ",") : strlen(part);
		char word[256], copy[1024];

		if (!is_choice(option->choices, part, size)) {
			snprintf(word, sizeof(word), "%.*s", (int)size, part);
			const char *near = nearest_choice(option->choices, word, copy, sizeof(copy));
			const char *spelled = lx_option_spelled(option, by_letter);

			if (strncmp(option->value, "COLUMN", 6) == 0)
				lx_error("%s: no column %s%s%s%s (%s)", spelled, word, near ? "; did you mean " : "",
					 near ? near : "", near ? "?" : "", option->choices);
			else
				lx_error("%s: %s? One of %s", spelled, word, option->choices);
			return LX_STATUS_USAGE;
		}
		part += size;
		if (!*part)
			return LX_STATUS_OK;
	}
}

/* The command that an option unknown to `command` belongs to. */
static const struct lx_command *owner_of(const struct lx_command *command, const char *name, size_t size, int *option)
{
	for (size_t i = 0; lx_commands[i]; i++) {
		*option = find_option(lx_commands[i], name, size, 0);
		if (lx_commands[i] != command && *option >= 0)
			return lx_commands[i];
	}
	return NULL;
}

static int unknown_option(const struct lx_command *command, const char *word, const char *next)
{
	const char *name = word + 2;
	size_t size = strcspn(name, "=");
	const char *names[LX_OPTIONS_MAX + 1];
	size_t count = option_count(command);
	int option = -1;

	if (word[1] == '-') {
		const struct lx_command *owner = owner_of(command, name, size, &option);

		if (owner) {
			bool more = owner->options[option].value && !name[size] && next;

			lx_error("%s: --%.*s belongs to %s: lextrace %s %s%s%s", command->name, (int)size, name, owner->name,
				 owner->name, word, more ? " " : "", more ? next : "");
			return LX_STATUS_USAGE;
		}
	}
	for (size_t i = 0; i < count; i++)
		names[i] = command->options[i].name;
	names[count] = "help";
	char copy[64];

	snprintf(copy, sizeof(copy), "%.*s", (int)size, name);
	const char *near = word[1] == '-' && size < sizeof(copy) ? lx_nearest(copy, names, count + 1) : NULL;

	if (near)
		lx_error("%s: no option --%s; did you mean --%s?", command->name, copy, near);
	else
		lx_error("%s: no option %.*s%s", command->name, word[1] == '-' ? (int)size + 2 : 2, word,
			 command->stop_at_word ? " (options of the program come after its name)" : "");
	return LX_STATUS_USAGE;
}

struct parser {
	const struct lx_command *command;
	struct lx_args *args;
	char **argv;
	int argc;
	int at;       /* the word after the one that is looked at */
	bool ended;   /* all further words are no options */
	bool help;
};

static int set_option(struct parser *parser, int number, bool by_letter, const char *attached)
{
	const struct lx_option *option = &parser->command->options[number];
	const char *value = attached;

	if (!option->value && attached) {
		lx_error("%s: --%s takes no value", parser->command->name, option->name);
		return LX_STATUS_USAGE;
	}
	if (option->value && !attached) {
		if (parser->at >= parser->argc) {
			const char *spelled = lx_option_spelled(option, by_letter);

			lx_error("%s: %s needs a value: %s %s", parser->command->name, spelled, spelled, option->value);
			return LX_STATUS_USAGE;
		}
		value = parser->argv[parser->at++];
	}
	parser->args->value[number] = value ? value : "";
	parser->args->by_letter[number] = by_letter;
	parser->ended = parser->ended || takes_the_rest(option);
	return check_choices(option, by_letter, value);
}

static int long_option(struct parser *parser, char *word)
{
	size_t size = strcspn(word + 2, "=");
	int number = find_option(parser->command, word + 2, size, 0);
	const char *next = parser->at < parser->argc ? parser->argv[parser->at] : NULL;

	if (number >= 0)
		return set_option(parser, number, false, word[2 + size] ? word + 3 + size : NULL);
	parser->help = strcmp(word, "--help") == 0;
	return parser->help ? LX_STATUS_OK : unknown_option(parser->command, word, next);
}

/* "-q", "-oDIR", "-o DIR", "-qo DIR". */
static int short_options(struct parser *parser, const char *word)
{
	for (const char *letter = word + 1; *letter && !parser->help; letter++) {
		int number = find_option(parser->command, NULL, 0, *letter);

		if (number < 0) {
			char wrong[] = { '-', *letter, 0 };

			parser->help = *letter == 'h';
			return parser->help ? LX_STATUS_OK : unknown_option(parser->command, wrong, NULL);
		}
		bool takes = parser->command->options[number].value;
		int status = set_option(parser, number, true, takes && letter[1] ? letter + 1 : NULL);

		if (status != LX_STATUS_OK || takes)
			return status;
	}
	return LX_STATUS_OK;
}

int lx_args_parse(const struct lx_command *command, int argc, char **argv, struct lx_args *args, bool *done)
{
	struct parser parser = { .command = command, .args = args, .argv = argv, .argc = argc };
	int words = 0;

	memset(args, 0, sizeof(*args));
	*done = false;
	while (parser.at < argc) {
		char *word = argv[parser.at++];
		int status = LX_STATUS_OK;

		if (parser.ended || word[0] != '-' || !word[1]) {
			argv[words++] = word; /* never overtakes parser.at */
			parser.ended = parser.ended || command->stop_at_word;
		} else if (strcmp(word, "--") == 0) {
			parser.ended = true;
		} else if (word[1] == '-') {
			status = long_option(&parser, word);
		} else {
			status = short_options(&parser, word);
		}
		if (status != LX_STATUS_OK)
			return status;
		if (parser.help) {
			lx_help_command(command, stdout);
			*done = true;
			return LX_STATUS_OK;
		}
	}
	args->words = argv;
	args->word_count = words;
	return LX_STATUS_OK;
}
