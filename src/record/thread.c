#include "record/internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct lx_thread *lx_thread_self __attribute__((tls_model("initial-exec")));

/* Guards the creation of a thread's state, where there is no lx_thread yet to hold the guard. */
static __thread bool making __attribute__((tls_model("initial-exec")));

static struct lx_packet no_packet; /* only read */

static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static void free_thread(struct lx_thread *thread)
{
	for (struct lx_stack *stack = thread->stacks; stack;) {
		struct lx_stack *next = stack->next;

		free(stack->base);
		free(stack);
		stack = next;
	}
	free(thread->stack.base);
	lx_counts_drop(thread);
	free(thread);
}

/* The slot's packet is appended when its thread ends, so that the next thread starts with an empty one. */
static void thread_ended(void *value)
{
	struct lx_thread *thread = value;

	lx_lock();
	lx_meter_thread_ends(thread);
	lx_thread_detach(thread);
	for (struct lx_thread **at = &lx_session.threads; *at; at = &(*at)->next)
		if (*at == thread) {
			*at = thread->next;
			break;
		}
	lx_unlock();
	lx_thread_self = NULL;
	free_thread(thread);
}

static void make_key(void)
{
	pthread_key_create(&thread_key, thread_ended);
}

struct lx_thread *lx_thread_get(void)
{
	struct lx_thread *thread = lx_thread_self;

	if (thread || making)
		return thread;
	making = true;
	pthread_once(&thread_key_once, make_key);
	thread = calloc(1, sizeof(*thread));
	if (thread) {
		thread->tid = (uint32_t)syscall(SYS_gettid);
		thread->next_stack = 1;
		thread->packet = &no_packet;
		pthread_mutex_lock(&lx_session.lock);
		thread->next = lx_session.threads;
		lx_session.threads = thread;
		pthread_mutex_unlock(&lx_session.lock);
		pthread_setspecific(thread_key, thread);
		lx_thread_self = thread;
	}
	making = false;
	return thread;
}

void lx_lock(void)
{
	if (lx_thread_self)
		lx_guard(lx_thread_self, lx_thread_self->busy + 1);
	pthread_mutex_lock(&lx_session.lock);
}

void lx_unlock(void)
{
	pthread_mutex_unlock(&lx_session.lock);
	if (lx_thread_self)
		lx_guard(lx_thread_self, lx_thread_self->busy - 1);
}

void lx_thread_name(struct lx_thread *thread, const char *name, size_t size)
{
	if (size > sizeof(thread->name) - 1) {
		size = sizeof(thread->name) - 1;
		while (size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80) /* not inside a character */
			size--;
	}
	memset(thread->name, 0, sizeof(thread->name));
	memcpy(thread->name, name, size);
	if (thread->limit)
		memcpy(thread->packet->thread_name, thread->name, sizeof(thread->name));
}

/* A free slot, or a new one with address space of its own. */
static struct lx_slot *take_slot(void)
{
	unsigned count = 0;
	struct lx_slot *slot = NULL;

	for (struct lx_slot **at = &lx_session.slots;; at = &(*at)->next) {
		if (!*at) {
			slot = calloc(1, sizeof(*slot));
			if (!slot)
				return NULL;
			slot->packet = mmap(NULL, LX_PACKET_MAX, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (slot->packet == MAP_FAILED) {
				free(slot);
				return NULL;
			}
			slot->number = count;
			*at = slot;
			break;
		}
		if (!(*at)->used) {
			slot = *at;
			break;
		}
		count++;
	}
	slot->used = true;
	return slot;
}

static void number(struct lx_thread *thread)
{
	if (!thread->numbered)
		thread->number = thread->tid == (uint32_t)getpid() ? 0 : ++lx_session.last_thread;
	thread->numbered = true;
}

uint32_t lx_thread_number(struct lx_thread *thread)
{
	if (!thread->numbered) {
		lx_lock();
		number(thread);
		lx_unlock();
	}
	return thread->number;
}

uint32_t lx_thread_number_take(void)
{
	lx_lock();
	uint32_t taken = ++lx_session.last_thread;

	lx_unlock();
	return taken;
}

struct lx_thread *lx_threads_first(void)
{
	return lx_session.threads;
}

void lx_thread_special(struct lx_thread *thread)
{
	uint32_t bits = __atomic_fetch_and(&thread->special, ~(LX_THREAD_FORGETS | LX_THREAD_RENEW), __ATOMIC_SEQ_CST);

	if (bits & LX_THREAD_RENEW) {
		thread->stack.top = thread->stack.base;
		for (struct lx_stack *stack = thread->stacks; stack; stack = stack->next)
			stack->top = stack->base;
		lx_lock();
		lx_counts_drop(thread);
		lx_unlock();
		lx_meter_thread_renewed(thread);
		return;
	}
	for (uint32_t domain = 0; domain < LX_DOMAIN_COUNT; domain++)
		if (bits & LX_THREAD_FORGET(domain))
			lx_calls_forget(thread, domain);
}

void lx_threads_renew(void)
{
	for (struct lx_thread *thread = lx_session.threads; thread; thread = thread->next)
		__atomic_fetch_or(&thread->special, LX_THREAD_RENEW, __ATOMIC_SEQ_CST);
}

void lx_thread_count_open(struct lx_thread *thread)
{
	const uint32_t *modes = lx_session.state->modes;
	bool counts = modes[LX_DOMAIN_PYTHON] == LX_MODE_MONITORING || modes[LX_DOMAIN_USER] == LX_MODE_MONITORING;

	/* Another thread's stack is left alone unless there may be something to gain. */
	if (thread != lx_thread_self && (!counts || thread->busy))
		return;
	if (thread->special & LX_THREAD_RENEW)
		return;
	lx_calls_forget(thread, LX_DOMAIN_PYTHON);
	lx_calls_forget(thread, LX_DOMAIN_USER);
}

int lx_thread_attach(struct lx_thread *thread, enum lx_loss *loss)
{
	struct lx_slot *slot = take_slot();
	void *map;

	*loss = LX_LOSS_NO_MEMORY;
	if (!slot)
		return -ENOMEM;
	if (slot->epoch != lx_session.epoch) {
		int error = lx_session.sink->map(lx_session.folder, slot->number, LX_PACKET_MIN, slot->packet, &map);

		if (error) {
			slot->used = false;
			*loss = lx_loss_of_errno(error);
			return error;
		}
		slot->size = LX_PACKET_MIN;
		slot->file_size = slot->appended = 0;
		memset(slot->lost, 0, sizeof(slot->lost));
		slot->epoch = lx_session.epoch;
	}
	if (thread->epoch != lx_session.epoch) {
		number(thread);
		lx_session.state->threads++;
		thread->epoch = lx_session.epoch;
	}
	thread->slot = slot;
	lx_packet_reset(slot, thread, lx_ticks());
	return 0;
}

void lx_thread_detach(struct lx_thread *thread)
{
	struct lx_slot *slot = thread->slot;

	/* The packet stays mapped: the thread may be between its look at `limit` and its store. */
	__atomic_store_n(&thread->limit, 0, __ATOMIC_SEQ_CST);
	/* Another thread may be in between; one that waits for our lock is not, but looks so: so much patience, not more. */
	for (int i = 0; thread != lx_thread_self && i < 100 && __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE); i++)
		sched_yield();
	thread->slot = NULL;
	if (!slot)
		return;
	if (lx_session.active && thread->epoch == lx_session.epoch) {
		int error = lx_packet_flush(slot, thread);

		/* What could not be appended is still in its own file, for the reader: no other thread may overwrite it. */
		if (error && lx_loss_of_errno(error) != LX_LOSS_NO_FOLDER)
			return;
		if (error)
			lx_packet_lose(slot, thread, error);
	}
	slot->used = false;
}

void lx_threads_after_fork(void)
{
	struct lx_thread *self = lx_thread_self;

	for (struct lx_thread *thread = lx_session.threads; thread;) {
		struct lx_thread *next = thread->next;

		if (thread != self)
			free_thread(thread);
		thread = next;
	}
	lx_session.threads = self;
	lx_session.last_thread = 0;
	for (struct lx_slot *slot = lx_session.slots; slot; slot = slot->next) {
		slot->used = false;
		slot->epoch = 0; /* mapped anew before it is used: the memory is the parent's still */
	}
	if (!self)
		return;
	self->next = NULL;
	self->slot = NULL;
	self->limit = 0;
	self->packet = &no_packet;
	self->tid = (uint32_t)syscall(SYS_gettid);
	self->reentered = 0;
	self->dropped = 0;
	self->numbered = self->placed = false;
	lx_counts_drop(self);
	self->special = LX_THREAD_RENEW;
	self->unmatched = 0;
	/* The calls open at the fork are the parent's: the child's trace has neither their begins nor their ends. */
	self->stack.top = self->stack.base;
	for (struct lx_stack *stack = self->stacks; stack; stack = stack->next)
		stack->top = stack->base;
}
