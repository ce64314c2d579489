#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/runs.h"
#include "transform/folder.h"
#include "transform/pfw_open.h"

#define LISTED_MAX 5 /* names in a message */

struct found {
	char *name;
	struct timespec changed;
};

struct runs {
	struct found *list; /* newest first */
	size_t count;
};

bool lx_is_run(const char *path)
{
	DIR *folder;
	struct dirent *entry;
	bool found = lx_folder_is_process(path);

	if (found || !(folder = opendir(path)))
		return found;
	while (!found && (entry = readdir(folder))) {
		char *inner = entry->d_name[0] == '.' ? NULL : lx_folder_path(path, entry->d_name);

		found = inner && lx_folder_is_process(inner);
		free(inner);
	}
	closedir(folder);
	return found;
}

/* lextrace-PROGRAM-N, which is a run even where nothing was traced. */
static bool has_our_name(const char *name)
{
	const char *dash = strrchr(name, '-');

	return strncmp(name, "lextrace-", 9) == 0 && dash > name + 8 && isdigit((unsigned char)dash[1]) &&
	       dash[1 + strspn(dash + 1, "0123456789")] == '\0';
}

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->changed.tv_sec != y->changed.tv_sec)
		return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
	if (x->changed.tv_nsec != y->changed.tv_nsec)
		return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add(struct runs *runs, const char *name, const struct stat *status)
{
	struct found *list = realloc(runs->list, (runs->count + 1) * sizeof(*list));

	if (!list)
		return;
	runs->list = list;
	if ((list[runs->count].name = strdup(name)))
		list[runs->count++].changed = status->st_mtim;
}

static struct runs runs_here(void)
{
	struct runs runs = { NULL, 0 };
	DIR *folder = opendir(".");
	struct dirent *entry;
	struct stat status;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && stat(entry->d_name, &status) == 0 && S_ISDIR(status.st_mode) &&
		    (has_our_name(entry->d_name) || lx_is_run(entry->d_name)))
			add(&runs, entry->d_name, &status);
	if (folder)
		closedir(folder);
	if (runs.count)
		qsort(runs.list, runs.count, sizeof(*runs.list), newest_first);
	return runs;
}

static void runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free(runs->list[i].name);
	free(runs->list);
}

void lx_runs_print(FILE *out)
{
	struct runs runs = runs_here();

	for (size_t i = 0; i < runs.count; i++)
		fprintf(out, "%s\n", runs.list[i].name);
	runs_free(&runs);
}

static void no_such_folder(const char *path, const struct runs *runs)
{
	char names[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < runs->count && i < LISTED_MAX && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", runs->list[i].name);
	if (runs->count > LISTED_MAX && used < sizeof(names))
		snprintf(names + used, sizeof(names) - used, " and %zu more", runs->count - LISTED_MAX);
	if (runs->count)
		lx_error("%s: no such folder; runs here: %s", path, names);
	else
		lx_error("%s: no such folder; no run is here either: lextrace run PROGRAM makes one", path);
}

/* The newest run that holds something, said where a newer one does not; the newest where none does. */
static char *newest_traced(const struct runs *runs)
{
	size_t first = 0;

	while (first < runs->count && !lx_is_run(runs->list[first].name))
		first++;
	if (first == runs->count)
		first = 0;
	if (first > 0)
		lx_error("%s holds no trace: this is %s", runs->list[0].name, runs->list[first].name);
	return strdup(runs->list[first].name);
}

void lx_say_no_trace(const char *path)
{
	const char *name = strrchr(path, '/');
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool empty = folder;

	while (empty && (entry = readdir(folder)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			strcmp(entry->d_name, "notes") == 0;
	if (folder)
		closedir(folder);
	if (empty || has_our_name(name && name[1] ? name + 1 : path))
		lx_error("%s: no Python process was traced "
			 "(started with -I, -E, -S or an empty environment, or no Python at all)", path);
	else
		lx_error("%s holds no trace (no file \"metadata\" in it or below it)", path);
}

/* Such files of one run are read together. */
static bool all_pfw(const struct lx_args *args)
{
	int count = 0;

	while (count < args->word_count && lx_pfw_is_name(args->words[count]))
		count++;
	return count == args->word_count;
}

char *lx_find_run(const struct lx_args *args, bool *named_by_us)
{
	struct stat status;
	char *path = NULL;

	*named_by_us = args->word_count == 0;
	if (args->word_count > 1 && !all_pfw(args)) {
		lx_error("%s: one run at a time; the first is %s", args->words[1], args->words[0]);
		return NULL;
	}
	if (args->word_count && stat(args->words[0], &status) == 0)
		return strdup(args->words[0]);
	if (args->word_count && errno != ENOENT) {
		lx_error("%s: %s", args->words[0], strerror(errno));
		return NULL;
	}

	struct runs runs = runs_here();

	if (args->word_count)
		no_such_folder(args->words[0], &runs);
	else if (!runs.count)
		lx_error("no run in this folder; lextrace run PROGRAM makes one, or name its folder");
	else
		path = newest_traced(&runs);
	runs_free(&runs);
	return path;
}
