/*
 * Recording: what capture calls. One session at a time in a process; each thread fills the open packet of a stream.
 *
 * The hot path (lx_record) is inline: a clock read, one 8-byte store, two stores that keep the packet valid and say where
 * the next event goes. Everything else (a full packet, a new thread, a fork, a stopped session, a lost file) goes through
 * lx_record_slow, which a detached thread reaches by having no room (limit 0).
 */
#ifndef LX_RECORD_RECORD_H
#define LX_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "lextrace/format.h"

#define LX_API __attribute__((visibility("default")))
#define lx_likely(condition) __builtin_expect(!!(condition), 1)
#define lx_unlikely(condition) __builtin_expect(!!(condition), 0)

/* An open call: `key` tells its end from another's (address of a code object, callable, frame or region). */
struct lx_call {
	const void *key;
	uint32_t word;
	uint32_t kind;          /* the event that opened it */
};

/* One stack of open calls: a thread has one, and one for each greenlet that has calls open. */
struct lx_stack {
	struct lx_call *base, *top, *limit; /* top is the next free place; base is NULL until the first call */
	const void *root;       /* what capture knows the stack by; NULL: not looked at yet */
	uint32_t number;
	struct lx_stack *next;
};

struct lx_slot;

struct lx_thread {
	struct lx_packet *packet; /* never NULL: a detached thread has an empty one without room */
	uint64_t limit;         /* bits: no event may begin at or behind it */
	struct lx_stack stack;  /* the running one, by value; the others hang on `stacks` */
	const void *mark;       /* capture's cheap test whether the running stack may have changed */
	const void *mark_below;
	uint32_t busy;          /* re-entrance guard */
	/* Colder from here on. */
	uint32_t epoch;         /* of the process folder that it is attached to */
	uint32_t number;
	uint32_t tid;
	uint32_t reentered;     /* events refused by the guard since the last packet */
	uint32_t dropped;       /* calls left out since then for want of memory */
	uint64_t extra;         /* bytes of this packet beyond 8 an event */
	uint64_t unmatched;     /* ends without a begin that were left out */
	struct lx_slot *slot;
	struct lx_stack *stacks;
	uint32_t next_stack;
	char name[LX_THREAD_NAME_SIZE];
	struct lx_thread *next;
};

/* Sets the guard of the calling thread. A session's end looks at it from another thread. */
static inline void lx_guard(struct lx_thread *thread, uint32_t busy)
{
	__atomic_store_n(&thread->busy, busy, __ATOMIC_RELAXED);
}

/* The calling thread's state; NULL until its first event. */
extern LX_API __thread struct lx_thread *lx_thread_self __attribute__((tls_model("initial-exec")));

/* State of the calling thread, made if need be; NULL without memory or inside the recorder. */
LX_API struct lx_thread *lx_thread_get(void);

/* Name of the calling thread for its packets: UTF-8, cut to the field. Takes effect with the packet at hand. */
LX_API void lx_thread_name(struct lx_thread *thread, const char *name, size_t size);

/* The rare part of lx_record: makes room (or drops the event, counted) and writes it. */
LX_API void lx_record_slow(struct lx_thread *thread, uint32_t kind, uint32_t word, uint64_t ticks);

static inline void lx_record(struct lx_thread *thread, uint32_t kind, uint32_t word)
{
	struct lx_packet *packet = thread->packet;
	uint64_t ticks = lx_ticks(), used = packet->content_size;

	if (lx_unlikely((ticks - packet->timestamp_end) >> LX_TIMESTAMP_BITS ||
			used >= __atomic_load_n(&thread->limit, __ATOMIC_RELAXED))) {
		lx_record_slow(thread, kind, word, ticks);
		return;
	}
	*(uint64_t *)((uint8_t *)packet + used / 8) = kind | (uint32_t)(ticks << 5) | (uint64_t)word << 32;
	/* After a kill the packet holds what content_size covers: the event is stored before it counts. */
	__asm__ volatile("" ::: "memory");
	packet->timestamp_end = ticks;
	packet->content_size = used + LX_EVENT_SIZE * 8;
}

/* ---- Open calls ---- */

/* The events that open a region, as a bit set of kinds. */
#define LX_REGION_KINDS (1u << LX_EV_REGION_BEGIN | 1u << LX_EV_REGION_RESUME)

/* Makes room for one more call. False without memory: the call is then not recorded. */
LX_API bool lx_stack_grow(struct lx_thread *thread);

static inline void lx_call_begin(struct lx_thread *thread, const void *key, uint32_t word, uint32_t kind)
{
	if (lx_unlikely(thread->stack.top == thread->stack.limit) && !lx_stack_grow(thread))
		return;
	*thread->stack.top++ = (struct lx_call){key, word, kind};
	lx_record(thread, kind, word);
}

/*
 * The rare part of lx_call_end: the top call is another one. Where `key` is open below it, the calls above lost their
 * ends (the interpreter sent none) and are ended here, in order, as unwound; where it is not open (it began before
 * recording) nothing is written and the end is counted as unmatched.
 * `begin_kinds` is a bit set of event kinds that may have opened the call.
 */
LX_API void lx_call_end_slow(struct lx_thread *thread, const void *key, uint32_t begin_kinds, uint32_t kind);

/* Whether the innermost open call is this one. */
static inline bool lx_call_is_top(const struct lx_thread *thread, const void *key, uint32_t begin_kinds)
{
	const struct lx_call *top = thread->stack.top;

	return top != thread->stack.base && top[-1].key == key && begin_kinds >> top[-1].kind & 1;
}

static inline void lx_call_end(struct lx_thread *thread, const void *key, uint32_t begin_kinds, uint32_t kind)
{
	if (lx_unlikely(!lx_call_is_top(thread, key, begin_kinds))) {
		lx_call_end_slow(thread, key, begin_kinds, kind);
		return;
	}
	thread->stack.top--;
	lx_record(thread, kind, thread->stack.top->word);
}

/*
 * A call is suspended (yield, await) or goes on. Regions opened in it are suspended with it (region_suspend, then
 * function_yield) and come back on top of it (function_resume, then region_resume), also on another thread. `frame` tells
 * it from other calls of the same key meanwhile.
 */
LX_API void lx_call_suspend(struct lx_thread *thread, const void *key, const void *frame, uint32_t begin_kinds,
			    uint32_t kind);
LX_API void lx_regions_resume(struct lx_thread *thread, const void *frame);
extern LX_API uint32_t lx_regions_suspended; /* regions that wait now, in all threads */

/*
 * Another stack (greenlet), known by `root`, runs from here on: notes the switch in the trace. Calls open on it are back.
 * A stack that has no root of its own yet is known by its thread's address, and takes the first new root that comes.
 */
LX_API void lx_stack_switch(struct lx_thread *thread, const void *root);

/* ---- Lexgions ---- */

struct lx_place {
	const char *name, *file; /* bytes as format.h wants them */
	size_t name_size, file_size;
	uint32_t line;
	uint32_t domain;        /* enum lx_domain */
	uint32_t flags;         /* LX_LEXGION_* */
};

/*
 * The word (LX_LEXGION_WORD of the id) of a place: the same for the same name, file, line and domain within a session.
 * Its definition is in the trace folder before this returns. 0, the id of "<unknown>", when it cannot be defined.
 */
LX_API uint32_t lx_lexgion_define(const struct lx_place *place);

/* ---- Session ---- */

struct lx_session_options {
	const char *run;        /* absolute path of the run folder; made if it is missing */
	const char *program;    /* short name */
	const char *executable; /* absolute path or "" */
	const char *python;     /* version or NULL */
	const char *argv;       /* words joined by NUL */
	size_t argv_size;
	bool c_calls;
	bool follow;            /* forked children record too */
	bool announce;          /* this process ends with the closing line on stderr */
	bool null_sink;
};

/*
 * Opens the process folder and begins. Returns 0; -EBUSY one is active; -ENAMETOOLONG; other negative errno: the folder
 * can't be made or written. Lexgion words of earlier sessions are void: lx_session_generation has changed.
 */
LX_API int lx_session_start(const struct lx_session_options *options);

/* Ends it: all threads' packets are appended, metadata and state completed. Nothing happens where none is active. */
LX_API void lx_session_stop(void);

LX_API bool lx_session_active(void);
/* False in a forked child that is not to record; asked after a fork, when capture takes its hooks away. */
LX_API bool lx_session_wanted(void);
LX_API extern uint32_t lx_session_generation;
/* Run folder of the active session, "" without one. */
LX_API const char *lx_session_run_folder(void);

#endif
