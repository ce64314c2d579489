/* The files beside the trace: rows and the threads they name, the journal, the configuration. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "transform/parse.h"

void lx_parse_rows(struct lx_process *process, void *data, size_t size)
{
	struct lx_row *rows = data;
	size_t count = size / sizeof(*rows), taken = 0, kept = 0;

	for (size_t i = 0; i < count; i++)
		taken += rows[i].lexgion != 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].lexgion && (rows[i].thread < LX_THREADS_PLENTY || rows[i].thread / 16 < taken))
			rows[kept++] = rows[i];
	process->rows = rows;
	process->row_count = kept;
}

/* The decimal number at *at, before a blank, which is passed too. False: none is there. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
	const char *digit = *at;

	*number = 0;
	for (; digit < end && *digit >= '0' && *digit <= '9'; digit++)
		*number = *number * 10 + (uint64_t)(*digit - '0');
	if (digit == *at || digit == end || *digit != ' ')
		return false;
	*at = digit + 1;
	return true;
}

/* The whole line at *at, which moves behind it; a line without an end was being written. */
static const char *take_line(const char **at, const char *end, const char **line_end)
{
	const char *line = *at;

	*line_end = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
	if (!*line_end)
		return NULL;
	*at = *line_end + 1;
	return line;
}

void lx_parse_threads(struct lx_process *process, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *line, *line_end;

	while (size && (line = take_line(&at, end, &line_end))) {
		char name[LX_THREAD_NAME_SIZE * 4];
		uint64_t number, tid;

		if (!take_number(&line, line_end, &number) || !take_number(&line, line_end, &tid))
			continue;
		size_t length = (size_t)(line_end - line);

		if (number >= process->thread_count || process->threads[number].tid || length > sizeof(name))
			continue;
		process->threads[number].tid = (uint32_t)tid;
		lx_parse_thread_name(&process->threads[number], name, lx_unescape(name, sizeof(name), line, length));
	}
}

int lx_parse_journal(struct lx_process *process, struct lx_store *store, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *line, *line_end;
	size_t lines = 0, room = 4 * size + 1; /* an escaped byte takes four */
	char *out;

	if (!size)
		return 0;
	while (take_line(&at, end, &line_end))
		lines++;
	process->journal = lx_store_alloc(store, lines * sizeof(*process->journal));
	out = lx_store_alloc(store, room);
	if (!process->journal || !out)
		return -ENOMEM;
	for (at = text; (line = take_line(&at, end, &line_end));) {
		struct lx_journal_line *now = &process->journal[process->journal_count];

		if (!take_number(&line, line_end, &now->ticks))
			continue;
		size_t used = lx_escape(out, room, line, (size_t)(line_end - line)) + 1;

		now->text = out;
		out += used;
		room -= used;
		process->journal_count++;
	}
	return 0;
}

void lx_parse_config(struct lx_config *config, char *text, size_t size)
{
	char *end = size ? memchr(text, '\n', size) : NULL;
	size_t path;

	if (!end)
		return;
	path = lx_unescape(text, size, text, (size_t)(end - text));
	text[path] = '\0';
	config->path = strcmp(text, "-") == 0 ? NULL : text;
	config->text = end + 1;
	config->size = size - (size_t)(end + 1 - text);
}

void lx_parse_reloads(struct lx_process *process)
{
	size_t reloads = 0;

	for (size_t i = 0; i < process->journal_count; i++) {
		if (strncmp(process->journal[i].text, "reload ", 7) != 0)
			continue;
		if (++reloads < process->earlier_count)
			process->earlier[reloads].from = process->journal[i].ticks;
		process->config.from = process->journal[i].ticks;
	}
	/* One is missing: nobody knows which, so only the last one counts. */
	if (reloads != process->earlier_count)
		process->earlier_count = 0;
}
