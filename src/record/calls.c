#include "record/internal.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CALLS 128u /* places of a new stack: 2 KiB */

uint32_t lx_regions_suspended;

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

	lx_guard(thread, thread->busy + 1);
	struct lx_call *base = realloc(stack->base, space * sizeof(*base));

	lx_guard(thread, thread->busy - 1);
	if (!base) {
		thread->dropped++;
		return false;
	}
	stack->base = base;
	stack->top = base + used;
	stack->limit = base + space;
	return true;
}

static bool is_region(const struct lx_call *call)
{
	return LX_REGION_KINDS >> call->kind & 1;
}

static bool is_c_call(const struct lx_call *call)
{
	return call->kind == LX_EV_C_CALL_BEGIN;
}

/* The topmost open call with this key and kind; NULL if it is not open. */
static struct lx_call *find(const struct lx_thread *thread, const void *key, uint32_t begin_kinds)
{
	struct lx_call *call = thread->stack.top;

	while (call > thread->stack.base) /* both are NULL at first */
		if ((--call)->key == key && begin_kinds >> call->kind & 1)
			return call;
	return NULL;
}

/* Ends the calls above `call`, innermost first: the interpreter told no end of theirs. */
static void end_above(struct lx_thread *thread, const struct lx_call *call)
{
	while (thread->stack.top > call + 1) {
		struct lx_call *lost = --thread->stack.top;

		lx_record(thread, is_region(lost) ? LX_EV_REGION_UNWIND : is_c_call(lost) ? LX_EV_C_CALL_RAISE
											   : LX_EV_FUNCTION_UNWIND,
			  lost->word);
	}
}

void lx_call_end_slow(struct lx_thread *thread, const void *key, uint32_t begin_kinds, uint32_t kind)
{
	struct lx_call *call = find(thread, key, begin_kinds);

	if (!call) {
		thread->unmatched++;
		return;
	}
	end_above(thread, call);
	thread->stack.top = call;
	lx_record(thread, kind, call->word);
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

void lx_call_suspend(struct lx_thread *thread, const void *key, const void *frame, uint32_t begin_kinds, uint32_t kind)
{
	struct lx_call *call = find(thread, key, begin_kinds);

	if (!call) {
		thread->unmatched++;
		return;
	}
	struct lx_call *lowest = thread->stack.top;

	while (lowest > call + 1 && is_region(lowest - 1))
		lowest--;
	if (lowest == call + 1 && thread->epoch == lx_session.epoch) { /* else they are another session's */
		lx_lock();
		bool kept = keep_regions(call, thread->stack.top, frame);

		lx_unlock();
		while (kept && thread->stack.top > call + 1) {
			thread->stack.top--;
			lx_record(thread, LX_EV_REGION_SUSPEND, thread->stack.top->word);
		}
	}
	end_above(thread, call);
	thread->stack.top = call;
	lx_record(thread, kind, call->word);
}

void lx_regions_forget(void)
{
	lx_regions_suspended = 0;
}

void lx_regions_resume(struct lx_thread *thread, const void *frame)
{
	lx_lock();
	uint32_t kept = 0;

	for (uint32_t i = 0; i < lx_regions_suspended; i++) {
		if (suspended[i].frame != frame) {
			suspended[kept++] = suspended[i];
			continue;
		}
		lx_call_begin(thread, suspended[i].call.key, suspended[i].call.word, LX_EV_REGION_RESUME);
	}
	lx_regions_suspended = kept;
	lx_unlock();
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
