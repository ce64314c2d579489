#include "capture/annotate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lextrace/lextrace.h"

uint32_t lx_region_word(const char *name, size_t size)
{
	struct lx_place place = {.name = name, .name_size = size, .file = "", .domain = LX_DOMAIN_USER};

	return lx_lexgion_define(&place);
}

/* The calling thread with its guard set; NULL: leave the event out. */
static struct lx_thread *enter(void)
{
	struct lx_thread *thread = lx_thread_self ? lx_thread_self : lx_thread_get();

	if (!thread)
		return NULL;
	if (thread->busy) {
		thread->reentered++;
		return NULL;
	}
	lx_guard(thread, 1);
	return thread;
}

void lx_region_begin(const void *key, uint32_t word)
{
	struct lx_thread *thread = lx_session_active() ? enter() : NULL;

	if (!thread)
		return;
	lx_call_begin(thread, key, word, LX_EV_REGION_BEGIN);
	lx_guard(thread, 0);
}

void lx_region_end(const void *key, bool unwinding)
{
	struct lx_thread *thread = lx_session_active() ? enter() : NULL;

	if (!thread)
		return;
	lx_call_end(thread, key, LX_REGION_KINDS, unwinding ? LX_EV_REGION_UNWIND : LX_EV_REGION_END);
	lx_guard(thread, 0);
}

/* ---- The public C API ---- */

void lextrace_begin(lextrace_region *region)
{
	if (!lx_session_active())
		return;
	/* Threads that meet a region first at the same time all find the same word. */
	if (lx_unlikely(__atomic_load_n(&region->generation, __ATOMIC_ACQUIRE) != lx_session_generation)) {
		uint32_t word = lx_region_word(region->name, strlen(region->name));

		__atomic_store_n(&region->word, word, __ATOMIC_RELAXED);
		if (word) /* else there was no room for its name: next time perhaps */
			__atomic_store_n(&region->generation, lx_session_generation, __ATOMIC_RELEASE);
	}
	lx_region_begin(region, __atomic_load_n(&region->word, __ATOMIC_RELAXED));
}

void lextrace_end(lextrace_region *region)
{
	lx_region_end(region, false);
}

/* The words of /proc/self/cmdline; the size without the last NUL. */
static size_t command_line(char *out, size_t space)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t size = file ? fread(out, 1, space, file) : 0;

	if (file)
		fclose(file);
	return size > 0 && out[size - 1] == '\0' ? size - 1 : size;
}

int lextrace_start(const char *run)
{
	char argv[4096], executable[PATH_MAX], folder[PATH_MAX];
	const char *follow = getenv("LEXTRACE_FOLLOW"), *root = getenv("LEXTRACE_ROOT"), *program = getenv("LEXTRACE_PROGRAM");
	bool is_root = root && atoi(root) == (int)getpid(); /* the process that `lextrace run` started */
	ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	executable[length > 0 ? length : 0] = '\0';
	if (!run)
		run = getenv("LEXTRACE_DIR");
	if (!run || !*run)
		return -EINVAL;
	if (*run != '/') { /* the program may change its folder */
		size_t size = getcwd(folder, sizeof(folder)) ? strlen(folder) : sizeof(folder);

		if (size + strlen(run) + 2 > sizeof(folder))
			return -ENAMETOOLONG;
		sprintf(folder + size, "/%s", run);
		run = folder;
	}
	struct lx_session_options options = {
		.run = run,
		.program = is_root && program ? program : program_invocation_short_name,
		.executable = executable,
		.argv = argv,
		.argv_size = command_line(argv, sizeof(argv)),
		.follow = !follow || strcmp(follow, "0") != 0,
		.announce = is_root && !getenv("LEXTRACE_QUIET"),
	};

	return lx_session_start(&options);
}

void lextrace_stop(void)
{
	lx_session_stop();
}
