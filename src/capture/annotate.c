#include "capture/annotate.h"

#include "capture/control.h"

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
