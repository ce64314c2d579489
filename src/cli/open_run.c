#include "cli/open_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/prefix.h"
#include "cli/runs.h"
#include "cli/sides.h"

/* The files that the prefix of an annotated program's log stands for; a folder of it where there are none. */
static int open_prefix(const struct lx_prefix *found, struct lx_trace **trace, char *message, size_t size)
{
	if (found->file_count > 0)
		return lx_trace_open_files((const char *const *)found->files, found->file_count, trace, message, size);
	if (found->run_count > 1)
		lx_error("%zu runs begin so: this is %s", found->run_count, found->runs[found->run_count - 1]);
	return lx_trace_open(found->runs[found->run_count - 1], trace, message, size);
}

/* The one word is such a prefix, not a path. */
static bool find_prefix(const struct lx_args *args, struct lx_prefix *found)
{
	*found = (struct lx_prefix){ 0 };
	if (args->word_count != 1 || access(args->words[0], F_OK) == 0 || lx_prefix_look(args->words[0], found) < 0)
		return false;
	if (lx_prefix_complete(found)) {
		lx_prefix_free(found);
		if (lx_prefix_look(args->words[0], found) < 0)
			return false;
	}
	return found->file_count + found->run_count > 0;
}

struct lx_trace *lx_open_run(const struct lx_args *args, bool *named_by_us)
{
	struct lx_trace *trace = NULL;
	struct lx_prefix prefix;
	bool is_prefix = find_prefix(args, &prefix);
	char *path = is_prefix ? strdup(args->words[0]) : lx_find_run(args, named_by_us);
	char message[1024];
	int error;

	if (!path) {
		lx_prefix_free(&prefix);
		return NULL;
	}
	if (is_prefix) {
		*named_by_us = false;
		error = open_prefix(&prefix, &trace, message, sizeof(message));
	} else if (args->word_count > 1) {
		error = lx_trace_open_files((const char *const *)args->words, (size_t)args->word_count, &trace, message,
					    sizeof(message));
	} else {
		error = lx_trace_open(path, &trace, message, sizeof(message));
	}
	lx_prefix_free(&prefix);
	if (error == -EINVAL)
		lx_say_no_trace(path);
	else if (error < 0)
		lx_error("%s", message);
	if (error == 0 && lx_sides_find(trace) < 0) {
		lx_error("%s: not enough memory to read it", path);
		lx_trace_close(trace);
		trace = NULL;
	}
	if (error < 0)
		trace = NULL;
	for (char *line = trace ? trace->said : NULL; line && *line; line += strcspn(line, "\n") + 1)
		lx_error("%.*s", (int)strcspn(line, "\n"), line);
	free(path);
	return trace;
}

/* Where the last `parts` parts of a path begin. */
static const char *last_parts(const char *path, unsigned parts)
{
	size_t at = strlen(path);

	while (at > 0 && (path[at - 1] != '/' || --parts > 0))
		at--;
	return path + at;
}

const char *lx_run_name(const struct lx_trace *trace)
{
	const char *last = last_parts(trace->path, 1);
	bool chunk = strncmp(last_parts(trace->path, 3), "lextrace/chunks/", 16) == 0;

	return chunk ? last_parts(trace->path, 4) : *last ? last : trace->path;
}

/* "4121 app, 4122 app": what could have been meant. */
static void list(char *text, size_t size, size_t *count, uint32_t number, const char *name)
{
	size_t used = strlen(text);

	if (++*count <= 5)
		snprintf(text + used, size - used, "%s%u %s", used ? ", " : "", number, name);
	else if (*count == 6)
		snprintf(text + used, size - used, ", …");
}

bool lx_check_filters(const struct lx_pass *pass)
{
	char processes[600] = "", threads[600] = "";
	size_t process_count = 0, thread_count = 0;
	bool has_process = false, has_thread = false;

	for (size_t i = 0; i < pass->trace->process_count; i++) {
		const struct lx_process *process = &pass->trace->processes[i];
		const char *program = process->key[LX_KEY_program];

		list(processes, sizeof(processes), &process_count, process->state.pid, program ? program : "");
		if (!lx_pass_has_process(pass, process))
			continue;
		has_process = true;
		for (size_t number = 0; number < process->thread_count; number++) {
			const struct lx_thread_info *thread = &process->threads[number];

			if (!thread->tid)
				continue;
			list(threads, sizeof(threads), &thread_count, thread->number, thread->name);
			has_thread = has_thread || lx_pass_has_thread(pass, thread);
		}
	}
	if (!has_process)
		lx_error("no process %s in this run; it has %s", pass->only_process, processes);
	else if (pass->only_thread && !has_thread)
		lx_error("no thread %s in this run; it has %s", pass->only_thread, threads);
	return has_process && (has_thread || !pass->only_thread);
}
