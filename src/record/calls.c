#include "record/internal.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CALLS 128u /* places of a new stack: 2 KiB */

uint32_t lx_regions_suspended;
void (*lx_call_suspended)(struct lx_thread *thread, const struct lx_call *call, const void *frame);

/* Regions that wait for their frame, in the order in which they were opened. Guarded by the session's lock. */
static struct suspended {
	const void *frame;
	struct lx_call call;
} *suspended;
static size_t suspended_space;

bool lx_stack_grow(struct lx_thread *thread)
{
	struct lx_stack *stack = &thread->stack;
	size_t used = (size_t)(stack->top - stack->base);
	size_t space = used ? used * 2 : FIRST_CALLS;

	lx_lock(); /* another thread may be looking through the stack */
	struct lx_call *base = realloc(stack->base, space * sizeof(*base));

	if (base) {
		stack->base = base;
		stack->top = base + used;
		stack->limit = base + space;
	} else {
		thread->dropped++;
	}
	lx_unlock();
	return base != NULL;
}

bool lx_call_begin_marked(struct lx_thread *thread, const struct lx_call *call, bool written)
{
	if (lx_unlikely(thread->stack.top == thread->stack.limit) && !lx_stack_grow(thread))
		return false;
	*thread->stack.top++ = *call;
	if (written)
		lx_record(thread, call->kind - LX_MARKED, call->word);
	return true;
}

/* `call` was the top of the stack until now: what its end means. */
static void close_call(struct lx_thread *thread, const struct lx_call *top, uint32_t kind)
{
	if (top->kind < LX_MARKED) {
		lx_record(thread, kind, top->word);
		return;
	}
	struct lx_call call = *top; /* what is told below may use its place */

	if (call.marks & LX_CALL_COUNTED)
		lx_counted_end(thread, top);
	if (!(call.marks & LX_CALL_QUIET))
		lx_record(thread, kind, call.word);
	if (call.marks & LX_CALL_ADMITTED)
		lx_meter_call_ended(thread, &call);
}

/* How the end of a call that lost its own is written. */
static uint32_t unwind_kind(const struct lx_call *call)
{
	switch (call->kind % LX_MARKED) {
	case LX_EV_REGION_BEGIN:
	case LX_EV_REGION_RESUME:
		return LX_EV_REGION_UNWIND;
	case LX_EV_C_CALL_BEGIN:
		return LX_EV_C_CALL_RAISE;
	case LX_EV_IMPORT_BEGIN:
		return LX_EV_IMPORT_UNWIND;
	default:
		return LX_EV_FUNCTION_UNWIND;
	}
}

/* The topmost open call with this key and kind; NULL if it is not open. */
static struct lx_call *find(const struct lx_thread *thread, const void *key, uint64_t begin_kinds)
{
	struct lx_call *call = thread->stack.top;

	begin_kinds |= begin_kinds << LX_MARKED;
	while (call > thread->stack.base) /* both are NULL at first */
		if ((--call)->key == key && (begin_kinds >> call->kind & 1) != 0)
			return call;
	return NULL;
}

/* Ends the calls above `call`, innermost first: the interpreter told no end of theirs. */
static void end_above(struct lx_thread *thread, const struct lx_call *call)
{
	while (thread->stack.top > call + 1) {
		struct lx_call *lost = --thread->stack.top;

		close_call(thread, lost, unwind_kind(lost));
	}
}

void lx_call_end_slow(struct lx_thread *thread, const void *key, uint64_t begin_kinds, uint32_t kind)
{
	struct lx_call *call = find(thread, key, begin_kinds);

	if (!call) {
		thread->unmatched++;
		return;
	}
	end_above(thread, call);
	thread->stack.top = call;
	close_call(thread, call, kind);
}

/* Keeps the regions above the frame's call for its resumption. False without memory. */
static bool keep_regions(const struct lx_call *call, const struct lx_call *top, const void *frame)
{
	size_t count = (size_t)(top - call - 1);

	if (lx_regions_suspended + count > suspended_space) {
		size_t space = (lx_regions_suspended + count) * 2;
		struct suspended *larger = realloc(suspended, space * sizeof(*larger));

		if (!larger)
			return false;
		suspended = larger;
		suspended_space = space;
	}
	for (const struct lx_call *region = call + 1; region < top; region++)
		suspended[lx_regions_suspended++] = (struct suspended){frame, *region};
	return true;
}

/* `call` was the top of the stack until now: what its suspension means. Its window is not at an end. */
static void suspend(struct lx_thread *thread, const struct lx_call *call, uint32_t kind)
{
	if (call->kind >= LX_MARKED && call->marks & LX_CALL_COUNTED)
		lx_counted_end(thread, call);
	if (call->kind < LX_MARKED || !(call->marks & LX_CALL_QUIET))
		lx_record(thread, kind, call->word);
}

void lx_call_suspend(struct lx_thread *thread, const void *key, const void *frame, uint64_t begin_kinds, uint32_t kind)
{
	struct lx_call *call = find(thread, key, begin_kinds);

	if (!call) {
		thread->unmatched++;
		return;
	}
	struct lx_call *lowest = thread->stack.top;

	while (lowest > call + 1 && lx_call_is_region(lowest - 1))
		lowest--;
	if (lowest == call + 1 && thread->epoch == lx_session.epoch) { /* else they are another session's */
		lx_lock();
		bool kept = keep_regions(call, thread->stack.top, frame);

		lx_unlock();
		while (kept && thread->stack.top > call + 1) {
			thread->stack.top--;
			suspend(thread, thread->stack.top, LX_EV_REGION_SUSPEND);
		}
	}
	end_above(thread, call);
	thread->stack.top = call;
	if (call->kind >= LX_MARKED && call->marks & LX_CALL_ADMITTED && lx_call_suspended)
		lx_call_suspended(thread, call, frame);
	suspend(thread, call, kind);
}

/* A region above one that ends out of turn: it waits for that moment, as a run with a number of its own. */
static void step_aside(struct lx_thread *thread, struct lx_call *call)
{
	static uint64_t last = 1ull << 63; /* not those of generators' runs */

	if (call->kind < LX_MARKED) {
		call->kind = (uint16_t)(call->kind + LX_MARKED);
		call->marks = 0;
		call->begin = call->other = 0;
	}
	if (call->marks & LX_CALL_COUNTED) {
		lx_counted_end(thread, call);
	} else if (!(call->marks & (LX_CALL_QUIET | LX_CALL_NO_BEGIN))) {
		if (!call->other)
			call->other = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
		lx_record_long(thread, LX_EV_REGION_RUN, call->word, &call->other, 1);
		lx_record(thread, LX_EV_REGION_SUSPEND, call->word);
	}
}

static void step_back(struct lx_thread *thread, struct lx_call *call)
{
	if (call->marks & LX_CALL_COUNTED) {
		thread->counts[LX_LEXGION_ID(call->word)].depth++;
		call->begin = lx_ticks();
		call->other = 0;
	} else if (!(call->marks & (LX_CALL_QUIET | LX_CALL_NO_BEGIN))) {
		lx_record(thread, LX_EV_REGION_RESUME, call->word);
		lx_record_long(thread, LX_EV_REGION_RUN, call->word, &call->other, 1);
	}
}

void lx_region_leave(struct lx_thread *thread, const void *key, uint32_t kind)
{
	struct lx_call *call = find(thread, key, LX_REGION_KINDS), *lowest = thread->stack.top;

	while (call && lowest > call + 1 && lx_call_is_region(lowest - 1))
		lowest--;
	if (!call || lowest > call + 1) {
		lx_call_end_slow(thread, key, LX_REGION_KINDS, kind);
		return;
	}
	struct lx_call ending = *call;

	for (struct lx_call *above = thread->stack.top - 1; above > call; above--)
		step_aside(thread, above);
	close_call(thread, &ending, kind);
	/* What close_call tells of may have used the stack's places above, but leaves them as they were. */
	thread->stack.top--;
	memmove(call, call + 1, (size_t)(thread->stack.top - call) * sizeof(*call));
	for (; call < thread->stack.top; call++)
		step_back(thread, call);
}

void lx_regions_forget(void)
{
	lx_regions_suspended = 0;
}

static void resume_region(struct lx_thread *thread, const struct lx_call *call)
{
	struct lx_call again = *call;

	if (call->kind < LX_MARKED) {
		lx_call_begin(thread, call->key, call->word, LX_EV_REGION_RESUME);
	} else if (call->marks & LX_CALL_COUNTED) {
		lx_counted_begin(thread, call->key, call->word, LX_EV_REGION_RESUME);
	} else {
		again.kind = LX_MARKED + LX_EV_REGION_RESUME;
		lx_call_begin_marked(thread, &again, call->marks & LX_CALL_ADMITTED && !(call->marks & LX_CALL_NO_BEGIN));
	}
}

/* Takes the first region that waits for the frame. */
static bool take_region(const void *frame, struct lx_call *call)
{
	uint32_t at = 0;

	lx_lock();
	while (at < lx_regions_suspended && suspended[at].frame != frame)
		at++;
	bool found = at < lx_regions_suspended;

	if (found) {
		*call = suspended[at].call;
		lx_regions_suspended--;
		memmove(&suspended[at], &suspended[at + 1], (lx_regions_suspended - at) * sizeof(*suspended));
	}
	lx_unlock();
	return found;
}

void lx_regions_resume(struct lx_thread *thread, const void *frame)
{
	struct lx_call call;

	while (take_region(frame, &call))
		resume_region(thread, &call);
}

void lx_stack_switch(struct lx_thread *thread, const void *root)
{
	struct lx_stack *found = NULL, *spare = NULL;
	bool rootless = thread->stack.root == thread; /* see lx_stack_switch: its first root is still to come */

	if (root == thread->stack.root)
		return;
	if (!thread->stack.root && !thread->stacks) { /* the thread's first stack */
		thread->stack.root = root;
		return;
	}
	for (struct lx_stack *stack = thread->stacks; stack; stack = stack->next) {
		if (stack->root == root)
			found = stack;
		else if (stack->top == stack->base)
			spare = stack; /* its greenlet has no call open: it may serve another */
	}
	if (!found && rootless) {
		thread->stack.root = root;
		return;
	}
	if (!found && spare) {
		found = spare;
		found->root = root;
		found->number = thread->next_stack++;
	}
	if (!found) {
		lx_guard(thread, thread->busy + 1);
		found = calloc(1, sizeof(*found));
		lx_guard(thread, thread->busy - 1);
		if (!found) {
			thread->dropped++;
			return;
		}
		found->root = root;
		found->number = thread->next_stack++;
		found->next = thread->stacks;
		thread->stacks = found;
	}
	struct lx_stack going = *found;

	*found = thread->stack;
	found->next = going.next;
	going.next = NULL;
	thread->stack = going;
	lx_record(thread, LX_EV_STACK_SWITCH, going.number);
}

/* ---- Calls that are forgotten, or told of from now on ---- */

static bool of_domain(const struct lx_call *call, uint32_t domain)
{
	return (lx_call_is_region(call) ? LX_DOMAIN_USER : LX_DOMAIN_PYTHON) == domain;
}

/* Takes the domain's calls out of a stack; the others stay in their order. */
static void forget(struct lx_thread *thread, struct lx_stack *stack, uint32_t domain)
{
	struct lx_call *kept = stack->base;
	bool running = stack == &thread->stack;

	/* Times are closed from the innermost on, as calls end. */
	for (struct lx_call *call = stack->top; call > stack->base;) {
		call--;
		if (!of_domain(call, domain) || call->kind < LX_MARKED)
			continue;
		if (call->marks & LX_CALL_COUNTED && running)
			lx_counted_end(thread, call);
		else if (call->marks & LX_CALL_COUNTED)
			thread->counts[LX_LEXGION_ID(call->word)].depth--; /* how long its stack ran is not known */
		if (call->marks & LX_CALL_ADMITTED) {
			call->marks &= (uint16_t)~LX_CALL_LAST; /* it has not ended: nothing follows from it */
			lx_meter_call_ended(thread, call);
		}
	}
	for (struct lx_call *call = stack->base; call < stack->top; call++)
		if (!of_domain(call, domain))
			*kept++ = *call;
	stack->top = kept;
}

void lx_calls_forget(struct lx_thread *thread, uint32_t domain)
{
	forget(thread, &thread->stack, domain);
	for (struct lx_stack *stack = thread->stacks; stack; stack = stack->next)
		forget(thread, stack, domain);
}

void lx_calls_forget_everywhere(uint32_t domain)
{
	lx_lock();
	for (struct lx_thread *thread = lx_session.threads; thread; thread = thread->next)
		__atomic_fetch_or(&thread->special, LX_THREAD_FORGET(domain), __ATOMIC_SEQ_CST);
	lx_unlock();
}

static void admit(struct lx_stack *stack, uint64_t begin_kinds, void (*each)(uint32_t word))
{
	for (struct lx_call *call = stack->base; call < stack->top; call++) {
		if (call->kind >= LX_MARKED || !(begin_kinds >> call->kind & 1))
			continue;
		call->marks = LX_CALL_ADMITTED | LX_CALL_C;
		call->begin = call->other = 0;
		call->kind = (uint16_t)(call->kind + LX_MARKED);
		each(call->word);
	}
}

void lx_calls_admit(uint64_t begin_kinds, void (*each)(uint32_t word))
{
	for (struct lx_thread *thread = lx_session.threads; thread; thread = thread->next) {
		if (thread->special & LX_THREAD_FORGETS)
			continue;
		admit(&thread->stack, begin_kinds, each);
		for (struct lx_stack *stack = thread->stacks; stack; stack = stack->next)
			admit(stack, begin_kinds, each);
	}
}
