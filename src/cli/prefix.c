#include "cli/prefix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sides.h"
#include "transform/inflate.h"
#include "view/export.h"

#define DIGITS 16
#define RUN_ENDING "-app.lextrace"

/* What follows the prefix is "-<16 hex>": returns what comes then, or NULL. */
static const char *after_number(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);

	if (strncmp(name, prefix, size) != 0 || name[size] != '-' || strspn(name + size + 1, "0123456789abcdef") < DIGITS)
		return NULL;
	return name + size + 1 + DIGITS;
}

static bool is_file_ending(const char *ending)
{
	static const char *const endings[] = { "-app.pfw", "-app.pfw.gz",     "-fork.pfw",    "-fork.pfw.gz",
					       "-preload.pfw", "-preload.pfw.gz" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(ending, endings[i]) == 0)
			return true;
	return false;
}

static int add(char ***list, size_t *count, const char *folder, const char *name)
{
	char **grown = realloc(*list, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	if (asprintf(&grown[*count], "%s%s", folder, name) < 0)
		return -ENOMEM;
	++*count;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int lx_prefix_look(const char *prefix, struct lx_prefix *found)
{
	const char *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix, *ending;
	char *folder = strndup(prefix, (size_t)(base - prefix));
	DIR *entries = folder ? opendir(*folder ? folder : ".") : NULL;
	struct dirent *entry;
	int error = folder ? 0 : -ENOMEM;

	*found = (struct lx_prefix){ 0 };
	while (!error && *base && entries && (entry = readdir(entries)) != NULL) {
		ending = after_number(entry->d_name, base);
		if (!ending)
			continue;
		if (strcmp(ending, RUN_ENDING) == 0)
			error = add(&found->runs, &found->run_count, folder, entry->d_name);
		else if (is_file_ending(ending))
			error = add(&found->files, &found->file_count, folder, entry->d_name);
	}
	if (entries)
		closedir(entries);
	free(folder);
	if (found->file_count > 1)
		qsort(found->files, found->file_count, sizeof(*found->files), by_name);
	if (found->run_count > 1)
		qsort(found->runs, found->run_count, sizeof(*found->runs), by_name);
	return error;
}

void lx_prefix_free(struct lx_prefix *found)
{
	for (size_t i = 0; i < found->file_count; i++)
		free(found->files[i]);
	for (size_t i = 0; i < found->run_count; i++)
		free(found->runs[i]);
	free(found->files);
	free(found->runs);
	*found = (struct lx_prefix){ 0 };
}

/* ---- Which process wrote the run's own file ---- */

static size_t read_more(void *context, void *to, size_t size)
{
	ssize_t got = read(*(int *)context, to, size);

	return got > 0 ? (size_t)got : 0;
}

static bool enough(void *context, struct lx_inflate *inflate)
{
	(void)context;
	(void)inflate;
	return false;
}

/* The "pid" of its first records; 0: none is there. */
static uint32_t pid_of_file(const char *path)
{
	uint8_t text[4096 + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct lx_inflate inflate = { .more = read_more, .full = enough, .context = &fd, .out = text, .limit = text + 4096 };
	const char *pid;
	ssize_t got = fd < 0 ? 0 : read(fd, text, 4096);

	if (got > 2 && text[0] == 0x1f && text[1] == 0x8b && lseek(fd, 0, SEEK_SET) == 0) {
		lx_inflate(&inflate, "", 0);
		got = inflate.out - text;
	}
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	pid = strstr((const char *)text, "\"pid\":");
	return pid ? (uint32_t)strtoul(pid + 6, NULL, 10) : 0;
}

/* ---- Names ---- */

/* PREFIX-<16 hex> of the run's folder with this ending; NULL: no memory. */
static char *beside(const char *run, const char *ending)
{
	char *path;

	return asprintf(&path, "%.*s%s", (int)(strlen(run) - strlen(RUN_ENDING)), run, ending) < 0 ? NULL : path;
}

/* The file of a child: the run's number gives way to a hash of the names of the run and of the process's folder. */
static char *of_child(const char *run, const char *process)
{
	const char *slash = strrchr(run, '/'), *base = slash ? slash + 1 : run;
	uint64_t hash = 0xcbf29ce484222325u; /* 64-bit FNV-1a */
	size_t kept = strlen(run) - strlen(RUN_ENDING) - DIGITS;
	char *path;

	for (; *base; base++)
		hash = (hash ^ (unsigned char)*base) * 0x100000001b3u;
	hash = (hash ^ '/') * 0x100000001b3u;
	for (; *process; process++)
		hash = (hash ^ (unsigned char)*process) * 0x100000001b3u;
	return asprintf(&path, "%.*s%016" PRIx64 "-fork.pfw", (int)kept, run, hash) < 0 ? NULL : path;
}

/* The file NAME.pfw or NAME.pfw.gz, as it is there; NULL: neither is. malloc'd. */
static char *existing(const char *name)
{
	char *packed;

	if (access(name, F_OK) == 0)
		return strdup(name);
	if (asprintf(&packed, "%s.gz", name) < 0)
		return NULL;
	if (access(packed, F_OK) == 0)
		return packed;
	free(packed);
	return NULL;
}

/* ---- Writing ---- */

static int export_process(struct lx_trace *trace, const struct lx_process *process, struct lx_out *out)
{
	struct lx_pass pass = { .trace = trace, .only_process = process->name };
	struct lx_export export = { .pass = &pass, .format = &lx_export_pfw, .out = out };
	int error = lx_pass_init(&pass);

	if (!error)
		error = lx_export_run(&export);
	lx_pass_free(&pass);
	if (!error)
		return lx_out_commit(out);
	lx_out_abandon(out);
	return error;
}

/* Makes the file NAME.pfw.gz, or NAME.pfw where there is no gzip. */
static bool write_file(struct lx_trace *trace, const struct lx_process *process, const char *name)
{
	struct lx_out out;
	char *path;
	int error;

	if (asprintf(&path, "%s.gz", name) < 0)
		return false;
	error = lx_out_open(&out, path);
	if (error == -EOPNOTSUPP) {
		path[strlen(name)] = '\0';
		error = lx_out_open(&out, path);
	}
	if (!error)
		error = export_process(trace, process, &out);
	if (error)
		lx_error("cannot write %s: %s; the trace of process %u is in %s", path, strerror(-error), process->state.pid,
			 process->folder);
	else
		lx_error("%s written for process %u, which %s; its folder stays: %s", path, process->state.pid,
			 process->killed ? "was killed" : "could not", process->folder);
	free(path);
	return !error;
}

static bool complete_process(struct lx_trace *trace, const struct lx_process *process, const char *run, uint32_t owner)
{
	bool first = process == trace->processes;
	char *name, *there = NULL;
	bool written = false;

	if (process->running || process->blank || (owner && process->state.pid == owner))
		return false;
	name = first && !owner ? beside(run, "-app.pfw") : of_child(run, process->name);
	if (name && !(there = existing(name)))
		written = write_file(trace, process, name);
	free(there);
	free(name);
	return written;
}

/* *running: a process of it still writes to the folder. */
static bool complete_run(const char *run, bool *running)
{
	struct lx_trace *trace;
	char message[1024], *name = beside(run, "-app.pfw"), *there = name ? existing(name) : NULL;
	uint32_t owner = there ? pid_of_file(there) : 0;
	bool written = false;

	if (there && owner == 0)
		owner = UINT32_MAX; /* somebody's: nobody else may take the name */
	if (lx_trace_open(run, &trace, message, sizeof(message)) == 0) {
		if (lx_sides_find(trace) == 0)
			for (size_t i = 0; i < trace->process_count; i++) {
				written = complete_process(trace, &trace->processes[i], run, owner) || written;
				*running = *running || trace->processes[i].running;
			}
		lx_trace_close(trace);
	}
	free(there);
	free(name);
	return written;
}

bool lx_prefix_complete(const struct lx_prefix *found)
{
	bool *running = calloc(found->run_count + 1, sizeof(*running)), written = false;

	for (size_t i = 0; running && i < found->run_count; i++)
		written = complete_run(found->runs[i], &running[i]) || written;
	for (size_t i = 0; running && i < found->run_count && (written || found->file_count > 0); i++)
		if (running[i])
			lx_error("%s is still running, and not in this; name that folder to read it", found->runs[i]);
	free(running);
	return written;
}
