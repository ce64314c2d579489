/* The public C API of include/lextrace/lextrace.h, on top of capture/annotate.h. */
#include "lextrace/lextrace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/annotate.h"
#include "capture/control.h"

/* What waits comes first: it may change what is to be done with the region. */
static void attend(void)
{
	struct lx_thread *thread = lx_thread_self ? lx_thread_self : lx_thread_get();

	if (!thread || thread->busy)
		return;
	lx_guard(thread, 1);
	lx_control_serve(thread);
	lx_guard(thread, 0);
}

void lextrace_begin(lextrace_region *region)
{
	if (!lx_session_active())
		return;
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & ~LX_ATTENTION_STACKS) && !lx_python_attends)
		attend();
	uint32_t generation = __atomic_load_n(&lx_generation, __ATOMIC_ACQUIRE);

	/* Threads that meet a region first at the same time all find the same word. */
	if (lx_unlikely(__atomic_load_n(&region->generation, __ATOMIC_ACQUIRE) != generation)) {
		uint32_t plan, word = lx_region_look(region->name, strlen(region->name), &plan);

		__atomic_store_n(&region->word, word, __ATOMIC_RELAXED);
		__atomic_store_n(&region->plan, plan, __ATOMIC_RELAXED);
		if (word) /* else there was no room for its name: next time perhaps */
			__atomic_store_n(&region->generation, generation, __ATOMIC_RELEASE);
	}
	lx_region_begin(region, __atomic_load_n(&region->word, __ATOMIC_RELAXED),
			__atomic_load_n(&region->plan, __ATOMIC_RELAXED));
}

void lextrace_end(lextrace_region *region)
{
	lx_region_end(region, __atomic_load_n(&region->plan, __ATOMIC_RELAXED), false);
}

int64_t lextrace_knob_int(const char *name, int64_t otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) && knob.kind == LX_KNOB_INT ? knob.integer : otherwise;
}

double lextrace_knob_double(const char *name, double otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) && knob.kind != LX_KNOB_STRING ? knob.real : otherwise;
}

const char *lextrace_knob_string(const char *name, const char *otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) ? knob.text : otherwise;
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

	const char *c_calls = getenv("LEXTRACE_C_CALLS");
	int error = lx_session_active() ? -EBUSY : lx_control_start(NULL, c_calls && strcmp(c_calls, "1") == 0);

	if (!error) {
		lx_meters_start();
		error = lx_session_start(&options);
	}
	if (!error) {
		lx_control_started();
		if (!lx_signal_is_ignored())
			lx_signal_take();
	}
	return error;
}

void lextrace_stop(void)
{
	if (lx_session_active() && !lx_python_attends) {
		lx_signal_check();
		lx_signal_give_back();
	}
	lx_session_stop();
}
