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

/*
 * An open call: `key` tells its end from another's (address of a code object, callable, frame or region). A call that is
 * not simply written at both ends is marked: its kind is LX_MARKED + the event's, so that no fast path takes it.
 */
struct lx_call {
	const void *key;
	uint32_t word;
	uint16_t kind;          /* the event that opened it, or LX_MARKED + that */
	uint16_t marks;         /* LX_CALL_* of a marked call */
	/* Of marked calls only; not set in others. */
	uint64_t begin;         /* COUNTED: ticks */
	uint64_t other;         /* COUNTED: ticks in its callees; else: C calls of it that were written */
};

#define LX_MARKED 32u
#define LX_CALL_QUIET 1u        /* its end is not written */
#define LX_CALL_COUNTED 2u      /* MONITORING: its time goes to its row */
#define LX_CALL_ADMITTED 4u     /* by a window: capture is told of its end */
#define LX_CALL_LAST 8u         /* the last of its window */
#define LX_CALL_C 16u           /* C calls from it are wanted */
#define LX_CALL_NO_BEGIN 32u    /* its resumptions are not written */

/* One stack of open calls: a thread has one, and one for each greenlet that has calls open. */
struct lx_stack {
	struct lx_call *base, *top, *limit; /* top is the next free place; base is NULL until the first call */
	const void *root;       /* what capture knows the stack by; NULL: not looked at yet */
	uint32_t number;
	struct lx_stack *next;
};

struct lx_slot;

/* What a thread knows of a lexgion that is under a window or counted. By lexgion id in lx_thread.counts. */
struct lx_count {
	struct lx_row *row;     /* NULL: not met yet */
	uint32_t generation;    /* lx_generation for which what follows was decided */
	uint32_t depth;         /* open COUNTED calls */
	uint32_t cycle;         /* of windows, when it was looked at last */
	uint8_t in_set;         /* the thread is in the set of the section that applies */
	uint8_t used_up;        /* its window is */
	uint8_t met;            /* its window counts among the open ones of its group */
	uint8_t switches;       /* the first event switches of the domain, in force here */
	uint32_t next;          /* another lexgion that the thread has a row of; 0: none */
	uint64_t look_at;       /* calls below this one (row->seen) are not recorded, and nothing else is to be done */
};

struct lx_thread {
	struct lx_packet *packet; /* never NULL: a detached thread has an empty one without room */
	uint64_t limit;         /* bits: no event may begin at or behind it */
	struct lx_stack stack;  /* the running one, by value; the others hang on `stacks` */
	const void *mark;       /* capture's cheap test whether the running stack may have changed */
	const void *mark_below;
	uint32_t busy;          /* re-entrance guard */
	uint32_t special;       /* LX_THREAD_*: what capture looks after before the next event */
	/* Colder from here on. */
	uint32_t epoch;         /* of the process folder that it is attached to */
	uint32_t number;
	bool numbered;
	bool placed, inside;    /* capture has looked at the Python domain's sets; the thread is in them */
	bool waiting;           /* in a pause of INTROSPECT */
	uint32_t tid;
	uint32_t reentered;     /* events refused by the guard since the last packet */
	uint32_t dropped;       /* calls left out since then for want of memory */
	uint64_t extra;         /* bytes of this packet beyond 8 an event */
	uint64_t unmatched;     /* ends without a begin that were left out */
	struct lx_slot *slot;
	struct lx_stack *stacks;
	uint32_t next_stack;
	struct lx_count *counts; /* by lexgion id */
	uint32_t count_space;
	uint32_t first_count;   /* head of those that have rows */
	uint32_t rows_epoch;    /* of the process folder whose lextrace/threads names it */
	char name[LX_THREAD_NAME_SIZE];
	struct lx_thread *next;
};

/* Bit of a domain: its open calls are to be forgotten (it went to STANDBY or OFF meanwhile). */
#define LX_THREAD_FORGET(domain) (1u << (domain))
#define LX_THREAD_FORGETS 0xffu
#define LX_THREAD_OUTSIDE 0x100u /* no Python function of this thread is recorded */
#define LX_THREAD_RENEW 0x200u   /* what it knows belongs to another session or process */

/* Looks after all but OUTSIDE, on the calling thread. */
LX_API void lx_thread_special(struct lx_thread *thread);

/* LX_ATTENTION_* of the process: what the next event looks after. Points into the mapped state. */
extern LX_API uint32_t *lx_attention;
/* Sets bits, also from a signal handler. */
LX_API void lx_attention_set(uint32_t bits);
LX_API void lx_attention_clear(uint32_t bits);

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

/* Writes a long event: `words` 64-bit words behind its header, at most LX_LONG_WORDS_MAX. False: it was dropped, counted. */
LX_API bool lx_record_long(struct lx_thread *thread, uint32_t kind, uint32_t word, const uint64_t *more, size_t words);

#define LX_LONG_WORDS_MAX (1 + LX_TEXT_PART_MAX / 8)

/* Makes room for one more call. False without memory: the call is then not recorded. */
LX_API bool lx_stack_grow(struct lx_thread *thread);

/* ---- Rows: what is counted (record/rows.c) ---- */

/* Makes room for the counts of lexgions up to `id`. NULL without memory. */
LX_API struct lx_count *lx_count_grow(struct lx_thread *thread, uint32_t id);

static inline struct lx_count *lx_count_of(struct lx_thread *thread, uint32_t id)
{
	return lx_likely(id < thread->count_space) ? &thread->counts[id] : lx_count_grow(thread, id);
}

/*
 * The row of the thread and lexgion, made if need be; in memory of its own where the file cannot grow. NULL: no memory.
 * `counted`: in MONITORING, where the thread may have no packet that names it: lextrace/threads does.
 */
LX_API struct lx_row *lx_row_make(struct lx_thread *thread, struct lx_count *count, uint32_t id, bool counted);

/* A call is counted from here on: MONITORING. */
static inline void lx_counted_begin(struct lx_thread *thread, const void *key, uint32_t word, uint32_t kind)
{
	uint32_t id = LX_LEXGION_ID(word);
	struct lx_count *count = lx_count_of(thread, id);

	if (lx_unlikely(thread->stack.top == thread->stack.limit) && !lx_stack_grow(thread))
		return;
	if (lx_unlikely(!count || (!count->row && !lx_row_make(thread, count, id, true))))
		return;
	if (kind != LX_EV_FUNCTION_RESUME && kind != LX_EV_REGION_RESUME)
		count->row->calls++, count->row->seen++;
	count->depth++;
	*thread->stack.top++ = (struct lx_call){key, word, (uint16_t)(LX_MARKED + kind), LX_CALL_COUNTED | LX_CALL_QUIET,
						lx_ticks(), 0};
}

/* The counted call that was the top of the stack until now ends. */
static inline void lx_counted_end(struct lx_thread *thread, const struct lx_call *call)
{
	struct lx_count *count = &thread->counts[LX_LEXGION_ID(call->word)];
	uint64_t spent = lx_ticks() - call->begin;

	count->row->exclusive += spent - call->other;
	if (--count->depth == 0)
		count->row->inclusive += spent;
	if (call > thread->stack.base && call[-1].kind >= LX_MARKED && call[-1].marks & LX_CALL_COUNTED)
		((struct lx_call *)call)[-1].other += spent;
}

/* ---- Open calls ---- */

/* The events that open a region, as a bit set of kinds. */
#define LX_REGION_KINDS (1ull << LX_EV_REGION_BEGIN | 1ull << LX_EV_REGION_RESUME)

static inline bool lx_call_is_region(const struct lx_call *call)
{
	return (LX_REGION_KINDS | LX_REGION_KINDS << LX_MARKED) >> call->kind & 1;
}

static inline void lx_call_begin(struct lx_thread *thread, const void *key, uint32_t word, uint32_t kind)
{
	if (lx_unlikely(thread->stack.top == thread->stack.limit) && !lx_stack_grow(thread))
		return;
	struct lx_call *call = thread->stack.top++;

	call->key = key;
	call->word = word;
	call->kind = (uint16_t)kind;
	call->marks = 0;
	lx_record(thread, kind, word);
}

/* Opens a marked call; writes its begin if `written`. False without memory. */
LX_API bool lx_call_begin_marked(struct lx_thread *thread, const struct lx_call *call, bool written);

/*
 * The rare part of lx_call_end: the top call is another one. Where `key` is open below it, the calls above lost their
 * ends (the interpreter sent none) and are ended here, in order, as unwound; where it is not open (it began before
 * recording) nothing is written and the end is counted as unmatched.
 * `begin_kinds` is a bit set of event kinds that may have opened the call.
 */
LX_API void lx_call_end_slow(struct lx_thread *thread, const void *key, uint64_t begin_kinds, uint32_t kind);

/* Whether the innermost open call is this one. */
static inline bool lx_call_is_top(const struct lx_thread *thread, const void *key, uint64_t begin_kinds)
{
	const struct lx_call *top = thread->stack.top;

	return top != thread->stack.base && top[-1].key == key && (begin_kinds >> top[-1].kind & 1) != 0;
}

static inline void lx_call_end(struct lx_thread *thread, const void *key, uint64_t begin_kinds, uint32_t kind)
{
	if (lx_unlikely(!lx_call_is_top(thread, key, begin_kinds))) {
		if (lx_call_is_top(thread, key, begin_kinds << LX_MARKED) &&
		    thread->stack.top[-1].marks == (LX_CALL_COUNTED | LX_CALL_QUIET)) {
			lx_counted_end(thread, --thread->stack.top);
			return;
		}
		lx_call_end_slow(thread, key, begin_kinds, kind);
		return;
	}
	thread->stack.top--;
	lx_record(thread, kind, thread->stack.top->word);
}

/*
 * A region ends that need not be the innermost: `with` statements of coroutines that take turns. Regions above it go on.
 */
LX_API void lx_region_leave(struct lx_thread *thread, const void *key, uint32_t kind);

/*
 * A call is suspended (yield, await) or goes on. Regions opened in it are suspended with it (region_suspend, then
 * function_yield) and come back on top of it (function_resume, then region_resume), also on another thread. `frame` tells
 * it from other calls of the same key meanwhile.
 */
LX_API void lx_call_suspend(struct lx_thread *thread, const void *key, const void *frame, uint64_t begin_kinds,
			    uint32_t kind);
LX_API void lx_regions_resume(struct lx_thread *thread, const void *frame);
extern LX_API uint32_t lx_regions_suspended; /* regions that wait now, in all threads */

/*
 * Another stack (greenlet), known by `root`, runs from here on: notes the switch in the trace. Calls open on it are back.
 * A stack that has no root of its own yet is known by its thread's address, and takes the first new root that comes.
 */
LX_API void lx_stack_switch(struct lx_thread *thread, const void *root);

/* Ends all open calls of a domain without an event: what is counted of them is accounted. On the calling thread. */
LX_API void lx_calls_forget(struct lx_thread *thread, uint32_t domain);
/* The same in all threads: in each before its next event. */
LX_API void lx_calls_forget_everywhere(uint32_t domain);
/*
 * Calls open in any thread become marked as ADMITTED: the rules change, and their ends are to be told to capture. With the
 * session's lock held, and the GIL where there is one.
 */
LX_API void lx_calls_admit(uint64_t begin_kinds, void (*each)(uint32_t word));

/*
 * What record/ tells capture/ (capture/meter.c): a marked ADMITTED call has ended; one was suspended with its frame (NULL:
 * nobody cares); a thread ends (with the session's lock held).
 */
void lx_meter_call_ended(struct lx_thread *thread, const struct lx_call *call);
extern LX_API void (*lx_call_suspended)(struct lx_thread *thread, const struct lx_call *call, const void *frame);
void lx_meter_thread_ends(struct lx_thread *thread);
/* The thread is as new: in another session, or in a forked child. */
void lx_meter_thread_renewed(struct lx_thread *thread);

/* ---- What goes beside the trace (record/journal.c) ---- */

/* Adds "TICKS text" to lextrace/journal; a line to the run's notes, "process PID: text", once. */
LX_API void lx_journal(const char *format, ...) __attribute__((format(printf, 1, 2)));
LX_API void lx_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes lextrace/config: the configuration in force. `path` may be NULL. */
LX_API void lx_config_keep(const char *path, const char *text, size_t size);
/*
 * Copies what is recorded so far to lextrace/chunks/N, a process folder as if the process had ended now. 0 and its path, or
 * negative errno. The GIL is held where there is one: no Python event comes in between.
 */
LX_API int lx_chunk_make(char *path, size_t size);
/* One line "lextrace: …" on stderr, raising nothing in the program; nothing where the run is quiet or not the root's. */
LX_API bool lx_session_speaks(void);
LX_API void lx_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

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
/* The same for what lextrace/lextrace.h puts into programs: 0 or 1. */
extern LX_API unsigned char lextrace_on;
/* False in a forked child that is not to record; asked after a fork, when capture takes its hooks away. */
LX_API bool lx_session_wanted(void);
LX_API extern uint32_t lx_session_generation;
/* The mapped state of the process: modes, requests. Never NULL. */
LX_API struct lx_state *lx_session_state(void);
/* Folder of this process in the run. "" without a session, or in a forked child that has none yet. */
LX_API const char *lx_session_folder(void);
/* Gives the calling thread its number, if it has none yet: the next one, 0 for the main thread. */
LX_API uint32_t lx_thread_number(struct lx_thread *thread);
/* Takes the next number for a thread that has not been seen yet. */
LX_API uint32_t lx_thread_number_take(void);
/* All threads known, for capture; with the session's lock held. */
LX_API struct lx_thread *lx_threads_first(void);
LX_API void lx_lock(void);
LX_API void lx_unlock(void);
/* Run folder of the active session, "" without one. */
LX_API const char *lx_session_run_folder(void);

#endif
