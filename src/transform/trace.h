/*
 * Reading a run folder: processes, lexgions, packets, events. Reads whole, killed, torn and still running runs alike;
 * nothing is written. Tool side: may allocate. Not for several threads at once.
 */
#ifndef LX_TRANSFORM_TRACE_H
#define LX_TRANSFORM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lextrace/format.h"

struct lx_lexgion {
	const char *name;   /* name_size bytes, as recorded (unescaped), NUL after them for convenience */
	const char *title;  /* what people see: the name; of an import "import NAME" */
	const char *file;   /* likewise; "" for C code */
	uint32_t name_size;
	uint32_t title_size;
	uint32_t file_size;
	uint32_t line;
	uint32_t flags;     /* LX_LEXGION_* */
	uint8_t domain;     /* enum lx_domain */
	bool defined;       /* false: the definition is missing; name is "<unknown>" */
};

struct lx_thread_info {
	uint32_t number;
	uint32_t tid;
	char name[LX_THREAD_NAME_SIZE + 1]; /* newest name seen; valid UTF-8 */
	uint64_t first, last;               /* ticks of its packets */
};

/* One packet, checked: events lies inside the mapping and is a multiple of 8 bytes. */
struct lx_packet_ref {
	const struct lx_packet *header;
	const uint64_t *events;
	size_t words;
	bool open;          /* came from lextrace/packet-K */
};

struct lx_stream {
	unsigned number;            /* K of stream-K */
	struct lx_packet_ref *packets;
	size_t packet_count;
	bool torn;                  /* bytes at the end were no whole packet */
	bool mapped;                /* the packets that are not open lie in a mapped file */
	uint64_t size, whole;       /* bytes of stream-K, and of the whole packets at its beginning */
};

/* A line of lextrace/journal. */
struct lx_journal_line {
	uint64_t ticks;
	const char *text;   /* "mode Python STANDBY by trace.conf:7"; one line, escaped for a terminal */
};

/* A configuration that was in force, as the program read it. */
struct lx_config {
	char *path;         /* unescaped; NULL: there was no file */
	const char *text;   /* any bytes, a NUL after them */
	size_t size;
	uint64_t from;      /* ticks from which on it was in force */
};

/*
 * Which events of calls a configuration leaves out, by lexgion id (lexgion_count + 1 entries, the last for all ids above).
 * Whoever can read configurations sets them in lx_process, in memory of lx_trace_alloc(); without, all calls have both ends.
 */
#define LX_SIDE_NO_BEGIN 1u
#define LX_SIDE_NO_END 2u
#define LX_SIDE_C 2u        /* shifted by so much: of C calls that the function makes; in the last entry: whose caller is unknown */

struct lx_sides {
	uint64_t from;          /* ticks; until those of the next */
	const uint8_t **threads; /* by thread number */
};

struct lx_process {
	struct lx_trace *trace;
	char *folder;               /* path */
	const char *name;           /* last part of folder */
	struct lx_state state;      /* a copy, checked; clock_frequency is never 0 */
	char *key[16];              /* values of LX_PROCESS_KEYS in their order, unescaped, NULL: absent */
	size_t key_size[16];
	bool running;               /* a process with this pid still lives and has not ended its trace */
	bool killed;                /* ended without an end of the trace (SIGKILL, os._exit, exec, crash) */
	bool blank;                 /* no state and no packet: it began and recorded nothing; no time of it is known */
	struct lx_lexgion *lexgions;
	size_t lexgion_count;       /* ids are 0 .. lexgion_count-1; asking past it is fine with lx_lexgion() */
	struct lx_thread_info *threads; /* by number, gaps have tid 0; those with rows alone have no times */
	size_t thread_count;
	struct lx_stream *streams;
	size_t stream_count;
	const struct lx_row *rows;  /* of lextrace/rows those that are taken; their threads are below thread_count */
	size_t row_count;
	struct lx_journal_line *journal;
	size_t journal_count;
	struct lx_config config;    /* the last one; text NULL: not known */
	struct lx_config *earlier;  /* those before, in order of time, as far as they were kept */
	size_t earlier_count;
	struct lx_sides *sides;     /* by time; see there */
	size_t side_count;
	uint64_t first, last;       /* ticks of the first and last event or packet; of a process with rows alone, of all of it */
	uint64_t lost[LX_LOSS_COUNT], lost_total;
	/* Measured clock: realtime ns = clock_real + (ticks - clock_ticks) * ns_per_tick */
	uint64_t clock_ticks, clock_real;
	double ns_per_tick;
};

struct lx_trace {
	char *path;                 /* as given, no slash at the end */
	struct lx_process *processes; /* by time of start, blank ones last */
	size_t process_count;
	char *notes;                /* text of RUN/notes or NULL */
	char *said;                 /* what a reader of other formats could not read: lines for the user; NULL: nothing */
	bool damaged;               /* and some of it is missing for that */
	uint64_t first, last;       /* realtime ns, of those that are not blank */
};

struct lx_event {
	uint64_t ticks;
	uint32_t kind;              /* enum lx_event_kind */
	uint32_t value;             /* lexgion id, stack number or LX_MODE_WORD */
	const uint64_t *more;       /* of long events: the words behind the header; not set in others */
	uint32_t more_words;
};

/*
 * Opens the run at `path`: a run folder, one process folder of it, a .pfw or .pfw.gz file, or a folder of these. Returns 0, or negative errno with one line for
 * the user in `message`: -ENOENT no such folder; -EINVAL holds no trace; -ENODATA a .pfw file
 * without a record; -ENOMEM; other: from the system.
 * Damage inside a trace is no error: what is whole is read, see torn, killed and lost.
 */
int lx_trace_open(const char *path, struct lx_trace **out, char *message, size_t message_size);

/* One run from several .pfw files, such as those of its ranks; the first one names it. `count` is 1 or more. */
int lx_trace_open_files(const char *const *paths, size_t count, struct lx_trace **out, char *message, size_t message_size);
void lx_trace_close(struct lx_trace *trace);

/* Zeroed memory that lives as long as the trace; NULL without memory. */
void *lx_trace_alloc(struct lx_trace *trace, size_t size);

/* Never NULL; undefined ids give "<unknown>". */
const struct lx_lexgion *lx_lexgion(const struct lx_process *process, uint32_t id);

/* Realtime ns since the epoch of a tick of that process. Rises with ticks. */
uint64_t lx_real_ns(const struct lx_process *process, uint64_t ticks);

/* Names of format.h's table, "python:function_begin"; "?" for an unknown kind. */
const char *lx_event_name(uint32_t kind);
enum lx_role lx_event_role(uint32_t kind);
bool lx_event_has_lexgion(uint32_t kind);

/* ---- Events of one packet, in order ---- */
struct lx_cursor {
	const uint64_t *at, *end;
	uint64_t ticks;
};

static inline void lx_cursor_start(struct lx_cursor *cursor, const struct lx_packet_ref *packet)
{
	cursor->at = packet->events;
	cursor->end = packet->events + packet->words;
	cursor->ticks = packet->header->timestamp_begin;
}

/*
 * False at the packet's end. An event of an unknown kind has that kind, and is taken for one without words behind it; a
 * header or a long event that is cut off ends the packet.
 */
static inline bool lx_cursor_next(struct lx_cursor *cursor, struct lx_event *event)
{
	const uint64_t mask = (1ull << LX_TIMESTAMP_BITS) - 1;

	if (cursor->at >= cursor->end)
		return false;
	uint64_t word = *cursor->at++;
	uint32_t payload = (uint32_t)(word >> 32);

	event->kind = (uint32_t)(word & 31);
	if (__builtin_expect(event->kind != LX_EV_EXTENDED, 1)) {
		cursor->ticks += ((word >> 5) - cursor->ticks) & mask;
	} else {
		if (cursor->at >= cursor->end)
			return false;
		uint64_t high = *cursor->at++;

		event->kind = (uint32_t)(word >> 5) & (uint32_t)mask;
		cursor->ticks = (word >> 32) | (high << 32);
		payload = (uint32_t)(high >> 32);
	}
	if (__builtin_expect(event->kind >= LX_EV_FIRST_LONG, 0) && event->kind < LX_EV_COUNT) {
		uint64_t left = (uint64_t)(cursor->end - cursor->at), words = lx_long_words(event->kind, cursor->at, left);

		if (words > left) {
			cursor->at = cursor->end;
			return false;
		}
		event->more = cursor->at;
		event->more_words = (uint32_t)words;
		cursor->at += words;
	}
	event->ticks = cursor->ticks;
	event->value = event->kind == LX_EV_STACK_SWITCH || event->kind == LX_EV_MODE ? payload : LX_LEXGION_ID(payload);
	return true;
}

/*
 * Reading has come to this packet of the stream: the memory of those before it may go, so that a reader's memory does not
 * grow with the trace. They can still be read.
 */
void lx_packets_passed(const struct lx_stream *stream, size_t packet);

/* ---- All events of a run (or of one process), merged by realtime ---- */
struct lx_merge;
struct lx_merged {
	struct lx_event event;
	uint64_t real_ns;
	const struct lx_process *process;
	const struct lx_thread_info *thread;
	const struct lx_packet_ref *packet; /* changes when a new packet of that stream begins */
	bool packet_start;                  /* first event of its packet */
};
int lx_merge_open(const struct lx_trace *trace, const struct lx_process *only_or_null, struct lx_merge **out);
bool lx_merge_next(struct lx_merge *merge, struct lx_merged *out);
void lx_merge_close(struct lx_merge *merge);

#endif
