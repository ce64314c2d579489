/*
 * The native trace format: the one table of event kinds and fields.
 *
 * The writer (src/record), the CTF metadata (src/base/ctf_metadata.c), the reader (src/transform), docs/format.md and
 * the fuzzers' seeds are all made from this file. A change of a layout here raises LX_FORMAT_VERSION.
 *
 * A run is a folder; each traced process has one folder in it, which is a CTF 1.8 trace:
 *
 *     RUN/notes                        text, one line a note (appended; may be absent)
 *     RUN/HOST-PID[-N]/metadata        CTF metadata (TSDL text), replaced by rename as lexgions appear
 *     RUN/HOST-PID[-N]/stream-K        whole packets, appended; K counts from 0
 *     RUN/HOST-PID[-N]/lextrace/state      struct lx_state, mapped by the writer
 *     RUN/HOST-PID[-N]/lextrace/process    text, "key value" lines, values escaped (lx_escape)
 *     RUN/HOST-PID[-N]/lextrace/lexgions   struct lx_definition records
 *     RUN/HOST-PID[-N]/lextrace/packet-K   the open packet of stream-K, mapped by the writer; absent after a normal end
 *     RUN/HOST-PID[-N]/lextrace/rows       struct lx_row records, mapped by the writer; absent without windows or MONITORING
 *     RUN/HOST-PID[-N]/lextrace/threads    text, a line "NUMBER TID NAME" (lx_escape) for each thread that counted calls
 *     RUN/HOST-PID[-N]/lextrace/config     the configuration in force: its path (lx_escape) on the first line, then its text
 *     RUN/HOST-PID[-N]/lextrace/config-K   those that were in force before it, the K-th until the K-th reload
 *     RUN/HOST-PID[-N]/lextrace/journal    text, a line "TICKS WHAT" for each change of a mode or of the configuration
 *     RUN/HOST-PID[-N]/lextrace/request, answer   what `lextrace ctl` asks, and what came of it
 *     RUN/HOST-PID[-N]/lextrace/chunks/N   copies of the process folder as it was when INTROSPECT or `ctl snapshot` made them
 *     RUN/HOST-PID[-N]/lextrace/introspect.log    what the scripts of INTROSPECT wrote
 *
 * All integers are little-endian. Times are ticks of the trace clock (see struct lx_state).
 */
#ifndef LEXTRACE_FORMAT_H
#define LEXTRACE_FORMAT_H

#include <stdint.h>

#define LX_FORMAT_VERSION 2

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace is little-endian, and is written as it lies in memory");

/* ---- Domains: X(number, MACRO_NAME, name as users write it, prefix of its event names) ---- */
#define LX_DOMAINS(X)                                                                              \
	X(0, PYTHON, "Python", "python")                                                           \
	X(1, USER, "User", "user")                                                                 \
	X(2, IO, "IO", "io")                                                                       \
	X(3, OPENMP, "OpenMP", "openmp")                                                           \
	X(4, MPI, "MPI", "mpi")                                                                    \
	X(5, CUDA, "CUDA", "cuda")                                                                 \
	X(6, LEXTRACE, "lextrace", "lextrace")

enum lx_domain {
#define LX_X(number, NAME, name, prefix) LX_DOMAIN_##NAME = number,
	LX_DOMAINS(LX_X)
#undef LX_X
	LX_DOMAIN_COUNT
};

/* ---- Modes of a domain: X(number, NAME as users write it) ---- */
#define LX_MODES(X) X(0, OFF) X(1, STANDBY) X(2, MONITORING) X(3, TRACING)

enum lx_mode {
#define LX_X(number, NAME) LX_MODE_##NAME = number,
	LX_MODES(LX_X)
#undef LX_X
	LX_MODE_COUNT
};

/*
 * ---- Event kinds: X(id, MACRO_NAME, domain, event name, role, payload) ----
 *
 * The CTF event name is "<prefix of the domain>:<event name>", as in python:function_begin.
 * role: what the event does to the stack of open calls of its thread:
 *     BEGIN opens a call; RESUME opens a slice of a call that was suspended;
 *     END closes it by return; SUSPEND by a yield or await; UNWIND by an exception; OTHER touches no call.
 * payload: LEXGION is struct lexgion (block:16, label:16), the place in the code; STACK is a 32-bit number of the
 *     call stack (greenlet) that runs from here on; MODE is struct mode (domain:16, mode:16): the domain stops recording,
 *     and all its calls that are open in any thread of the process count as ended here. These are 32 bits, so that such an
 *     event is 8 bytes (compact header) or 16 bytes (extended header).
 *     The others are long: behind the 32 bits, which are a lexgion (for arguments and metadata the name of the key, a
 *     lexgion with LX_LEXGION_KEY), come whole 64-bit words:
 *     RUN     run:64, a number of one run of a generator or coroutine, or of a region that stepped aside while one below
 *             it ended: it is that of the innermost open call, and stands in each of its slices, so that slices of runs
 *             that take turns can be told apart. Never 0.
 *     INT     value:64 signed; FLOAT value:64 IEEE 754.
 *     TEXT    form:32 (enum lx_text_form, then flags), size:32, then size bytes, a multiple of 8 with NULs at the end; the
 *             number of these NULs is in form. A longer text goes on in the next TEXT event of the thread (LX_TEXT_MORE).
 *     SPAN    begin:64 (realtime ns since the epoch, signed), duration:64 (ns), arguments:32, 0:32: a whole span, told of
 *             afterwards; on the stack of its thread it is nowhere.
 *     POINT   arguments:32, 0:32: a moment.
 *     The arguments of a SPAN or POINT are the next so many ARG_* events of the thread (parts of one text count as one).
 *     All other ARG_* events belong to the innermost call of the domain User that is open in their thread; a key that
 *     comes again replaces the value.
 * The id has 5 bits in the compact header; 31 announces the extended header.
 */
#define LX_EVENT_KINDS(X)                                                                          \
	X(0, FUNCTION_BEGIN, PYTHON, "function_begin", BEGIN, LEXGION)                             \
	X(1, FUNCTION_END, PYTHON, "function_end", END, LEXGION)                                   \
	X(2, FUNCTION_YIELD, PYTHON, "function_yield", SUSPEND, LEXGION)                           \
	X(3, FUNCTION_RESUME, PYTHON, "function_resume", RESUME, LEXGION)                          \
	X(4, FUNCTION_UNWIND, PYTHON, "function_unwind", UNWIND, LEXGION)                          \
	X(5, C_CALL_BEGIN, PYTHON, "c_call_begin", BEGIN, LEXGION)                                 \
	X(6, C_CALL_END, PYTHON, "c_call_end", END, LEXGION)                                       \
	X(7, C_CALL_RAISE, PYTHON, "c_call_raise", UNWIND, LEXGION)                                \
	X(8, REGION_BEGIN, USER, "region_begin", BEGIN, LEXGION)                                   \
	X(9, REGION_END, USER, "region_end", END, LEXGION)                                         \
	X(10, REGION_SUSPEND, USER, "region_suspend", SUSPEND, LEXGION)                            \
	X(11, REGION_RESUME, USER, "region_resume", RESUME, LEXGION)                               \
	X(12, REGION_UNWIND, USER, "region_unwind", UNWIND, LEXGION)                               \
	X(13, STACK_SWITCH, LEXTRACE, "stack_switch", OTHER, STACK)                                \
	X(14, MODE, LEXTRACE, "mode", OTHER, MODE)                                                 \
	X(15, IMPORT_BEGIN, PYTHON, "import_begin", BEGIN, LEXGION)                                \
	X(16, IMPORT_END, PYTHON, "import_end", END, LEXGION)                                      \
	X(17, IMPORT_UNWIND, PYTHON, "import_unwind", UNWIND, LEXGION)                             \
	X(18, REGION_RUN, USER, "region_run", OTHER, RUN)                                          \
	X(19, ARG_INT, USER, "arg_int", OTHER, INT)                                                \
	X(20, ARG_FLOAT, USER, "arg_float", OTHER, FLOAT)                                          \
	X(21, ARG_TEXT, USER, "arg_text", OTHER, TEXT)                                             \
	X(22, SPAN, USER, "span", OTHER, SPAN)                                                     \
	X(23, POINT, USER, "point", OTHER, POINT)                                                  \
	X(24, COUNTER, USER, "counter", OTHER, FLOAT)                                              \
	X(25, METADATA, USER, "metadata", OTHER, TEXT)

enum lx_event_kind {
#define LX_X(id, NAME, domain, name, role, payload) LX_EV_##NAME = id,
	LX_EVENT_KINDS(LX_X)
#undef LX_X
	LX_EV_COUNT
};

#define LX_EV_FIRST_LONG LX_EV_REGION_RUN /* from here on with words behind the header */

/* What the bytes of a TEXT stand for. */
enum lx_text_form {
	LX_TEXT_STRING, /* UTF-8; lone surrogates as 3 bytes; any byte may come */
	LX_TEXT_NUMBER, /* a number as JSON writes it, too large for INT or too exact for FLOAT */
	LX_TEXT_JSON,   /* one JSON value */
};
#define LX_TEXT_FORM 0xffu
#define LX_TEXT_MORE 0x100u               /* the next TEXT event goes on with this one */
#define LX_TEXT_PADDING(form) ((form) >> 16 & 7u)
#define LX_TEXT_PART_MAX 4096u            /* bytes of a TEXT event; longer texts are written in parts */
#define LX_TEXT_MAX (1u << 20)            /* bytes of a whole text; longer ones are cut, "..." at the end */
#define LX_ARGUMENTS_MAX 1024u            /* of one span, point or call that a reader keeps */

#define LX_MODE_WORD(domain, mode) ((uint32_t)(domain) | (uint32_t)(mode) << 16)

enum lx_role { LX_ROLE_BEGIN, LX_ROLE_RESUME, LX_ROLE_END, LX_ROLE_SUSPEND, LX_ROLE_UNWIND, LX_ROLE_OTHER };

#define LX_EV_EXTENDED 31u      /* compact id that announces the extended header */
#define LX_TIMESTAMP_BITS 27    /* of the compact header; a gap of 2^27 ticks or more needs the extended one */

/*
 * Event header and payload, as one or two 64-bit words:
 *
 *   compact   bits  0-4 id   5-31 timestamp (low 27 bits)   32-47 lexgion block   48-63 lexgion label
 *   extended  bits  0-4 31   5-31 id   32-95 timestamp (64 bits)   96-111 block   112-127 label
 *
 * A compact timestamp is completed from the stream's previous event (or the packet's timestamp_begin): the next value
 * not below it whose low 27 bits are these.
 */
#define LX_EVENT_SIZE 8u
#define LX_EVENT_EXTENDED_SIZE 16u

/* Words behind the header of a long event of a known kind, of which `left` words are there. More than `left`: it is cut off. */
static inline uint64_t lx_long_words(uint32_t kind, const uint64_t *at, uint64_t left)
{
	if (kind == LX_EV_SPAN)
		return 3;
	if ((kind != LX_EV_ARG_TEXT && kind != LX_EV_METADATA) || left == 0)
		return 1;
	return 1 + ((*at >> 32) + 7) / 8;
}

/* Words of the event at `at`, its header included. */
static inline uint64_t lx_event_words(const uint64_t *at, uint64_t left)
{
	uint64_t header = (*at & 31) == LX_EV_EXTENDED ? 2 : 1;
	uint32_t kind = header == 2 ? (uint32_t)(*at >> 5) & ((1u << LX_TIMESTAMP_BITS) - 1) : (uint32_t)(*at & 31);

	if (kind < LX_EV_FIRST_LONG || kind >= LX_EV_COUNT || left <= header)
		return header;
	return header + lx_long_words(kind, at + header, left - header);
}

/*
 * A lexgion id is a number from 0; in an event it stands as block = id / 256 and label = id % 256, because a CTF reader
 * resolves many small enumerations faster than a large one. Id 0 is "<unknown>": a place that could not be defined.
 */
#define LX_LABELS_PER_BLOCK 256u
#define LX_LEXGION_MAX (65535u * LX_LABELS_PER_BLOCK) /* ids are below this */
#define LX_LEXGION_WORD(id) ((uint32_t)(((id) >> 8) | (((id) & 255u) << 16)))
#define LX_LEXGION_ID(word) ((((uint32_t)(word) & 0xffffu) << 8) | (((uint32_t)(word) >> 16) & 255u))

/* ---- Causes of lost events: X(number, MACRO_NAME, name of the packet context field, text for people) ---- */
#define LX_LOSSES(X)                                                                               \
	X(0, DISK_FULL, "lost_disk_full", "disk full")                                             \
	X(1, FILE_LIMIT, "lost_file_limit", "file size limit")                                     \
	X(2, NO_FOLDER, "lost_no_folder", "trace folder gone")                                     \
	X(3, IO_ERROR, "lost_io_error", "write error")                                             \
	X(4, NO_MEMORY, "lost_no_memory", "no memory")                                             \
	X(5, REENTERED, "lost_reentered", "event inside the recorder")

enum lx_loss {
#define LX_X(number, NAME, field, text) LX_LOSS_##NAME = number,
	LX_LOSSES(LX_X)
#undef LX_X
	LX_LOSS_COUNT
};

#define LX_CTF_MAGIC 0xC1FC1FC1u
#define LX_THREAD_NAME_SIZE 64

/*
 * Packet header and context, in front of the events of a packet. X(type, name): type is u8x16 (uuid), u32, u64,
 * ticks (u64 on the trace clock), losses (LX_LOSS_COUNT u64, one field each) or name64 (UTF-8, NUL-padded).
 *   content_size, packet_size  bits, header included
 *   packet_seq_num             counts from 0 per stream; an open packet whose number is not above the last appended
 *                              one is a copy of it
 *   events_discarded           events of this stream lost so far, all causes; the lost_* fields are its parts
 *   clock_monotonic, clock_realtime   ns of these clocks at timestamp_begin
 *   thread                     number of the thread (0 main); tid: its kernel id; several threads may use one stream,
 *                              one after the other
 *   stack                      number of the call stack at the packet's start (see STACK_SWITCH)
 *   events                     number of events in the packet; 0 in an open packet (count them)
 */
#define LX_PACKET_FIELDS(X)                                                                        \
	X(u32, magic)                                                                              \
	X(u8x16, uuid)                                                                             \
	X(u32, stream_id)                                                                          \
	X(ticks, timestamp_begin)                                                                  \
	X(ticks, timestamp_end)                                                                    \
	X(u64, content_size)                                                                       \
	X(u64, packet_size)                                                                        \
	X(u64, packet_seq_num)                                                                     \
	X(u64, events_discarded)                                                                   \
	X(u64, clock_monotonic)                                                                    \
	X(u64, clock_realtime)                                                                     \
	X(u32, thread)                                                                             \
	X(u32, tid)                                                                                \
	X(u32, stack)                                                                              \
	X(u32, events)                                                                             \
	X(losses, lost)                                                                            \
	X(name64, thread_name)

#define LX_PACKET_HEADER_FIELDS 3 /* the first three are the CTF packet header, the rest its context */

typedef uint32_t lx_field_u32;
typedef uint64_t lx_field_u64;
typedef uint64_t lx_field_ticks;
typedef uint8_t lx_field_u8x16[16];
typedef uint64_t lx_field_losses[LX_LOSS_COUNT];
typedef char lx_field_name64[LX_THREAD_NAME_SIZE];

struct lx_packet {
#define LX_X(type, name) lx_field_##type name;
	LX_PACKET_FIELDS(LX_X)
#undef LX_X
};

#define LX_PACKET_MIN 16384u    /* bytes of a thread's first packet */
#define LX_PACKET_MAX 262144u   /* bytes; no packet is larger */

/*
 * ---- lextrace/lexgions: definitions, one after the other, each a multiple of 8 bytes ----
 * size 0 ends the file. A record whose id is LX_DEFINITION_PAD fills a gap. After the struct come name_size bytes of
 * name and file_size bytes of file name (UTF-8; lone surrogates as 3 bytes; no NUL at the end; may hold any byte),
 * then zeros up to size. `size` is stored last, so that a record is whole or absent.
 */
#define LX_DEFINITION_PAD 0xffffffffu
#define LX_DEFINITION_TEXT_MAX 8192u /* bytes of name or file; longer ones are cut, "..." at the end */

struct lx_definition {
	uint32_t size;
	uint32_t id;
	uint32_t line;      /* first line, 0: none (C code) */
	uint32_t domain;    /* enum lx_domain */
	uint32_t flags;     /* LX_LEXGION_* */
	uint32_t name_size;
	uint32_t file_size;
	uint32_t reserved;
};

#define LX_LEXGION_C 1u         /* a C callable */
#define LX_LEXGION_GENERATOR 2u /* generator, coroutine or async generator: its calls come in slices */
#define LX_LEXGION_IMPORT 4u    /* the import of the module of that name */
#define LX_LEXGION_KEY 8u       /* no place: the name of an argument, or of a metadata entry */
#define LX_LEXGION_COMP(flags) ((flags) >> 8 & 15u) /* of a region: enum lx_comp */
#define LX_LEXGION_COMP_FLAGS(comp) ((uint32_t)(comp) << 8)
/* Of a region: bytes of its name that are the category, as in CATEGORY/NAME; 0: all before the first slash. */
#define LX_LEXGION_CATEGORY(flags) ((flags) >> 16)
#define LX_LEXGION_CATEGORY_FLAGS(size) ((uint32_t)(size) << 16)

/* ---- What a region does, by its author: X(number, NAME, name as users write it) ---- */
#define LX_COMPS(X) X(1, IO, "io") X(2, MEM, "mem") X(3, CPU, "cpu") X(4, COMM, "comm")

enum lx_comp {
	LX_COMP_NONE,
#define LX_X(number, NAME, name) LX_COMP_##NAME = number,
	LX_COMPS(LX_X)
#undef LX_X
};

/* ---- lextrace/state ---- */
#define LX_STATE_MAGIC 0x45545854u /* "TXTE" */
#define LX_STATE_SIZE 4096u

enum lx_clock_kind { LX_CLOCK_MONOTONIC = 0, LX_CLOCK_TSC = 1 };

struct lx_clock_sample {
	uint64_t ticks;
	uint64_t monotonic; /* ns, CLOCK_MONOTONIC */
	uint64_t realtime;  /* ns since the epoch, CLOCK_REALTIME */
};

struct lx_state {
	uint32_t magic;
	uint32_t version;           /* LX_FORMAT_VERSION */
	uint32_t pid;
	uint32_t parent_pid;
	uint8_t uuid[16];
	uint32_t clock_kind;        /* enum lx_clock_kind */
	uint32_t ended;             /* 0 running or killed; 1 ended by exit, exit_status counts; 2 stopped by stop() */
	int32_t exit_status;        /* low 8 bits as the shell shows them */
	uint32_t threads;           /* threads seen */
	uint64_t clock_frequency;   /* ticks a second: an estimate at start, measured at the end */
	struct lx_clock_sample start;
	struct lx_clock_sample end; /* zeros until it ended */
	uint64_t events;            /* of appended packets */
	uint64_t bytes;             /* of stream files */
	uint64_t lost[LX_LOSS_COUNT];
	uint64_t lost_at[LX_LOSS_COUNT];      /* ticks of the first loss of that cause, 0: none */
	uint64_t lexgions;          /* ids given out */
	uint64_t unmatched_ends;    /* ends without a begin that were left out (calls open when tracing started) */
	uint64_t unnamed;           /* times a place could not be defined: its event names lexgion 0 */
	uint64_t bounded;           /* C calls of recorded calls that max_c_traces left out */
	uint64_t rows;              /* in lextrace/rows, free ones included */
	uint32_t modes[8];          /* enum lx_mode of each domain, as it is now; by enum lx_domain */
	uint32_t reloads;           /* configurations read since the start */
	uint32_t attention;         /* LX_ATTENTION_*: what the next event looks after first; others set bits, too */
	uint32_t signal;            /* 1: SIGUSR1 is the trace's */
	uint32_t paused;            /* 1: INTROSPECT holds the program */
	uint64_t request;           /* number of the last request that was answered */
	uint64_t counted;           /* calls counted in MONITORING, at the end; before it: see lextrace/rows */
	uint32_t c_calls_off;       /* 1: no configuration, and C calls were not asked for */
};

#define LX_ATTENTION_REQUEST 1u /* lextrace/request holds a new one */
#define LX_ATTENTION_RELOAD 2u  /* SIGUSR1: the configuration is to be read */
#define LX_ATTENTION_WORK 4u    /* the end of a window left something to do */
#define LX_ATTENTION_PAUSE 8u   /* INTROSPECT: wait */
#define LX_ATTENTION_STACKS 16u /* greenlets are there: look whether another stack runs */

/*
 * ---- lextrace/rows: what a thread knows of a lexgion that is under a window or was met in MONITORING ----
 * lexgion 0: free. Times are ticks. Calls are counted as they begin, times as they end. A call inside another of the same
 * lexgion and thread adds nothing to `inclusive`.
 */
struct lx_row {
	uint32_t thread;
	uint32_t lexgion;
	uint64_t calls, inclusive, exclusive; /* while MONITORING */
	uint64_t seen;              /* calls met while a window applied; none are met once it is used up and the program spared */
	uint64_t recorded;          /* of these, admitted by the window */
	uint64_t ended;             /* when the window was used up; 0: it is open */
	uint64_t opened;            /* when its first call was admitted; 0: none yet */
};

#define LX_ROWS_WINDOW 65536u   /* bytes: `rows` grows by as much */

/* Keys of lextrace/process, in this order: X(key). Lists (argv) are joined by NUL, which is escaped like any byte. */
#define LX_PROCESS_KEYS(X)                                                                         \
	X(host)                                                                                    \
	X(system)      /* "Linux 6.1 x86_64" */                                                    \
	X(cpus)                                                                                    \
	X(argv)                                                                                    \
	X(cwd)                                                                                     \
	X(executable)                                                                              \
	X(python)      /* "3.12.1"; absent: no Python */                                           \
	X(program)     /* short name, as in lextrace-PROGRAM-N */                                  \
	X(c_calls)     /* "1": C calls were asked for */                                           \
	X(lextrace)    /* version of lextrace */

#endif
