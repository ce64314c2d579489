#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"

#define SHOWN_MAX 160 /* bytes of a line that a message shows */
#define LARGEST (64u << 20)

struct teller {
	const struct lx_config_messages *messages;
	const char *name;
};

/* Bytes of the first `characters` characters. */
static size_t bytes_of(const char *text, size_t size, uint32_t characters)
{
	size_t at = 0;

	while (at < size && characters > 0) {
		at++;
		while (at < size && ((unsigned char)text[at] & 0xC0) == 0x80)
			at++;
		characters--;
	}
	return at;
}

/* The line, cut around the place, and a caret below it. */
static void show_line(struct lx_output *out, const struct lx_message *message)
{
	const char *line = message->text_of_line;
	size_t size = message->size_of_line, column = bytes_of(line, size, message->column - 1), from = 0;
	char shown[SHOWN_MAX * 4 + 1];

	if (column > SHOWN_MAX / 2)
		from = column - SHOWN_MAX / 2;
	while (from > 0 && from < size && ((unsigned char)line[from] & 0xC0) == 0x80)
		from++;
	size_t length = size - from < SHOWN_MAX ? size - from : SHOWN_MAX;
	size_t span = bytes_of(line + column, size - column, message->span);

	if (column + span > from + length)
		span = from + length > column ? from + length - column : 1;
	for (size_t i = 0; i < length; i++) /* a tab is one column here */
		shown[i] = line[from + i] == '\t' ? ' ' : line[from + i];
	char text[sizeof(shown)];
	size_t before;

	lx_escape(text, sizeof(text), shown, column - from);
	before = lx_text_width(text);
	lx_escape(text, sizeof(text), shown, length);
	fprintf(out->file, "    %s%s%s\n    %*s%s^", from ? "…" : "", text, from + length < size ? "…" : "",
		(int)(before + (from ? 1 : 0)), "", lx_style(out, LX_GREEN));
	lx_escape(text, sizeof(text), shown + (column - from), span);
	for (size_t i = 1; i < lx_text_width(text); i++)
		fputc('~', out->file);
	fprintf(out->file, "%s\n", lx_style_end(out, LX_GREEN));
}

static void tell_text(struct lx_output *out, const char *source, const struct lx_message *message)
{
	enum lx_style style = message->error ? LX_RED : LX_MAGENTA;
	char text[2048];

	lx_escape(text, sizeof(text), message->text, strlen(message->text));
	fprintf(out->file, "%s%s", lx_style(out, LX_BOLD), source);
	if (!message->source && message->line)
		fprintf(out->file, ":%u:%u", message->line, message->column);
	fprintf(out->file, ":%s %s%s:%s %s\n", lx_style_end(out, LX_BOLD), lx_style(out, style),
		message->error ? "error" : "warning", lx_style_end(out, style), text);
	if (message->text_of_line)
		show_line(out, message);
}

static void tell_json(struct lx_json *json, const char *source, const struct lx_message *message)
{
	lx_json_object(json);
	lx_json_key(json, "severity");
	lx_json_string(json, message->error ? "error" : "warning");
	lx_json_key(json, "file");
	lx_json_string(json, source);
	lx_json_key(json, "line");
	lx_json_u64(json, message->line);
	lx_json_key(json, "column");
	lx_json_u64(json, message->column);
	lx_json_key(json, "span");
	lx_json_u64(json, message->span);
	lx_json_key(json, "message");
	lx_json_string(json, message->text);
	lx_json_object_end(json);
}

static void on_message(void *context, const struct lx_message *message)
{
	const struct teller *teller = context;
	const char *source = message->source ? message->source : teller->name;

	if (teller->messages && teller->messages->out)
		tell_text(teller->messages->out, source, message);
	if (teller->messages && teller->messages->json)
		tell_json(teller->messages->json, source, message);
}

int lx_config_file_parse(const char *name, char *text, size_t size, int c_calls, const struct lx_config_messages *messages,
			 struct lx_config_file *file)
{
	struct teller teller = { messages, name };
	struct lx_rules_environment environment = {
		.modes = { getenv("PINSIGHT_TRACE_PYTHON"), getenv("PINSIGHT_TRACE_USER"), getenv("PINSIGHT_TRACE_IO"),
			   getenv("PINSIGHT_TRACE_OPENMP"), getenv("PINSIGHT_TRACE_MPI"), getenv("PINSIGHT_TRACE_CUDA") },
		.rate = getenv("PINSIGHT_TRACE_RATE"),
		.window = getenv("PINSIGHT_TRACE_WINDOW"),
		.c_calls = c_calls,
	};

	*file = (struct lx_config_file){ .name = name, .text = text, .size = size };
	if (lx_rules_parse(text ? text : "", size, &environment, on_message, &teller, &file->rules) == 0)
		return 0;
	free(text);
	lx_error("%s: not enough memory to read it", name);
	return 1;
}

static int read_all(int fd, char **text, size_t *size)
{
	struct stat status;
	size_t space = 65536;

	if (fstat(fd, &status) != 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	*text = malloc(space);
	*size = 0;
	for (ssize_t got = 1; *text && got > 0;) {
		if (*size == space) {
			char *larger = space < LARGEST ? realloc(*text, space * 2) : NULL;

			if (!larger) {
				free(*text);
				return space < LARGEST ? -ENOMEM : -EFBIG;
			}
			*text = larger;
			space *= 2;
		}
		got = read(fd, *text + *size, space - *size);
		if (got < 0) {
			free(*text);
			return -errno;
		}
		*size += (size_t)got;
	}
	return *text ? 0 : -ENOMEM;
}

int lx_config_file_read(const char *path, int c_calls, const struct lx_config_messages *messages,
			struct lx_config_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	char *text = NULL;
	size_t size = 0;

	error = fd < 0 ? -errno : read_all(fd, &text, &size);
	if (fd >= 0)
		close(fd);
	if (!error)
		return lx_config_file_parse(path, text, size, c_calls, messages, file);
	if (error == -ENOENT)
		lx_error("%s: no such file; a commented one is written by: lextrace config init", path);
	else if (error == -EISDIR)
		lx_error("%s is a folder, no configuration file", path);
	else
		lx_error("%s: cannot be read: %s", path, strerror(-error));
	return 1;
}

void lx_config_file_free(struct lx_config_file *file)
{
	lx_rules_free(file->rules);
	free(file->text);
}

const char *lx_config_file_default(void)
{
	const char *named = getenv("PINSIGHT_TRACE_CONFIG_FILE");

	if (named && *named)
		return named;
	return access("pinsight_trace_config.txt", F_OK) == 0 ? "pinsight_trace_config.txt" : NULL;
}

const char *lx_config_place(const struct lx_config_file *file, uint32_t line, char *out, size_t size)
{
	if (line == LX_LINE_BUILT_IN)
		snprintf(out, size, "built in");
	else if (line == LX_LINE_ENVIRONMENT)
		snprintf(out, size, "environment");
	else
		snprintf(out, size, "%s:%u", file->name, line);
	return out;
}
