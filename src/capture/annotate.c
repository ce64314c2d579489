#include "capture/annotate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/control.h"
#include "lextrace/lextrace.h"

uint32_t lx_region_look(const char *name, size_t size, uint32_t *plan)
{
	struct lx_place place = {.name = name, .name_size = size, .file = "", .domain = LX_DOMAIN_USER};
	const struct lx_subject subject = {LX_DOMAIN_USER, name, "", size, 0, 0};
	uint32_t word = lx_lexgion_define(&place);

	*plan = word ? lx_meter_plan(&subject, word, false) : 0;
	return word;
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
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & ~LX_ATTENTION_STACKS) && !lx_python_attends)
		lx_control_serve(thread);
	if (lx_unlikely(thread->special & ~LX_THREAD_OUTSIDE))
		lx_thread_special(thread);
	return thread;
}

void lx_region_begin(const void *key, uint32_t word, uint32_t plan)
{
	struct lx_thread *thread = lx_session_active() ? enter() : NULL;

	if (!thread)
		return;
	if (lx_likely(!(plan & LX_PLAN_SLOW))) {
		lx_call_begin(thread, key, word, LX_EV_REGION_BEGIN);
	} else if (plan & LX_PLAN_COUNT) {
		lx_counted_begin(thread, key, word, LX_EV_REGION_BEGIN);
	} else if (!(plan & LX_PLAN_NEVER)) {
		const struct lx_call call = {key, word, LX_MARKED + LX_EV_REGION_BEGIN, 0, 0, 0};

		if (lx_metered_begin(thread, LX_LEXGION_ID(word), &call, 0))
			lx_quiet_begin(thread, key, word, LX_EV_REGION_BEGIN);
	}
	lx_guard(thread, 0);
}

void lx_region_end(const void *key, uint32_t plan, bool unwinding)
{
	struct lx_thread *thread = lx_session_active() ? enter() : NULL;

	if (!thread)
		return;
	/* What is never recorded was not opened, but for what began under other rules. */
	if (!(plan & LX_PLAN_NEVER) || lx_call_is_top(thread, key, LX_REGION_KINDS | LX_REGION_KINDS << LX_MARKED))
		lx_call_end(thread, key, LX_REGION_KINDS, unwinding ? LX_EV_REGION_UNWIND : LX_EV_REGION_END);
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & LX_ATTENTION_WORK) && !lx_python_attends)
		lx_control_serve(thread);
	lx_guard(thread, 0);
}

/* ---- The public C API ---- */

/* What waits comes first: it may change what is to be done with the region. */
static void attend(void)
{
	struct lx_thread *thread = enter();

	if (thread)
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
