/* What `lextrace ctl` asks: read from lextrace/request, answered in lextrace/answer. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "capture/control.h"
#include "capture/control_file.h"

static uint64_t asked; /* number of the request at hand */

static int produce(void *context, lx_text_sink sink, void *sink_context)
{
	return sink(sink_context, context, strlen(context));
}

void lx_control_answer(bool ok, const char *format, ...)
{
	char path[1200], temporary[1200], line[4096];
	const char *folder = lx_session_folder();
	va_list arguments;
	size_t size = (size_t)snprintf(line, sizeof(line), "%llu %s ", (unsigned long long)asked, ok ? "ok" : "error");

	va_start(arguments, format);
	vsnprintf(line + size, sizeof(line) - size - 1, format, arguments);
	va_end(arguments);
	strcat(line, "\n");
	snprintf(path, sizeof(path), "%s/lextrace/answer", folder);
	snprintf(temporary, sizeof(temporary), "%s/lextrace/answer.new", folder);
	lx_lock();
	if (*folder)
		lx_file_replace(path, temporary, produce, line);
	lx_unlock();
	__atomic_store_n(&lx_session_state()->request, asked, __ATOMIC_RELEASE);
}

static void set_modes(struct lx_thread *thread, const char *text)
{
	int8_t modes[LX_RULED_DOMAINS];
	char message[256];

	if (!lx_modes_parse(text, strlen(text), '=', modes, message, sizeof(message))) {
		lx_control_answer(false, "%s", message);
		return;
	}
	bool changed = lx_control_modes(thread, modes, "ctl");

	lx_control_answer(true, "%s", changed ? "set" : "nothing has changed");
}

static void make_chunk(void)
{
	char path[2048];
	int error = lx_chunk_make(path, sizeof(path));

	if (error)
		lx_control_answer(false, "the snapshot could not be made: %s", strerror(-error));
	else
		lx_control_answer(true, "%s", path);
}

bool lx_control_request(struct lx_thread *thread)
{
	char path[1200];
	const char *folder = lx_session_folder();
	struct lx_text_file file;
	bool reload = false;

	lx_attention_clear(LX_ATTENTION_REQUEST);
	if (!*folder)
		return false;
	snprintf(path, sizeof(path), "%s/lextrace/request", folder);
	if (lx_text_read(path, &file) != 0)
		return false;
	char *line = strndup(file.bytes, file.size), *end;

	free(file.bytes);
	if (!line)
		return false;
	line[strcspn(line, "\n")] = '\0';
	uint64_t number = strtoull(line, &end, 10);

	if (end > line && *end == ' ' && number > lx_session_state()->request) {
		const char *command = end + 1;

		asked = number;
		reload = strcmp(command, "reload") == 0;
		if (strncmp(command, "mode ", 5) == 0)
			set_modes(thread, command + 5);
		else if (strcmp(command, "snapshot") == 0)
			make_chunk();
		else if (!reload)
			lx_control_answer(false, "unknown request");
	}
	free(line);
	return reload;
}
