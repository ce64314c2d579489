#define _GNU_SOURCE
#include "transform/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "transform/parse.h"
#include "transform/running.h"

#define PROCESS_TEXT_MAX (4u << 20) /* argv and environment of a process are at most 2 MiB, escaped up to fourfold */
#define JOURNAL_MAX (64u << 20)     /* a million changes */
#define CONFIG_MAX (65u << 20)      /* no longer one is read by the recorder */
#define THREADS_MAX (256u << 20)

char *lx_folder_path(const char *path, const char *name)
{
	char *joined;

	return asprintf(&joined, "%s/%s", path, name) < 0 ? NULL : joined;
}

static bool has(const char *path, const char *name, mode_t type)
{
	char *joined = lx_folder_path(path, name);
	struct stat status;
	bool found = joined && stat(joined, &status) == 0 && (status.st_mode & S_IFMT) == type;

	free(joined);
	return found;
}

bool lx_folder_is_process(const char *path)
{
	return has(path, "lextrace", S_IFDIR) && (has(path, "lextrace/state", S_IFREG) || has(path, "stream-0", S_IFREG) ||
						  has(path, "lextrace/lexgions", S_IFREG));
}

/* K of PREFIX-K, as we write it: no sign, no leading zeros. */
static bool numbered(const char *name, const char *prefix, unsigned *number)
{
	size_t size = strlen(prefix);
	unsigned long value;
	char *end;

	if (strncmp(name, prefix, size) != 0 || name[size] < '0' || name[size] > '9' ||
	    (name[size] == '0' && name[size + 1] != '\0'))
		return false;
	errno = 0;
	value = strtoul(name + size, &end, 10);
	*number = (unsigned)value;
	return *end == '\0' && errno == 0 && value <= INT_MAX;
}

struct numbers {
	unsigned *list;
	size_t count, room;
};

static int add_number(struct numbers *numbers, unsigned number)
{
	if (numbers->count == numbers->room) {
		size_t room = numbers->room ? 2 * numbers->room : 64;
		unsigned *list = realloc(numbers->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		numbers->list = list;
		numbers->room = room;
	}
	numbers->list[numbers->count++] = number;
	return 0;
}

static int list_numbered(const char *path, const char *prefix, struct numbers *numbers)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	unsigned number;
	int error = 0;

	if (!folder)
		return -errno;
	while (error == 0 && (entry = readdir(folder)) != NULL)
		if (numbered(entry->d_name, prefix, &number))
			error = add_number(numbers, number);
	closedir(folder);
	return error;
}

static int by_value(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

int lx_folder_streams(const char *path, struct lx_store *store, unsigned **out, size_t *count)
{
	struct numbers numbers = {0};
	char *inner = lx_folder_path(path, "lextrace");
	int error = inner ? list_numbered(inner, "packet-", &numbers) : -ENOMEM;

	if (error == -ENOENT)
		error = 0;
	if (error == 0)
		error = list_numbered(path, "stream-", &numbers);
	free(inner);
	*count = 0;
	*out = error == 0 ? lx_store_alloc(store, numbers.count * sizeof(**out)) : NULL;
	if (*out && numbers.count > 0) {
		qsort(numbers.list, numbers.count, sizeof(*numbers.list), by_value);
		for (size_t i = 0; i < numbers.count; i++)
			if (*count == 0 || (*out)[*count - 1] != numbers.list[i])
				(*out)[(*count)++] = numbers.list[i];
	}
	free(numbers.list);
	return error == 0 && !*out ? -ENOMEM : error;
}

/* A file that is not there, or can't be read, is as good as an empty one: the rest of the trace is read. */
static int load(struct lx_store *store, const char *path, size_t limit, char **data, size_t *size)
{
	int error = lx_store_read(store, path, limit, data, size);

	if (error < 0) {
		*data = NULL;
		*size = 0;
	}
	return error == -ENOMEM ? error : 0;
}

static int load_named(struct lx_process *process, struct lx_store *store, const char *name, size_t limit, char **data,
		      size_t *size)
{
	char *path = lx_folder_path(process->folder, name);
	int error = path ? load(store, path, limit, data, size) : -ENOMEM;

	free(path);
	return error;
}

/*
 * The open packet is read before its stream: if the writer appends it in between, it is met twice, which its number
 * tells; the other way round it could be missed. The writer may also begin the next packet while this one is copied:
 * then the number has changed afterwards, and the copy is made again.
 */
static int load_open(struct lx_process *process, struct lx_store *store, unsigned number, char **data, size_t *size)
{
	char name[40];
	int error = 0;

	snprintf(name, sizeof(name), "lextrace/packet-%u", number);
	for (int tries = 0; tries < 10 && error == 0; tries++) {
		char *again;
		size_t again_size;

		error = load_named(process, store, name, LX_PACKET_MAX, data, size);
		if (error < 0 || !process->running || *size < sizeof(struct lx_packet))
			return error;
		error = load_named(process, store, name, sizeof(struct lx_packet), &again, &again_size);
		if (error < 0 || again_size < sizeof(struct lx_packet))
			return error;
		if (((struct lx_packet *)*data)->packet_seq_num == ((struct lx_packet *)again)->packet_seq_num)
			return 0;
	}
	*data = NULL;
	return error;
}

static int load_stream(struct lx_process *process, struct lx_store *store, struct lx_stream *stream)
{
	char name[40], *open = NULL, *path;
	size_t open_size = 0, size = 0;
	const void *data = NULL;
	int error = load_open(process, store, stream->number, &open, &open_size);

	if (error < 0)
		return error;
	snprintf(name, sizeof(name), "stream-%u", stream->number);
	path = lx_folder_path(process->folder, name);
	error = path ? lx_store_map(store, path, &data, &size) : -ENOMEM;
	free(path);
	if (error == -ENOMEM)
		return error;
	if (error < 0)
		size = 0;
	stream->mapped = true;
	error = lx_parse_stream(store, stream, data, size, open, open_size);
	if (process->running)
		stream->torn = false; /* an append is under way */
	return error;
}

/* lextrace/config-1 and on: what a reload replaced. */
static int load_earlier(struct lx_process *process, struct lx_store *store)
{
	size_t lines = 0;

	for (size_t i = 0; i < process->journal_count; i++)
		lines += strncmp(process->journal[i].text, "reload ", 7) == 0;
	process->earlier = lx_store_alloc(store, lines * sizeof(*process->earlier));
	if (!process->earlier)
		return -ENOMEM;
	for (; process->earlier_count < lines; process->earlier_count++) {
		char name[40], *text;
		size_t size;

		snprintf(name, sizeof(name), "lextrace/config-%zu", process->earlier_count + 1);
		int error = load_named(process, store, name, CONFIG_MAX, &text, &size);

		if (error < 0)
			return error;
		lx_parse_config(&process->earlier[process->earlier_count], text, size);
		if (!process->earlier[process->earlier_count].text)
			return 0;
	}
	return 0;
}

/* What stands beside the trace and hangs on no other file. */
static int load_beside(struct lx_process *process, struct lx_store *store)
{
	char *text;
	size_t size;
	int error = load_named(process, store, "lextrace/rows", SIZE_MAX - 1, &text, &size);

	if (error == 0) {
		lx_parse_rows(process, text, size);
		error = load_named(process, store, "lextrace/journal", JOURNAL_MAX, &text, &size);
	}
	if (error == 0)
		error = lx_parse_journal(process, store, text, size);
	if (error == 0)
		error = load_named(process, store, "lextrace/config", CONFIG_MAX, &text, &size);
	if (error < 0)
		return error;
	lx_parse_config(&process->config, text, size);
	error = load_earlier(process, store);
	lx_parse_reloads(process);
	return error;
}

int lx_folder_load(struct lx_process *process, struct lx_store *store)
{
	unsigned *numbers;
	char *text;
	size_t size;
	int error = load_named(process, store, "lextrace/state", LX_STATE_SIZE, &text, &size);

	if (error < 0)
		return error;
	if (lx_parse_state(process, text, size) && process->state.version > LX_FORMAT_VERSION)
		return LX_FORMAT_NEWER;
	error = load_named(process, store, "lextrace/process", PROCESS_TEXT_MAX, &text, &size);
	if (error < 0)
		return error;
	lx_parse_process(process, text, size);
	process->running = lx_process_running(process);
	process->killed = !process->running && process->state.ended == 0;
	error = lx_folder_streams(process->folder, store, &numbers, &process->stream_count);
	if (error < 0)
		return error;
	process->streams = lx_store_alloc(store, process->stream_count * sizeof(*process->streams));
	if (!process->streams)
		return -ENOMEM;
	for (size_t i = 0; i < process->stream_count; i++) {
		process->streams[i].number = numbers[i];
		error = load_stream(process, store, &process->streams[i]);
		if (error < 0)
			return error;
	}
	error = load_beside(process, store);
	/* Last: a writer defines a lexgion before it uses it. */
	if (error == 0)
		error = load_named(process, store, "lextrace/lexgions", SIZE_MAX - 1, &text, &size);
	if (error == 0)
		error = lx_parse_lexgions(process, store, text, size);
	if (error == 0)
		error = lx_parse_finish(process, store);
	if (error == 0 && process->row_count > 0)
		error = load_named(process, store, "lextrace/threads", THREADS_MAX, &text, &size);
	if (error == 0 && process->row_count > 0)
		lx_parse_threads(process, text, size);
	return error;
}
