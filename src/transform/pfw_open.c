#include "transform/pfw_open.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/numbers.h"
#include "base/text.h"
#include "transform/folder.h"
#include "transform/pfw.h"

#define SAID_SIZE 16384u

bool lx_pfw_is_name(const char *path)
{
	size_t size = strlen(path);

	return (size >= 4 && strcmp(path + size - 4, ".pfw") == 0) || (size >= 7 && strcmp(path + size - 7, ".pfw.gz") == 0);
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && lx_pfw_is_name(entry->d_name);
}

bool lx_pfw_is_folder(const char *path)
{
	struct dirent **list;
	int count = scandir(path, &list, is_entry, NULL);

	for (int i = 0; i < count; i++)
		free(list[i]);
	if (count >= 0)
		free(list);
	return count > 0;
}

static const char *keep(struct lx_store *store, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = lx_store_alloc(store, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

static int read_file(struct lx_pfw *pfw, const char *path, char *culprit, size_t culprit_size)
{
	const char *kept = keep(pfw->store, path);
	int error = kept ? lx_pfw_read(pfw, kept) : -ENOMEM;

	if (error < 0)
		snprintf(culprit, culprit_size, "%s", path);
	return error;
}

static int read_folder(struct lx_pfw *pfw, const char *path, char *culprit, size_t culprit_size)
{
	struct dirent **list;
	int count = scandir(path, &list, is_entry, alphasort), error = count < 0 ? -errno : 0;

	for (int i = 0; i < count; i++) {
		char *inner = error ? NULL : lx_folder_path(path, list[i]->d_name);

		if (!error)
			error = inner ? read_file(pfw, inner, culprit, culprit_size) : -ENOMEM;
		free(inner);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	return error;
}

static int read_path(struct lx_pfw *pfw, const char *path, char *culprit, size_t culprit_size)
{
	struct stat status;

	snprintf(culprit, culprit_size, "%s", path);
	if (stat(path, &status) < 0)
		return -errno;
	return S_ISDIR(status.st_mode) ? read_folder(pfw, path, culprit, culprit_size)
				       : read_file(pfw, path, culprit, culprit_size);
}

static void say_wrong(const struct lx_pfw *pfw, char *out, size_t size)
{
	char number[LX_NUMBER_SIZE], where[32] = "", path[1024];

	if (pfw->wrong_at)
		snprintf(where, sizeof(where), ":%" PRIu64, pfw->wrong_at);
	lx_escape(path, sizeof(path), pfw->wrong_path, strlen(pfw->wrong_path));
	snprintf(out, size, "%s left out, the first is %s:%" PRIu64 "%s: %s\n",
		 lx_format_plural(number, sizeof(number), pfw->wrong, "invalid line"), path, pfw->wrong_line, where,
		 pfw->wrong_why);
}

/* What the reader could not read: a line for each kind. */
static char *say(const struct lx_pfw *pfw)
{
	char text[SAID_SIZE] = "", number[LX_NUMBER_SIZE], path[1024];
	size_t used = 0;

	if (pfw->torn) {
		lx_escape(path, sizeof(path), pfw->torn_path, strlen(pfw->torn_path));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s: %s: read up to line %" PRIu64, path,
					 pfw->torn_why, pfw->torn_line);
		if (pfw->torn > 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "; so do %s",
						 lx_format_plural(number, sizeof(number), pfw->torn - 1, "other file"));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
	}
	if (pfw->wrong) {
		say_wrong(pfw, text + used, sizeof(text) - used);
		used = strlen(text);
	}
	if (pfw->other) {
		lx_escape(path, sizeof(path), pfw->other_path, strlen(pfw->other_path));
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s of an unknown kind (ph) left out, the first is %s:%" PRIu64 "\n",
					 lx_format_plural(number, sizeof(number), pfw->other, "record"), path, pfw->other_line);
	}
	if (pfw->apart)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s of threads with too many at a time stand on no stack: their callers are not known\n",
					 lx_format_plural(number, sizeof(number), pfw->apart, "span"));
	if (pfw->aggregated)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s stand for several calls each: their self time is all of their time\n",
					 lx_format_plural(number, sizeof(number), pfw->aggregated, "aggregated record"));
	return used ? (char *)keep(pfw->store, text) : NULL;
}

/* The files do not say what was recorded: what is in them was. */
static void set_modes(struct lx_process *process)
{
	uint32_t mode = process->row_count ? LX_MODE_MONITORING : LX_MODE_TRACING;

	process->state.modes[LX_DOMAIN_USER] = mode;
	for (size_t id = 1; id < process->lexgion_count; id++)
		process->state.modes[process->lexgions[id].domain] = mode;
}

static int build_all(struct lx_pfw *pfw, struct lx_trace *trace)
{
	struct lx_lexgion *lexgions;

	trace->processes = calloc(pfw->process_count, sizeof(*trace->processes));
	if (!trace->processes)
		return -ENOMEM;
	for (size_t i = 0; i < pfw->process_count; i++) {
		struct lx_process *process = &trace->processes[i];

		process->trace = trace;
		process->folder = (char *)pfw->processes[i].file;
		int error = lx_pfw_build(pfw, &pfw->processes[i], process);

		if (error < 0)
			return error;
		trace->process_count++;
	}
	/* Building can define names of arguments. */
	lexgions = lx_store_alloc(pfw->store, pfw->names.count * sizeof(*lexgions));
	if (!lexgions)
		return -ENOMEM;
	memcpy(lexgions, pfw->names.lexgions, pfw->names.count * sizeof(*lexgions));
	for (size_t i = 0; i < trace->process_count; i++) {
		trace->processes[i].lexgions = lexgions;
		trace->processes[i].lexgion_count = pfw->names.count;
		trace->processes[i].state.lexgions = pfw->names.count;
		set_modes(&trace->processes[i]);
	}
	return 0;
}

static void release(struct lx_pfw *pfw)
{
	for (size_t i = 0; i < pfw->track_count; i++) {
		free(pfw->tracks[i].spans);
		free(pfw->tracks[i].words.at);
		free(pfw->tracks[i].metadata.at);
	}
	for (size_t i = 0; i < pfw->process_count; i++) {
		free(pfw->processes[i].rows);
		free(pfw->processes[i].row_table);
	}
	free(pfw->tracks);
	free(pfw->processes);
	free(pfw->table);
	free(pfw->line.args);
	free(pfw->scratch.at);
	lx_pfw_names_free(&pfw->names);
	free(pfw);
}

static struct lx_pfw *begin(struct lx_store *store)
{
	struct lx_pfw *pfw = calloc(1, sizeof(*pfw));

	if (!pfw)
		return NULL;
	pfw->store = store;
	if (lx_pfw_names_init(&pfw->names, store) < 0) {
		release(pfw);
		return NULL;
	}
	return pfw;
}

/* All is read: the trace. `error` is that of reading. */
static int finish(struct lx_pfw *pfw, struct lx_trace *trace, int error)
{
	if (error == 0 && pfw->process_count == 0)
		error = -ENODATA;
	if (error == 0)
		error = build_all(pfw, trace);
	if (error == 0) {
		trace->said = say(pfw);
		trace->damaged = pfw->torn || pfw->wrong;
	}
	release(pfw);
	return error;
}

int lx_pfw_load(const char *const *paths, size_t count, struct lx_trace *trace, struct lx_store *store, char *culprit,
		size_t culprit_size)
{
	struct lx_pfw *pfw = begin(store);
	int error = 0;

	for (size_t i = 0; pfw && i < count && error == 0; i++)
		error = read_path(pfw, paths[i], culprit, culprit_size);
	return pfw ? finish(pfw, trace, error) : -ENOMEM;
}

int lx_pfw_load_text(const char *text, size_t size, struct lx_trace *trace, struct lx_store *store)
{
	struct lx_pfw *pfw = begin(store);

	if (!pfw)
		return -ENOMEM;
	lx_pfw_new_file(pfw, "text");
	return finish(pfw, trace, lx_pfw_take(pfw, text, size));
}
