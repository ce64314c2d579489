#include "capture/annotate.h"

#include "capture/control.h"

uint32_t lx_region_define(const struct lx_region_place *region, uint32_t *plan)
{
	struct lx_place place = {
		.name = region->name,
		.name_size = region->name_size,
		.file = region->file,
		.file_size = region->file_size,
		.line = region->line,
		.domain = LX_DOMAIN_USER,
		.flags = LX_LEXGION_COMP_FLAGS(region->comp),
	};
	const struct lx_subject subject = {LX_DOMAIN_USER, region->name, region->file, region->name_size, region->file_size,
					   region->line};

	if (region->category_size <= UINT16_MAX)
		place.flags |= LX_LEXGION_CATEGORY_FLAGS(region->category_size);
	uint32_t word = lx_lexgion_define(&place);

	*plan = word ? lx_meter_plan(&subject, word, false) : 0;
	return word;
}

uint32_t lx_region_look(const char *name, size_t size, uint32_t *plan)
{
	const struct lx_region_place region = {.name = name, .name_size = size, .file = ""};

	return lx_region_define(&region, plan);
}

struct lx_thread *lx_region_thread(void)
{
	struct lx_thread *thread = !lx_session_active() ? NULL : lx_thread_self ? lx_thread_self : lx_thread_get();

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

static void begin(struct lx_thread *thread, const void *key, uint32_t word, uint32_t plan)
{
	if (lx_likely(!(plan & LX_PLAN_SLOW))) {
		lx_call_begin(thread, key, word, LX_EV_REGION_BEGIN);
	} else if (plan & LX_PLAN_COUNT) {
		lx_counted_begin(thread, key, word, LX_EV_REGION_BEGIN);
	} else if (!(plan & LX_PLAN_NEVER)) {
		const struct lx_call call = {key, word, LX_MARKED + LX_EV_REGION_BEGIN, 0, 0, 0};

		if (lx_metered_begin(thread, LX_LEXGION_ID(word), &call, 0))
			lx_quiet_begin(thread, key, word, LX_EV_REGION_BEGIN);
	}
}

/* What the end of a region may have left to do, and the guard's end. */
static void leave(struct lx_thread *thread)
{
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & LX_ATTENTION_WORK) && !lx_python_attends)
		lx_control_serve(thread);
	lx_guard(thread, 0);
}

void lx_region_begin(const void *key, uint32_t word, uint32_t plan)
{
	struct lx_thread *thread = lx_region_thread();

	if (!thread)
		return;
	begin(thread, key, word, plan);
	lx_guard(thread, 0);
}

void lx_region_end(const void *key, uint32_t plan, bool unwinding)
{
	struct lx_thread *thread = lx_region_thread();

	if (!thread)
		return;
	/* What is never recorded was not opened, but for what began under other rules. */
	if (!(plan & LX_PLAN_NEVER) || lx_call_is_top(thread, key, LX_REGION_KINDS | LX_REGION_KINDS << LX_MARKED))
		lx_call_end(thread, key, LX_REGION_KINDS, unwinding ? LX_EV_REGION_UNWIND : LX_EV_REGION_END);
	leave(thread);
}

void lx_region_leave_with(const void *key, uint32_t plan, bool unwinding)
{
	const uint32_t kind = unwinding ? LX_EV_REGION_UNWIND : LX_EV_REGION_END;
	struct lx_thread *thread = lx_region_thread();

	if (!thread)
		return;
	if (lx_likely(lx_call_is_top(thread, key, LX_REGION_KINDS | LX_REGION_KINDS << LX_MARKED)))
		lx_call_end(thread, key, LX_REGION_KINDS, kind);
	else if (!(plan & LX_PLAN_NEVER))
		lx_region_leave(thread, key, kind);
	leave(thread);
}

/* ---- Runs ---- */

/* Its call is the innermost one; the number follows the event that has opened it, if there was one. */
static void opened(struct lx_thread *thread, struct lx_run *run, uint32_t word)
{
	const struct lx_call *call = thread->stack.top - 1;

	run->open = thread->stack.top > thread->stack.base && call->key == run;
	if (run->open && (call->kind < LX_MARKED || (call->marks & (LX_CALL_QUIET | LX_CALL_NO_BEGIN)) == 0))
		lx_record_long(thread, LX_EV_REGION_RUN, word, &run->number, 1);
}

void lx_run_begin(struct lx_run *run, uint32_t word, uint32_t plan)
{
	static uint64_t last;
	struct lx_thread *thread = lx_region_thread();

	if (!thread)
		return;
	run->number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	run->session = lx_session_generation;
	begin(thread, run, word, plan);
	opened(thread, run, word);
	lx_guard(thread, 0);
}

void lx_run_suspend(struct lx_run *run)
{
	struct lx_thread *thread = run->open ? lx_region_thread() : NULL;

	run->open = run->recorded = false;
	if (!thread)
		return;
	run->generation = lx_generation;
	for (const struct lx_call *call = thread->stack.top; call > thread->stack.base && !run->recorded;) {
		call--;
		if (call->key != run)
			continue;
		run->kind = call->kind;
		run->marks = call->marks;
		run->recorded = true;
	}
	if (run->recorded) /* else it was forgotten: its domain has stopped meanwhile */
		lx_call_suspend(thread, run, run, LX_REGION_KINDS, LX_EV_REGION_SUSPEND);
	leave(thread);
}

/* Rules and modes are those of its begin, or it would not get here. */
static void open_again(struct lx_thread *thread, struct lx_run *run, uint32_t word)
{
	struct lx_call call = {run, word, LX_MARKED + LX_EV_REGION_RESUME, run->marks, 0, 0};

	if (run->kind < LX_MARKED)
		lx_call_begin(thread, run, word, LX_EV_REGION_RESUME);
	else if (run->marks & LX_CALL_COUNTED)
		lx_counted_begin(thread, run, word, LX_EV_REGION_RESUME);
	else
		lx_call_begin_marked(thread, &call, run->marks & LX_CALL_ADMITTED && !(run->marks & LX_CALL_NO_BEGIN));
}

void lx_run_resume(struct lx_run *run, uint32_t word, uint32_t plan)
{
	struct lx_thread *thread = run->recorded && run->session == lx_session_generation ? lx_region_thread() : NULL;

	if (!thread)
		return;
	if (run->generation == lx_generation || (plan & LX_PLAN_SLOW && !(plan & (LX_PLAN_COUNT | LX_PLAN_NEVER))))
		open_again(thread, run, word);
	else if (plan & LX_PLAN_COUNT)
		lx_counted_begin(thread, run, word, LX_EV_REGION_RESUME);
	else if (!(plan & LX_PLAN_NEVER))
		lx_call_begin(thread, run, word, LX_EV_REGION_RESUME);
	opened(thread, run, word);
	if (lx_regions_suspended)
		lx_regions_resume(thread, run);
	lx_guard(thread, 0);
}

void lx_run_end(struct lx_run *run, uint32_t plan, bool unwinding)
{
	if (run->open && run->session == lx_session_generation)
		lx_region_end(run, plan, unwinding);
	run->open = run->recorded = false;
}
