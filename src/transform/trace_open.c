#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "transform/folder.h"
#include "transform/pfw_open.h"

#define NOTES_MAX (1u << 20)

/* What lx_trace_open allocates: the trace is its first member. */
struct opened {
	struct lx_trace trace;
	struct lx_store store;
	struct lx_process *list;
	size_t room;
};

static char *keep_text(struct lx_store *store, const char *text, size_t size)
{
	char *copy = lx_store_alloc(store, size + 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

static int add_process(struct opened *opened, const char *folder)
{
	struct lx_trace *trace = &opened->trace;
	struct lx_process *process;

	if (trace->process_count == opened->room) {
		size_t room = opened->room ? 2 * opened->room : 16;
		struct lx_process *list = realloc(opened->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		opened->list = trace->processes = list;
		opened->room = room;
	}
	process = &opened->list[trace->process_count];
	memset(process, 0, sizeof(*process));
	process->trace = trace;
	process->folder = keep_text(&opened->store, folder, strlen(folder));
	if (!process->folder)
		return -ENOMEM;
	const char *slash = strrchr(process->folder, '/');

	process->name = slash ? slash + 1 : process->folder;
	trace->process_count++;
	return lx_folder_load(process, &opened->store);
}

/* Adds every process folder of the run. A folder of it that vanishes or can't be read is passed over. */
static int add_all(struct opened *opened, char *culprit, size_t culprit_size)
{
	DIR *folder = opendir(opened->trace.path);
	struct dirent *entry;
	int error = 0;

	if (!folder)
		return -errno;
	while (error == 0 && (entry = readdir(folder)) != NULL) {
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = lx_folder_path(opened->trace.path, entry->d_name);
		if (!path) {
			error = -ENOMEM;
			break;
		}
		if (lx_folder_is_process(path)) {
			error = add_process(opened, path);
			snprintf(culprit, culprit_size, "%s", path);
			if (error < 0 && error != -ENOMEM) {
				opened->trace.process_count--;
				error = 0;
			}
		}
		free(path);
	}
	closedir(folder);
	return error;
}

/* Files of another format; see pfw_open.h. */
static int add_files(struct opened *opened, const char *const *paths, size_t count, char *culprit, size_t culprit_size)
{
	int error = lx_pfw_load(paths, count, &opened->trace, &opened->store, culprit, culprit_size);

	opened->list = opened->trace.processes;
	return error;
}

static int by_start(const void *a, const void *b)
{
	const struct lx_process *left = a, *right = b;

	if (left->blank != right->blank)
		return left->blank ? 1 : -1;
	if (left->clock_real != right->clock_real)
		return left->clock_real < right->clock_real ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void finish(struct opened *opened)
{
	struct lx_trace *trace = &opened->trace;
	char *path = lx_folder_path(trace->path, "notes");
	size_t size;

	if (!path || lx_store_read(&opened->store, path, NOTES_MAX, &trace->notes, &size) < 0)
		trace->notes = NULL;
	free(path);
	qsort(trace->processes, trace->process_count, sizeof(*trace->processes), by_start);
	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];
		uint64_t first = lx_real_ns(process, process->first), last = lx_real_ns(process, process->last);

		if (i > 0 && process->blank)
			break;
		if (i == 0 || first < trace->first)
			trace->first = first;
		if (i == 0 || last > trace->last)
			trace->last = last;
	}
}

static int complain(int error, const char *path, const char *culprit, char *message, size_t size)
{
	switch (error) {
	case -ENOENT:
		if (*culprit && lx_pfw_is_name(culprit))
			snprintf(message, size, "%s: no such file; name files that are there", culprit);
		else
			snprintf(message, size, "no such folder: %s; give the folder that `lextrace run` made", path);
		break;
	case -ENOTDIR:
		snprintf(message, size, "not a folder: %s; give the folder that `lextrace run` made", path);
		break;
	case -EINVAL:
		snprintf(message, size, "no trace in this folder: %s; give the folder that `lextrace run` made", path);
		break;
	case -ENODATA:
		snprintf(message, size, "%s: no record in it; DFTracer leaves an empty file when its program is killed", culprit);
		break;
	case LX_FORMAT_NEWER:
		snprintf(message, size, "trace of a later lextrace: %s; read it with that version", culprit);
		return -EINVAL;
	case -ENOMEM:
		snprintf(message, size, "no memory to open the trace: %s; free some and try again", path);
		break;
	default:
		snprintf(message, size, "%s: %s; see to its permissions", strerror(-error), path);
		break;
	}
	return error;
}

static int add_path(struct opened *opened, const char *path, char *culprit, size_t culprit_size)
{
	struct stat status;
	int error;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return lx_pfw_is_name(path) ? add_files(opened, &path, 1, culprit, culprit_size) : -ENOTDIR;
	if (lx_folder_is_process(path))
		return add_process(opened, opened->trace.path);
	error = add_all(opened, culprit, culprit_size);
	if (error == 0 && opened->trace.process_count == 0 && lx_pfw_is_folder(path))
		error = add_files(opened, &path, 1, culprit, culprit_size);
	return error;
}

int lx_trace_open(const char *path, struct lx_trace **out, char *message, size_t message_size)
{
	return lx_trace_open_files(&path, 1, out, message, message_size);
}

int lx_trace_open_files(const char *const *paths, size_t count, struct lx_trace **out, char *message, size_t message_size)
{
	const char *path = paths[0];
	char culprit[4096] = "";
	struct opened *opened = calloc(1, sizeof(*opened));
	size_t size = strlen(path);
	int error = -ENOMEM;

	*out = NULL;
	if (!opened)
		return complain(-ENOMEM, path, path, message, message_size);
	while (size > 1 && path[size - 1] == '/')
		size--;
	opened->trace.path = keep_text(&opened->store, path, size);
	if (opened->trace.path)
		error = count == 1 ? add_path(opened, path, culprit, sizeof(culprit))
				   : add_files(opened, paths, count, culprit, sizeof(culprit));
	if (error == 0 && opened->trace.process_count == 0)
		error = -EINVAL;
	if (error != 0) {
		error = complain(error, path, culprit[0] ? culprit : path, message, message_size);
		lx_trace_close(&opened->trace);
		return error;
	}
	finish(opened);
	*out = &opened->trace;
	return 0;
}

void *lx_trace_alloc(struct lx_trace *trace, size_t size)
{
	return lx_store_alloc(&((struct opened *)trace)->store, size);
}

void lx_trace_close(struct lx_trace *trace)
{
	struct opened *opened = (struct opened *)trace;

	if (!opened)
		return;
	lx_store_free(&opened->store);
	free(opened->list);
	free(opened);
}
