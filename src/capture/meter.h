/*
 * Windows at run time: what the rules say of each lexgion, decided once for each generation of rules and modes, and how
 * many calls of it each thread has seen and recorded. Nothing here knows Python; Python's hooks hold the GIL, regions of
 * C threads do not: what several threads change is atomic or under the session's lock.
 */
#ifndef LX_CAPTURE_METER_H
#define LX_CAPTURE_METER_H

#include "decide/rules.h"
#include "record/record.h"

/* What is to be done with the calls of a lexgion. 0: written at both ends, nothing else. */
#define LX_PLAN_SLOW 1u      /* one of what follows, or a window or a set: ask lx_metered_begin */
#define LX_PLAN_C 2u         /* C calls from it are wanted */
#define LX_PLAN_COUNT 4u     /* MONITORING */
#define LX_PLAN_NEVER 8u     /* no call of it, in any thread */
#define LX_PLAN_IMPORT 16u   /* the function that imports modules: their names are wanted */
#define LX_PLAN_UNDECIDED 32u /* to be looked up: the rules have changed */

struct lx_meter {
	uint32_t generation; /* for which `plan` was decided */
	uint32_t rules;      /* the rules for which section and window hold */
	uint32_t plan;
	uint32_t open;       /* admitted calls that are open or suspended */
	uint32_t used_up;    /* living threads whose window is */
	uint32_t checked, checked_threads; /* used_up + 1 and lx_python_threads_version at the last look at all threads */
	bool checked_all;    /* what it found: the window of each thread in the set is used up */
	bool limited;        /* the section has a set of threads */
	const struct lx_section *section; /* of lx_rules_now */
	struct lx_window window;
};

/* Changes with the session, the rules and the modes: plans are decided anew. Never 0. */
extern LX_API uint32_t lx_generation;

/* Never NULL, also before any configuration was read. With the session's lock held, or the GIL. */
extern LX_API const struct lx_rules *lx_rules_now;

static inline uint32_t lx_mode(uint32_t domain)
{
	return __atomic_load_n(&lx_session_state()->modes[domain], __ATOMIC_RELAXED);
}

/* Counts the rules that were in force; lx_meter.rules is one of these. */
extern LX_API uint32_t lx_rules_number;

/* Whether the window can be used up. */
bool lx_window_is_finite(const struct lx_window *window);
/* Empties all meters; with the session's lock held. */
void lx_meters_clear(void);

/* The meter of a lexgion; NULL without memory. Its address stays. */
LX_API struct lx_meter *lx_meter_at(uint32_t id);

/* What to do with calls of the lexgion; decides if it is not decided yet. */
LX_API uint32_t lx_meter_plan(const struct lx_subject *subject, uint32_t word, bool c_callable);

/*
 * A call of a lexgion under LX_PLAN_SLOW begins: it is opened as a marked call, admitted or quiet, and its begin written as
 * the switches say. `marks` are added to an admitted call. `switches` are the bits for begin and end, or 0: those of the
 * lexgion. Returns true, with nothing opened, if no thread will have a call of it admitted any more.
 */
LX_API bool lx_metered_begin(struct lx_thread *thread, uint32_t id, const struct lx_call *call, uint32_t switches);

/* A call that is told of as a whole, under LX_PLAN_SLOW: whether the window takes it. Counts it. */
LX_API bool lx_metered_alone(struct lx_thread *thread, uint32_t word);

/* Whether no thread will have a call of it admitted any more, and none is open. */
LX_API bool lx_meter_is_done(struct lx_thread *thread, uint32_t id);

/* A call that is open, but not recorded: so that its end does not pass for another's. */
static inline void lx_quiet_begin(struct lx_thread *thread, const void *key, uint32_t word, uint32_t kind)
{
	struct lx_call call = {key, word, (uint16_t)(LX_MARKED + kind), LX_CALL_QUIET, 0, 0};

	lx_call_begin_marked(thread, &call, false);
}

/* The plan of a function under a window, and nothing else. */
static inline bool lx_plan_is_metered(uint32_t plan)
{
	return (plan & ~LX_PLAN_C) == LX_PLAN_SLOW;
}

/* Most calls under a rate, or beyond a cap, end here: opened as quiet. False: ask lx_metered_begin. */
static inline bool lx_metered_skip(struct lx_thread *thread, const void *key, uint32_t word)
{
	uint32_t id = LX_LEXGION_ID(word);

	if (id >= thread->count_space)
		return false;
	const struct lx_count *count = &thread->counts[id];

	if (count->generation != lx_generation || count->row->seen + 1 >= count->look_at ||
	    thread->stack.top == thread->stack.limit)
		return false;
	count->row->seen++;
	struct lx_call *call = thread->stack.top++;

	call->key = key;
	call->word = word;
	call->kind = LX_MARKED + LX_EV_FUNCTION_BEGIN;
	call->marks = LX_CALL_QUIET;
	return true;
}

/* The innermost call is this one and quiet: it has ended. */
static inline bool lx_quiet_end(struct lx_thread *thread, const void *key, uint64_t begin_kinds)
{
	if (!lx_call_is_top(thread, key, begin_kinds << LX_MARKED) || thread->stack.top[-1].marks != LX_CALL_QUIET)
		return false;
	thread->stack.top--;
	return true;
}

/* ---- Threads that may record ---- */

/* Living threads that have run Python and are in the domain's set; and a number that changes with them. */
extern LX_API uint32_t lx_python_threads, lx_python_threads_version;
/* Threads that were started and have not run Python yet: until then no window counts as used up by all. */
extern LX_API uint32_t lx_python_threads_coming;
/* New threads come so often that what is used up stays enabled for now. */
extern LX_API bool lx_windows_held;
/* A window counted as used up by all since the last restart of events. */
extern LX_API bool lx_windows_spared;

/* Decides whether the thread is outside the Python domain's sets. */
LX_API void lx_meter_thread_placed(struct lx_thread *thread);

/* ---- Work that the end of a window leaves ---- */

struct lx_work {
	struct lx_work *next;
	struct lx_action action; /* with texts of its own */
	uint32_t domain, group, rules;
	uint32_t line; /* that says so; as in rules.h */
};

/* The oldest piece of work, or NULL; to be freed with lx_work_free. */
LX_API struct lx_work *lx_work_take(void);
LX_API void lx_work_free(struct lx_work *work);
/* These domains (bits) keep the mode they have: somebody newer has set it. */
LX_API void lx_work_yield(struct lx_work *work, uint32_t domains);
/* The windows of the work's group begin anew. */
LX_API void lx_work_renew(const struct lx_work *work);

/* ---- For capture/control.c ---- */

/* Puts rules in force; the ones before are freed. Takes the session's lock. */
LX_API void lx_meters_rule(struct lx_rules *rules);
/* A session begins: nothing of the one before counts. */
LX_API void lx_meters_start(void);
/* Plans are to be decided anew. */
LX_API void lx_meters_undecided(void);
/* Called by the two above, with the lock held: capture's own caches of plans are void. */
extern LX_API void (*lx_plans_void)(void);
/* Called before rules are replaced, without the lock. */
extern LX_API void (*lx_rules_change)(void);

#endif
