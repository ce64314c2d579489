#include "capture/meter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*lx_plans_void)(void);
void (*lx_rules_change)(void);
uint32_t lx_python_threads, lx_python_threads_version, lx_python_threads_coming;
bool lx_windows_held, lx_windows_spared;

static struct lx_work *works; /* the oldest first */
static struct lx_rules *own_rules;
static uint32_t cycle_now = 1;

/* Windows of a group begin anew and fire their action together. */
static struct group {
	uint32_t cycle;  /* cycle_now when it began */
	uint32_t open;   /* pairs of lexgion and thread that were met and whose window is open */
	bool fired;
} *groups;
static uint32_t group_count;

static struct group *group_of(const struct lx_meter *meter)
{
	return meter->rules == lx_rules_number && meter->window.group < group_count ? &groups[meter->window.group] : NULL;
}

/* ---- Windows ---- */

static bool is_over(const struct lx_row *row, const struct lx_window *window, uint64_t now)
{
	if (window->max_traces >= 0 && row->recorded >= (uint64_t)window->max_traces)
		return true;
	return window->timeout > 0 && row->opened &&
	       (double)(now - row->opened) >= window->timeout * (double)lx_session_state()->clock_frequency;
}

static void set_used_up(struct lx_meter *meter, struct lx_count *count, bool used_up)
{
	if (used_up && !count->used_up)
		__atomic_fetch_add(&meter->used_up, 1, __ATOMIC_RELAXED);
	else if (!used_up && count->used_up && meter->used_up)
		__atomic_fetch_sub(&meter->used_up, 1, __ATOMIC_RELAXED);
	count->used_up = used_up;
}

static void set_met(const struct lx_meter *meter, struct lx_count *count, bool met)
{
	struct group *group = group_of(meter);

	if (group && met && !count->met)
		group->open++;
	else if (group && !met && count->met && group->open > 0)
		group->open--;
	count->met = met;
}

#define LOOK_EVERY 64u /* calls beyond a cap between two looks whether all threads are beyond it */

/* The next call that is recorded, or needs a look. */
static void look_next(const struct lx_meter *meter, struct lx_count *count)
{
	const struct lx_window *window = &meter->window;
	uint64_t seen = count->row->seen, past = seen > window->starts_at ? seen - window->starts_at : 0;

	if (!count->in_set || window->timeout > 0)
		count->look_at = 0;
	else if (count->used_up)
		count->look_at = seen + LOOK_EVERY;
	else
		count->look_at = window->starts_at + (past / window->rate + 1) * window->rate;
}

/* What holds for this thread, after the rules, the modes or its number have changed. */
static void look_again(struct lx_thread *thread, struct lx_meter *meter, struct lx_count *count, uint32_t domain)
{
	uint32_t punits[LX_PUNIT_KINDS_MAX] = {lx_thread_number(thread), LX_NO_PUNIT, LX_NO_PUNIT};

	lx_lock();
	const struct group *group = group_of(meter);

	if (meter->rules != lx_rules_number) { /* the rules changed under a thread without the GIL: its next call is decided */
		lx_unlock();
		count->in_set = 0;
		return;
	}
	count->in_set = lx_rules_domain_admits(lx_rules_now, domain, punits) && lx_section_admits(meter->section, punits);
	count->switches = (uint8_t)lx_rules_switches(lx_rules_now, meter->section, domain, punits);
	if (count->generation < meter->generation || (group && group->cycle > count->cycle))
		count->used_up = count->met = 0; /* they were counted for what was before */
	if (group && group->cycle > count->cycle)
		count->row->seen = count->row->recorded = count->row->opened = count->row->ended = 0;
	count->cycle = cycle_now;
	count->generation = lx_generation;
	bool over = is_over(count->row, &meter->window, lx_ticks());

	set_used_up(meter, count, over);
	if (!over)
		count->row->ended = 0;
	set_met(meter, count, count->in_set && lx_window_is_finite(&meter->window) && !count->row->ended);
	look_next(meter, count);
	lx_unlock();
}

static void leave_work(const struct lx_meter *meter, uint32_t domain)
{
	const struct lx_section *source = lx_rules_window_source(lx_rules_now, meter->section, LX_KEY_ACTION);
	struct lx_work *work = calloc(1, sizeof(*work));

	if (!work)
		return;
	work->action = *meter->window.action;
	work->action.script = work->action.script ? strdup(work->action.script) : NULL;
	work->action.text = NULL;
	work->domain = domain;
	work->group = meter->window.group;
	work->rules = lx_rules_number;
	work->line = source ? source->window.action_line : LX_LINE_BUILT_IN;
	struct lx_work **last = &works;

	while (*last)
		last = &(*last)->next;
	*last = work;
	lx_attention_set(LX_ATTENTION_WORK);
}

struct lx_work *lx_work_take(void)
{
	lx_lock();
	struct lx_work *work = works;

	if (work)
		works = work->next;
	if (!works)
		lx_attention_clear(LX_ATTENTION_WORK);
	lx_unlock();
	return work;
}

void lx_work_yield(struct lx_work *work, uint32_t domains)
{
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++)
		if (domains >> domain & 1)
			work->action.modes[domain] = -1;
}

void lx_work_free(struct lx_work *work)
{
	free((char *)work->action.script);
	free(work);
}

/* The last call of the window has ended, or its time has: with all that follows, once. */
static void end_window(struct lx_meter *meter, struct lx_count *count, uint32_t domain)
{
	if (count->row->ended)
		return;
	count->row->ended = lx_ticks();
	lx_lock();
	set_used_up(meter, count, true);
	set_met(meter, count, false);
	struct group *group = group_of(meter);

	if (group && meter->window.action && !group->fired && lx_mode(domain) == LX_MODE_TRACING &&
	    (meter->window.trigger == LX_TRIGGER_FIRST || group->open == 0)) {
		group->fired = true;
		leave_work(meter, domain);
	}
	lx_unlock();
}

static uint32_t domain_of(uint32_t kind)
{
	kind %= LX_MARKED;
	return LX_REGION_KINDS >> kind & 1 ? LX_DOMAIN_USER : LX_DOMAIN_PYTHON;
}

/* Whether this call is one that the window takes. Counts it. */
static bool admit(struct lx_thread *thread, struct lx_meter *meter, struct lx_count *count, uint32_t domain, bool *last)
{
	const struct lx_window *window = &meter->window;
	struct lx_row *row = count->row;

	(void)thread;
	row->seen++;
	if (count->used_up) {
		count->look_at = row->seen + LOOK_EVERY;
		return false;
	}
	if (window->timeout > 0 && is_over(row, window, lx_ticks())) {
		end_window(meter, count, domain);
		return false;
	}
	if (row->seen <= window->starts_at || (row->seen - window->starts_at) % window->rate != 0)
		return false;
	row->recorded++;
	count->look_at = window->timeout > 0 ? 0 : row->seen + window->rate;
	if (!row->opened)
		row->opened = lx_ticks();
	*last = window->max_traces >= 0 && row->recorded >= (uint64_t)window->max_traces;
	if (*last) {
		lx_lock();
		set_used_up(meter, count, true);
		lx_unlock();
	}
	return true;
}

bool lx_metered_begin(struct lx_thread *thread, uint32_t id, const struct lx_call *call, uint32_t switches)
{
	struct lx_meter *meter = lx_meter_at(id);
	struct lx_count *count = lx_count_of(thread, id);
	struct lx_call opened = *call;
	uint32_t domain = domain_of(call->kind);
	bool last = false;

	opened.marks = LX_CALL_QUIET;
	if (!meter || !count || (!count->row && !lx_row_make(thread, count, id, false)))
		return false;
	if (lx_unlikely(count->generation != lx_generation))
		look_again(thread, meter, count, domain);
	if (!count->in_set || !admit(thread, meter, count, domain, &last)) {
		if (lx_meter_is_done(thread, id))
			return true;
		lx_call_begin_marked(thread, &opened, false);
		return false;
	}
	if (!switches)
		switches = count->switches;
	opened.marks = (uint16_t)(call->marks | LX_CALL_ADMITTED | (last ? LX_CALL_LAST : 0) |
				  (switches & 1u << LX_PY_START ? 0 : LX_CALL_NO_BEGIN) |
				  (switches & 1u << LX_PY_RETURN ? 0 : LX_CALL_QUIET));
	if (lx_call_begin_marked(thread, &opened, !(opened.marks & LX_CALL_NO_BEGIN)))
		__atomic_fetch_add(&meter->open, 1, __ATOMIC_RELAXED);
	return false;
}

bool lx_metered_alone(struct lx_thread *thread, uint32_t word)
{
	uint32_t id = LX_LEXGION_ID(word);
	struct lx_meter *meter = lx_meter_at(id);
	struct lx_count *count = lx_count_of(thread, id);
	bool last = false;

	if (!meter || !count || (!count->row && !lx_row_make(thread, count, id, false)))
		return false;
	if (count->generation != lx_generation)
		look_again(thread, meter, count, LX_DOMAIN_USER);
	if (!count->in_set || !admit(thread, meter, count, LX_DOMAIN_USER, &last))
		return false;
	if (last || meter->window.timeout > 0)
		if (is_over(count->row, &meter->window, lx_ticks()))
			end_window(meter, count, LX_DOMAIN_USER);
	return true;
}

void lx_meter_call_ended(struct lx_thread *thread, const struct lx_call *call)
{
	uint32_t id = LX_LEXGION_ID(call->word);
	struct lx_meter *meter = lx_meter_at(id);
	struct lx_count *count = id < thread->count_space ? &thread->counts[id] : NULL;

	if (!meter)
		return;
	__atomic_fetch_sub(&meter->open, 1, __ATOMIC_RELAXED);
	if (!count || !count->row || meter->rules != lx_rules_number)
		return;
	if (call->marks & LX_CALL_LAST || meter->window.timeout > 0)
		if (is_over(count->row, &meter->window, lx_ticks()))
			end_window(meter, count, domain_of(call->kind));
}

/* ---- Whether anybody may still record it ---- */

/* Of the threads in the section's set. */
static bool all_in_set_used_up(struct lx_meter *meter, uint32_t id)
{
	bool all = true;

	if (meter->checked == meter->used_up + 1 && meter->checked_threads == lx_python_threads_version)
		return meter->checked_all; /* nothing has changed since the last look */
	lx_lock();
	for (struct lx_thread *thread = lx_threads_first(); thread && all; thread = thread->next) {
		uint32_t punits[LX_PUNIT_KINDS_MAX] = {thread->number, LX_NO_PUNIT, LX_NO_PUNIT};

		if (!thread->numbered || thread->special & LX_THREAD_OUTSIDE || !lx_section_admits(meter->section, punits))
			continue;
		const struct lx_count *count = id < thread->count_space ? &thread->counts[id] : NULL;

		all = count && count->generation == lx_generation && count->used_up;
	}
	lx_unlock();
	meter->checked = meter->used_up + 1;
	meter->checked_threads = lx_python_threads_version;
	meter->checked_all = all;
	return all;
}

bool lx_meter_is_done(struct lx_thread *thread, uint32_t id)
{
	struct lx_meter *meter = lx_meter_at(id);

	if (!meter || meter->open || meter->rules != lx_rules_number || meter->generation != lx_generation)
		return false;
	if (meter->plan & LX_PLAN_NEVER)
		return true;
	const struct lx_count *count = id < thread->count_space ? &thread->counts[id] : NULL;

	if (!count || lx_windows_held || lx_python_threads_coming || (count->in_set && !count->used_up))
		return false;
	if (meter->limited ? !all_in_set_used_up(meter, id) : meter->used_up < lx_python_threads)
		return false;
	lx_windows_spared = true;
	return true;
}

/* ---- Threads ---- */

static void place(struct lx_thread *thread)
{
	uint32_t punits[LX_PUNIT_KINDS_MAX] = {thread->number, LX_NO_PUNIT, LX_NO_PUNIT};
	bool inside = lx_rules_domain_admits(lx_rules_now, LX_DOMAIN_PYTHON, punits);

	if (inside)
		__atomic_fetch_and(&thread->special, ~LX_THREAD_OUTSIDE, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(&thread->special, LX_THREAD_OUTSIDE, __ATOMIC_RELAXED);
	thread->placed = true;
	thread->inside = inside;
	lx_python_threads += inside;
	lx_python_threads_version++;
}

void lx_meter_thread_placed(struct lx_thread *thread)
{
	lx_thread_number(thread);
	lx_lock();
	if (!thread->placed)
		place(thread);
	lx_unlock();
}

void lx_meter_thread_renewed(struct lx_thread *thread)
{
	bool python = thread->placed || thread->tid == (uint32_t)getpid();

	if (!thread->placed) { /* a forked child: no other thread is left, and no call is open */
		lx_python_threads = lx_python_threads_coming = 0;
		lx_meters_start();
	}
	if (python)
		lx_meter_thread_placed(thread);
}

void lx_meter_thread_ends(struct lx_thread *thread)
{
	for (uint32_t id = thread->first_count; id && id < thread->count_space; id = thread->counts[id].next) {
		struct lx_meter *meter = lx_meter_at(id);
		struct lx_count *count = &thread->counts[id];

		if (!meter || count->generation < meter->generation)
			continue;
		set_used_up(meter, count, false);
		set_met(meter, count, false);
	}
	for (const struct lx_call *call = thread->stack.base; call < thread->stack.top; call++)
		if (call->kind >= LX_MARKED && call->marks & LX_CALL_ADMITTED)
			__atomic_fetch_sub(&lx_meter_at(LX_LEXGION_ID(call->word))->open, 1, __ATOMIC_RELAXED);
	if (thread->inside)
		lx_python_threads--;
	lx_python_threads_version++;
}

/* ---- Rules ---- */

static void count_open(uint32_t word)
{
	struct lx_meter *meter = lx_meter_at(LX_LEXGION_ID(word));

	if (meter)
		meter->open++;
}

/* What a group did stays true for the same section in the new rules. */
static void carry_groups(const struct lx_rules *old, struct group *carried, const struct lx_rules *rules)
{
	for (size_t i = 0; old && i < rules->section_count; i++) {
		const struct lx_section *section = rules->sections[i], *before = NULL;
		struct lx_window now, then;

		if (section->kind == LX_SECTION_DOMAIN || section->kind == LX_SECTION_PUNIT)
			continue;
		lx_rules_window(rules, section, &now);
		if (!now.action)
			continue;
		for (size_t j = 0; j < old->section_count && !before; j++)
			if (strcmp(old->sections[j]->title, section->title) == 0)
				before = old->sections[j];
		if (!before)
			continue;
		lx_rules_window(old, before, &then);
		if (then.group >= group_count)
			continue;
		carried[now.group].cycle = groups[then.group].cycle;
		if (now.starts_at == then.starts_at && now.max_traces == then.max_traces && now.rate == then.rate &&
		    then.action && strcmp(now.action->text, then.action->text) == 0)
			carried[now.group].fired = groups[then.group].fired;
	}
}

void lx_meters_undecided(void)
{
	lx_generation++;
	if (lx_plans_void)
		lx_plans_void();
}

void lx_meters_rule(struct lx_rules *rules)
{
	uint32_t count = 1;

	for (size_t i = 0; i < rules->section_count; i++)
		if (rules->sections[i]->group >= count)
			count = rules->sections[i]->group + 1;
	struct group *carried = calloc(count, sizeof(*carried));

	if (!carried) { /* without groups no action fires */
		count = 0;
	}
	if (own_rules && lx_rules_change)
		lx_rules_change();
	lx_lock();
	if (carried)
		carry_groups(own_rules, carried, rules);
	free(groups);
	groups = carried;
	group_count = count;
	lx_rules_free(own_rules);
	lx_rules_now = own_rules = rules;
	lx_rules_number++;
	lx_calls_admit(1ull << LX_EV_FUNCTION_BEGIN | 1ull << LX_EV_FUNCTION_RESUME | LX_REGION_KINDS, count_open);
	lx_meters_undecided();
	lx_python_threads = 0;
	for (struct lx_thread *thread = lx_threads_first(); thread; thread = thread->next)
		if (thread->placed)
			place(thread);
	lx_unlock();
}

void lx_meters_start(void)
{
	lx_lock();
	lx_meters_clear();
	for (uint32_t i = 0; i < group_count; i++)
		groups[i] = (struct group){0};
	lx_meters_undecided();
	lx_unlock();
}

void lx_work_renew(const struct lx_work *work)
{
	lx_lock();
	if (work->rules == lx_rules_number && work->group < group_count) {
		groups[work->group] = (struct group){.cycle = ++cycle_now};
		lx_meters_undecided();
	}
	lx_unlock();
}
