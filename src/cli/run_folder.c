/* The folder of a new run. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/runs.h"
#include "transform/folder.h"

/* Moment at which the run began, or its folder's own time; whether a process still writes to it: its pid, else 0. */
static uint32_t look_at_run(const char *path, char *when, size_t size)
{
	struct lx_trace *trace;
	struct stat status;
	char message[512];
	uint32_t writer = 0;
	time_t start = 0;
	struct tm local;

	if (stat(path, &status) == 0)
		start = status.st_mtime;
	if (lx_trace_open(path, &trace, message, sizeof(message)) == 0) {
		for (size_t i = 0; i < trace->process_count && !writer; i++)
			writer = trace->processes[i].running ? trace->processes[i].state.pid : 0;
		if (trace->process_count && trace->processes[0].state.start.realtime)
			start = (time_t)(trace->processes[0].state.start.realtime / 1000000000u);
		lx_trace_close(trace);
	}
	if (!localtime_r(&start, &local) || !strftime(when, size, "%Y-%m-%d %H:%M", &local))
		when[0] = '\0';
	return writer;
}

/* The first entry of the folder that is no part of a run ("" if all are); false: the folder cannot be read. */
static bool foreign_entry(const char *path, char *name, size_t size)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	name[0] = '\0';
	if (!folder)
		return false;
	while (!name[0] && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "notes") == 0)
			continue;
		char *inner = lx_folder_path(path, entry->d_name);

		if (!inner || !lx_folder_is_process(inner))
			snprintf(name, size, "%s", entry->d_name);
		free(inner);
	}
	closedir(folder);
	return true;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

/* Something is at `out` already. With `force`, and if it is nothing but a finished run, it is removed. */
static int make_room(const char *out, bool force)
{
	char name[NAME_MAX + 1], when[64];
	struct stat status;

	if (stat(out, &status) != 0 || !S_ISDIR(status.st_mode)) {
		lx_error("%s exists and is no folder; choose another place for the run", out);
		return LX_STATUS_CANNOT_START;
	}
	bool readable = foreign_entry(out, name, sizeof(name));
	bool run = lx_is_run(out);

	if (!run && (name[0] || !readable)) {
		lx_error("%s exists and is no run; choose another place", out);
		return LX_STATUS_CANNOT_START;
	}
	uint32_t writer = look_at_run(out, when, sizeof(when));

	if (!force) {
		lx_error("%s exists (%s%s); --force replaces it", out, run ? "a run of " : "empty", run ? when : "");
		return LX_STATUS_CANNOT_START;
	}
	if (writer || name[0]) {
		if (writer)
			lx_error("%s: process %u is still writing to it; choose another place", out, writer);
		else
			lx_error("%s holds more than a run (%s); --force replaces only runs", out, name);
		return LX_STATUS_CANNOT_START;
	}
	if (nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
		lx_error("cannot remove %s: %s", out, strerror(errno));
		return LX_STATUS_CANNOT_START;
	}
	return 0;
}

static int cannot_make(const char *path, bool ours)
{
	int reason = errno;
	const char *slash = strrchr(path, '/');
	char *above = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
	bool missing = reason == ENOENT && above && access(above, F_OK) != 0;

	free(above);
	if (missing) /* as typed: the folder that should hold it */
		lx_error("cannot make %s: no such folder %.*s", path, (int)(slash - path), path);
	else
		lx_error("cannot make %s: %s%s", path, strerror(reason), ours ? "; -o DIR puts the run elsewhere" : "");
	return LX_STATUS_CANNOT_START;
}

static int make_given(const char *out, bool force, struct lx_run_folder *folder)
{
	char *path = strdup(out);
	int status = 0;

	folder->shown = path;
	if (!path)
		return LX_STATUS_CANNOT_START;
	for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
		path[size - 1] = '\0';
	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST) {
		status = make_room(path, force);
		if (status == 0 && mkdir(path, 0777) == 0)
			return 0;
	}
	return status ? status : cannot_make(path, false);
}

/* mkdir decides between runs that start at the same time. */
static int make_next(const char *program, struct lx_run_folder *folder)
{
	for (unsigned number = 1;; number++) {
		if (asprintf(&folder->shown, "lextrace-%s-%u", program, number) < 0)
			return LX_STATUS_CANNOT_START;
		if (mkdir(folder->shown, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			return cannot_make(folder->shown, true);
		free(folder->shown);
	}
}

int lx_run_folder_make(const char *out, bool force, const char *program, struct lx_run_folder *folder)
{
	int status = out ? make_given(out, force, folder) : make_next(program, folder);

	if (status != 0)
		return status;
	folder->absolute = realpath(folder->shown, NULL);
	return folder->absolute ? 0 : cannot_make(folder->shown, !out);
}
