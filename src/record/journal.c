#include "record/internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

#define LINE_SIZE 4096

/* Appends a line to a file that others may append to as well. */
static void append_line(const char *path, const char *line, size_t size)
{
	struct stat status;

	lx_file_append(path, stat(path, &status) == 0 ? (uint64_t)status.st_size : 0, line, size);
}

void lx_journal(const char *format, ...)
{
	char path[LX_PATH_SIZE + 32], line[LINE_SIZE];
	va_list arguments;

	if (!lx_session.active || lx_session.forked)
		return;
	size_t size = (size_t)snprintf(line, sizeof(line), "%llu ", (unsigned long long)lx_ticks());

	va_start(arguments, format);
	int length = vsnprintf(line + size, sizeof(line) - size - 1, format, arguments);

	va_end(arguments);
	if (length < 0)
		return;
	size += (size_t)length < sizeof(line) - size - 1 ? (size_t)length : sizeof(line) - size - 2;
	for (size_t i = 0; i < size; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[size++] = '\n';
	snprintf(path, sizeof(path), "%s/lextrace/journal", lx_session.folder);
	append_line(path, line, size);
}

/* Whether the notes hold this line already. */
static bool noted(const char *path, const char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool found = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size < 1 << 20) {
		char *text = malloc((size_t)status.st_size);
		ssize_t got = text ? read(fd, text, (size_t)status.st_size) : 0;

		found = got > 0 && memmem(text, (size_t)got, line, size) != NULL;
		free(text);
	}
	close(fd);
	return found;
}

void lx_note(const char *format, ...)
{
	char path[LX_PATH_SIZE + 32], line[LINE_SIZE];
	va_list arguments;

	if (!lx_session.active)
		return;
	size_t size = (size_t)snprintf(line, sizeof(line), "process %d: ", (int)getpid());

	va_start(arguments, format);
	int length = vsnprintf(line + size, sizeof(line) - size - 1, format, arguments);

	va_end(arguments);
	if (length < 0)
		return;
	size += (size_t)length < sizeof(line) - size - 1 ? (size_t)length : sizeof(line) - size - 2;
	line[size++] = '\n';
	snprintf(path, sizeof(path), "%s/notes", lx_session.run);
	if (!noted(path, line, size))
		append_line(path, line, size);
}

struct kept {
	const char *path, *text;
	size_t size;
};

static int produce_config(void *context, lx_text_sink sink, void *sink_context)
{
	const struct kept *kept = context;
	char first[LX_PATH_SIZE * 4 + 2];
	size_t size = kept->path ? lx_escape(first, sizeof(first) - 1, kept->path, strlen(kept->path)) : 1;

	if (!kept->path)
		first[0] = '-';
	first[size++] = '\n';
	int error = sink(sink_context, first, size);

	return error || kept->size == 0 ? error : sink(sink_context, kept->text, kept->size);
}

static char config_path[LX_PATH_SIZE];

const char *lx_config_path(void)
{
	return config_path[0] ? config_path : NULL;
}

#define FORMER_MAX 1000 /* a program may be reloaded without end */

/* The configuration before stays beside the new one: readers need it for the time before. */
static void keep_former(const char *config)
{
	char former[LX_PATH_SIZE + 48];
	static unsigned number;
	static uint32_t epoch;

	if (epoch != lx_session.epoch) {
		epoch = lx_session.epoch;
		number = 0;
	}
	if (access(config, F_OK) != 0 || number >= FORMER_MAX)
		return;
	snprintf(former, sizeof(former), "%s-%u", config, ++number);
	rename(config, former);
}

void lx_config_keep(const char *path, const char *text, size_t size)
{
	snprintf(config_path, sizeof(config_path), "%s", path ? path : "");
	char target[LX_PATH_SIZE + 32], temporary[LX_PATH_SIZE + 32];
	struct kept kept = {path, text, size};

	lx_lock();
	if (lx_session.active && !lx_session.forked) {
		snprintf(target, sizeof(target), "%s/lextrace/config", lx_session.folder);
		keep_former(target);
		snprintf(temporary, sizeof(temporary), "%s/lextrace/config.new", lx_session.folder);
		lx_file_replace(target, temporary, produce_config, &kept);
	}
	lx_unlock();
}
