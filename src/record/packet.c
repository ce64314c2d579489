#include "record/internal.h"

#include <errno.h>
#include <string.h>

static const enum lx_role roles[LX_EV_COUNT] = {
#define LX_X(id, NAME, domain, name, role, payload) [LX_EV_##NAME] = LX_ROLE_##role,
	LX_EVENT_KINDS(LX_X)
#undef LX_X
};

enum lx_loss lx_loss_of_errno(int error)
{
	switch (error) {
	case -ENOSPC:
	case -EDQUOT:
		return LX_LOSS_DISK_FULL;
	case -EFBIG:
		return LX_LOSS_FILE_LIMIT;
	case -ENOENT:
	case -ENOTDIR:
	case -ESTALE:
		return LX_LOSS_NO_FOLDER;
	case -ENOMEM:
		return LX_LOSS_NO_MEMORY;
	default:
		return LX_LOSS_IO_ERROR;
	}
}

void lx_loss_count(struct lx_slot *slot, enum lx_loss cause, uint64_t events, uint64_t ticks)
{
	/* A child that cannot open its folder has its losses counted where they are read: with the process it comes from. */
	struct lx_state *state = lx_session.forked && lx_session.ancestor ? lx_session.ancestor : lx_session.state;

	if (events == 0)
		return;
	if (slot)
		slot->lost[cause] += events;
	if (__atomic_fetch_add(&state->lost[cause], events, __ATOMIC_RELAXED) == 0)
		state->lost_at[cause] = ticks;
}

static uint64_t events_of(const struct lx_slot *slot, const struct lx_thread *thread)
{
	return (slot->packet->content_size / 8 - sizeof(*slot->packet) - thread->extra) / LX_EVENT_SIZE;
}

void lx_packet_reset(struct lx_slot *slot, struct lx_thread *thread, uint64_t ticks)
{
	struct lx_packet *packet = slot->packet;

	/* Emptied before it is renumbered: a kill in between leaves an empty copy, which readers pass over. */
	__atomic_store_n(&packet->content_size, sizeof(*packet) * 8, __ATOMIC_RELEASE);
	packet->magic = LX_CTF_MAGIC;
	memcpy(packet->uuid, lx_session.state->uuid, sizeof(packet->uuid));
	packet->stream_id = 0;
	packet->timestamp_begin = packet->timestamp_end = ticks;
	packet->packet_size = slot->size * 8;
	packet->clock_monotonic = lx_clock_ns(CLOCK_MONOTONIC);
	packet->clock_realtime = lx_clock_ns(CLOCK_REALTIME);
	packet->thread = thread->number;
	packet->tid = thread->tid;
	packet->stack = thread->stack.number;
	packet->events = 0;
	packet->events_discarded = 0;
	for (int i = 0; i < LX_LOSS_COUNT; i++) {
		packet->lost[i] = slot->lost[i];
		packet->events_discarded += slot->lost[i];
	}
	memcpy(packet->thread_name, thread->name, sizeof(packet->thread_name));
	__atomic_store_n(&packet->packet_seq_num, slot->appended, __ATOMIC_RELEASE);

	thread->packet = packet;
	thread->extra = 0;
	thread->limit = (slot->size - LX_EVENT_EXTENDED_SIZE) * 8 + 1;
}

int lx_packet_flush(struct lx_slot *slot, struct lx_thread *thread)
{
	struct lx_packet *packet = slot->packet;
	struct lx_state *state = lx_session.state;
	uint64_t events = events_of(slot, thread);
	size_t size = packet->content_size / 8;

	if (thread->dropped) {
		lx_loss_count(slot, LX_LOSS_NO_MEMORY, thread->dropped, packet->timestamp_end);
		packet->lost[LX_LOSS_NO_MEMORY] += thread->dropped;
		packet->events_discarded += thread->dropped;
		thread->dropped = 0;
	}
	if (thread->reentered) {
		lx_loss_count(slot, LX_LOSS_REENTERED, thread->reentered, packet->timestamp_end);
		packet->lost[LX_LOSS_REENTERED] += thread->reentered;
		packet->events_discarded += thread->reentered;
		thread->reentered = 0;
	}
	__atomic_fetch_add(&state->unmatched_ends, thread->unmatched, __ATOMIC_RELAXED);
	thread->unmatched = 0;
	if (events == 0)
		return 0;
	uint64_t space = packet->packet_size;

	packet->events = (uint32_t)events;
	packet->packet_size = size * 8;
	int error = lx_session.sink->append(lx_session.folder, slot->number, slot->file_size, packet, size);

	if (error) {
		packet->events = 0;
		packet->packet_size = space;
		return error;
	}
	slot->file_size += size;
	slot->appended++;
	__atomic_fetch_add(&state->events, events, __ATOMIC_RELAXED);
	__atomic_fetch_add(&state->bytes, size, __ATOMIC_RELAXED);
	return 0;
}

void lx_packet_lose(struct lx_slot *slot, const struct lx_thread *thread, int error)
{
	lx_loss_count(slot, lx_loss_of_errno(error), events_of(slot, thread), slot->packet->timestamp_begin);
}

/* A small packet gives way to a larger one, at the same address, once the thread has shown that it needs it. */
static void enlarge(struct lx_slot *slot)
{
	size_t size = slot->appended < 2 ? LX_PACKET_MIN : slot->appended < 10 ? LX_PACKET_MEDIUM : LX_PACKET_MAX;
	void *map;

	/* The file grows in place: the part already mapped stays as it is. */
	if (size > slot->size && lx_session.sink->map(lx_session.folder, slot->number, size, slot->packet, &map) == 0)
		slot->size = size;
}

/*
 * The thread meets a process folder for the first time: calls open since before are none of its. The call that begins
 * with this very event stays; an end belongs to a begin that is not in the trace. False: leave the event out.
 */
static bool forget_calls(struct lx_thread *thread, uint32_t kind)
{
	enum lx_role role = roles[kind];

	__atomic_fetch_and(&thread->special, ~LX_THREAD_RENEW, __ATOMIC_RELAXED);
	lx_counts_drop(thread);
	bool begins = role == LX_ROLE_BEGIN || role == LX_ROLE_RESUME;

	if (begins && thread->stack.top > thread->stack.base) {
		thread->stack.base[0] = thread->stack.top[-1];
		thread->stack.top = thread->stack.base + 1;
	} else {
		thread->stack.top = thread->stack.base;
	}
	for (struct lx_stack *stack = thread->stacks; stack; stack = stack->next)
		stack->top = stack->base;
	if (!begins && role != LX_ROLE_OTHER)
		thread->unmatched++;
	return begins || kind >= LX_EV_FIRST_LONG; /* those stand alone */
}

/* Room for an event, whatever that takes. False: the event is left out, and counted. */
static bool make_room(struct lx_thread *thread, uint32_t kind, uint64_t ticks)
{
	enum lx_loss loss = LX_LOSS_NO_MEMORY;

	if (!lx_session_ready()) {
		if (lx_session.active)
			lx_loss_count(NULL, lx_loss_of_errno(lx_session.error), 1, ticks);
		return false;
	}
	if (!thread->slot || thread->epoch != lx_session.epoch) {
		if (thread->special & LX_THREAD_RENEW && !forget_calls(thread, kind))
			return false;
		if (lx_thread_attach(thread, &loss) != 0) {
			lx_loss_count(NULL, loss, 1, ticks);
			return false;
		}
		return true;
	}
	int error = lx_packet_flush(thread->slot, thread);

	if (error)
		lx_packet_lose(thread->slot, thread, error);
	enlarge(thread->slot);
	lx_packet_reset(thread->slot, thread, ticks);
	return true;
}

/* Its size in words. */
static size_t put_header(const struct lx_thread *thread, uint64_t *event, uint32_t kind, uint32_t word, uint64_t *ticks)
{
	uint64_t last = thread->packet->timestamp_end;

	/* A counter that steps back (it may between sockets) must not make the 27-bit time jump ahead. */
	if ((int64_t)(*ticks - last) < 0)
		*ticks = last;
	if ((*ticks - last) >> LX_TIMESTAMP_BITS) {
		event[0] = LX_EV_EXTENDED | kind << 5 | *ticks << 32;
		event[1] = *ticks >> 32 | (uint64_t)word << 32;
		return 2;
	}
	event[0] = kind | (uint32_t)(*ticks << 5) | (uint64_t)word << 32;
	return 1;
}

bool lx_record_long(struct lx_thread *thread, uint32_t kind, uint32_t word, const uint64_t *more, size_t words)
{
	uint64_t ticks = lx_ticks(), size = (words * 8 + LX_EVENT_EXTENDED_SIZE) * 8;

	if (thread->packet->content_size + size > thread->limit + LX_EVENT_EXTENDED_SIZE * 8 - 1) {
		lx_lock();
		bool room = make_room(thread, kind, ticks);

		lx_unlock();
		if (!room)
			return false;
	}
	struct lx_packet *packet = thread->packet;
	uint64_t used = packet->content_size, *event = (uint64_t *)((uint8_t *)packet + used / 8);
	size_t header = put_header(thread, event, kind, word, &ticks);

	memcpy(event + header, more, words * 8);
	thread->extra += (header + words) * 8 - LX_EVENT_SIZE;
	__asm__ volatile("" ::: "memory");
	packet->timestamp_end = ticks;
	packet->content_size = used + (header + words) * 64;
	return true;
}

void lx_record_slow(struct lx_thread *thread, uint32_t kind, uint32_t word, uint64_t ticks)
{
	if (thread->packet->content_size >= thread->limit) {
		lx_lock();
		bool room = make_room(thread, kind, ticks);

		lx_unlock();
		if (!room)
			return;
	}
	struct lx_packet *packet = thread->packet;
	uint64_t used = packet->content_size, *event = (uint64_t *)((uint8_t *)packet + used / 8);

	size_t header = put_header(thread, event, kind, word, &ticks);

	thread->extra += header * 8 - LX_EVENT_SIZE;
	__asm__ volatile("" ::: "memory");
	packet->timestamp_end = ticks;
	packet->content_size = used + header * 64;
}
