/*
 * DFTracer's .pfw files to a trace in memory, as if lextrace had recorded it: what the parts of that reader share.
 *
 *     pfw_input   files to text: gzip or not, buffers of whole lines
 *     pfw_scan    a line to its members
 *     pfw_line    what a record means: spans, moments, names, threads
 *     pfw_names   names to lexgions, hashes to the strings that they stand for
 *     pfw_track   spans of one thread, kept small until the files are read
 *     pfw_order, pfw_build   tracks to streams of native events
 *     pfw_open    the whole
 */
#ifndef LX_TRANSFORM_PFW_H
#define LX_TRANSFORM_PFW_H

#include "transform/pfw_scan.h"
#include "transform/store.h"
#include "transform/trace.h"

#define LX_PFW_NONE UINT32_MAX

/* Memory that grows, of whole words; freed by its owner. All zeros is an empty one. */
struct lx_pfw_words {
	uint64_t *at;
	size_t count, room;
};

/* Room for `count` more words, not yet counted; NULL without memory. */
uint64_t *lx_pfw_room(struct lx_pfw_words *words, size_t count);

/* ---- Names ---- */
struct lx_pfw_hash {
	const char *hash;   /* as it stands in the files */
	const char *name;   /* NULL: no record said what it stands for */
	uint32_t hash_size, name_size;
	uint64_t mixed;
};

/* What tells one lexgion from another. Texts as they stand in the file, 8 bytes behind each readable unless it is empty. */
struct lx_pfw_place {
	struct lx_pfw_text name, cat, file;
	uint32_t line;
	uint32_t comp;      /* enum lx_comp */
	uint32_t domain;    /* enum lx_domain */
	uint32_t flags;     /* LX_LEXGION_*, without category and comp */
};

struct lx_pfw_names {
	struct lx_store *store;
	struct lx_lexgion *lexgions; /* by id; 0 is the unknown one */
	struct lx_pfw_entry *entries; /* by id */
	size_t count, room;
	uint32_t *table;    /* ids by hash, a power of two, 0: free */
	size_t table_room;
	uint32_t keys[32];  /* ids of the last names of arguments, by size */
	struct lx_pfw_hash *hashes;
	size_t hash_count, hash_room;
	uint32_t *hash_table; /* index + 1 */
	size_t hash_table_room;
	char *text;         /* block that texts are put into */
	size_t text_left;
};

int lx_pfw_names_init(struct lx_pfw_names *names, struct lx_store *store);
void lx_pfw_names_free(struct lx_pfw_names *names); /* what the lexgions need stays in the store */

/* The id of a place, defined when it is met first; 0 when there are too many. -ENOMEM as a negative number. */
int64_t lx_pfw_lexgion(struct lx_pfw_names *names, const struct lx_pfw_place *place);

/* The lexgion that names an argument. -ENOMEM as a negative number. */
int64_t lx_pfw_key(struct lx_pfw_names *names, const struct lx_pfw_text *key);

/* The index of a hash, new or known, or -ENOMEM. 8 bytes behind it are readable. */
int64_t lx_pfw_hash(struct lx_pfw_names *names, const struct lx_pfw_text *hash);

/* A copy that lives as long as the trace, decoded, a NUL behind it; NULL without memory. */
char *lx_pfw_keep(struct lx_pfw_names *names, const struct lx_pfw_text *text, uint32_t *size);

/* ---- Tracks: what one thread did ---- */

/*
 * A span or moment until the streams are made. Times are ns from the track's base, which lies in the middle of what 56 bits
 * hold. What is later in the file has the larger (words, after), words being where its extra words begin, or would begin.
 */
struct lx_pfw_span {
	uint64_t begin : 56, after_low : 8;
	uint64_t duration : 56, after_high : 7, extra : 1;
	uint64_t words : 40, lexgion : 24;
};

#define LX_PFW_TIME_MIDDLE (1ull << 55)

/* The first extra word: how many follow (32 bits), what it is (8 bits), enum lx_pfw_ended. */
enum lx_pfw_ended { LX_PFW_RETURNED, LX_PFW_UNWOUND, LX_PFW_YIELDED };

#define LX_PFW_EXTRA(count, kind, ended) ((uint64_t)(count) | (uint64_t)(kind) << 32 | (uint64_t)(ended) << 40)
#define LX_PFW_EXTRA_COUNT(word) ((uint32_t)(word))
#define LX_PFW_EXTRA_KIND(word) ((uint32_t)((word) >> 32) & 255u) /* 0: a span, else LX_EV_POINT, COUNTER or METADATA */
#define LX_PFW_EXTRA_ENDED(word) ((enum lx_pfw_ended)((word) >> 40 & 3u))

/* An argument whose value is a hash: stands as an ARG_* event of this kind until all hashes are known; then one word, its index. */
#define LX_PFW_EV_HASH 30u

struct lx_pfw_track {
	uint64_t tid;
	uint32_t process, next;     /* of the process; LX_PFW_NONE: the last one */
	uint32_t name_size;
	const char *name;           /* NULL: no record named it */
	struct lx_pfw_span *spans;
	size_t count, room;
	struct lx_pfw_words words;
	struct lx_pfw_words metadata; /* METADATA events, times left open */
	uint64_t base;              /* realtime ns of LX_PFW_TIME_MIDDLE */
	uint64_t first, last;       /* realtime ns */
	uint32_t after;             /* spans that begin their words at the same place */
	bool unsorted;
	uint32_t number;            /* thread number of its first lane */
};

/* Adds a span; `words` (may be 0) of its extra words were put behind track->words by the caller, count included. */
int lx_pfw_add(struct lx_pfw_track *track, uint64_t begin, uint64_t duration, uint32_t lexgion, size_t words);

/* By begin, longest first, then that which was written later. */
void lx_pfw_sort(struct lx_pfw_track *track);

static inline uint64_t lx_pfw_order(const struct lx_pfw_span *span)
{
	return (uint64_t)span->words << 15 | (uint64_t)span->after_high << 8 | span->after_low;
}

/* ---- The whole ---- */
struct lx_pfw_process {
	uint64_t pid;
	uint32_t host;              /* index of its hash, or LX_PFW_NONE */
	uint32_t tracks;            /* the first one, or LX_PFW_NONE */
	uint32_t parent;
	uint32_t command, executable, folder; /* indexes of hashes, or LX_PFW_NONE */
	const char *file;           /* where it was met first */
	bool started, ended;
	uint64_t lost[LX_LOSS_COUNT]; /* as our own files tell */
	uint64_t first, last;       /* realtime ns; first > last: none known */
	struct lx_row *rows;        /* calls that stand in aggregated records, `thread` being the track */
	size_t row_count, row_room;
	uint32_t *row_table;        /* index + 1 by track and lexgion */
	size_t row_table_room;
};

struct lx_pfw {
	struct lx_store *store;
	struct lx_pfw_names names;
	struct lx_pfw_process *processes;
	size_t process_count, process_room;
	struct lx_pfw_track *tracks;
	size_t track_count, track_room;
	uint32_t *table;            /* index + 1 of tracks, by host, pid and tid */
	size_t table_room;
	struct lx_pfw_line line;
	struct lx_pfw_words scratch;
	/* Of the file that is read. */
	const char *path;
	uint64_t line_number;
	uint64_t unit;              /* ns of one unit of its times */
	uint32_t host;              /* of the last record that named one */
	char host_text[32];         /* its hash, for a quick look */
	size_t host_size;
	/* Over all files. */
	uint64_t records;
	uint64_t wrong, other;      /* lines that are no record; records of a kind that is not known */
	const char *wrong_path, *wrong_why, *other_path;
	uint64_t wrong_line, wrong_at, other_line;
	uint64_t aggregated;        /* records that stand for several calls */
	uint64_t apart;             /* spans for which no lane was left */
	bool file_torn;             /* this file */
	uint32_t torn;              /* files that end too early; the first one: */
	const char *torn_path, *torn_why;
	uint64_t torn_line;
};

/* Text of whole lines (the last one may be cut off), `size` bytes, LX_PFW_PADDING newlines behind them. 0 or -ENOMEM. */
int lx_pfw_take(struct lx_pfw *pfw, const char *text, size_t size);

/* What pfw->line says. 0 or -ENOMEM. */
int lx_pfw_record(struct lx_pfw *pfw);

/* Parts of it. A complete record, or with `kind` LX_EV_POINT a moment. */
int lx_pfw_take_span(struct lx_pfw *pfw, uint64_t pid, uint64_t tid, uint32_t kind);

/* A record of counters: one COUNTER for each number, "CATEGORY/NAME.KEY". */
int lx_pfw_take_counter(struct lx_pfw *pfw, uint64_t pid, uint64_t tid);

/* A record that stands for several calls of one name. */
int lx_pfw_take_sum(struct lx_pfw *pfw, uint64_t pid, uint64_t tid);

#define LX_PFW_GIVEN(line, member) ((line)->given & 1u << LX_PFW_##member)
#define LX_PFW_IS(text, literal) ((text).size == sizeof(literal) - 1 && memcmp((text).at, literal, sizeof(literal) - 1) == 0)

/* The last argument of that name, or NULL. */
const struct lx_pfw_value *lx_pfw_find(const struct lx_pfw_line *line, const char *key);

/* The line is no record that can be read. */
void lx_pfw_wrong(struct lx_pfw *pfw, const char *why, size_t at);

/*
 * Puts an event of `value` behind words->count + *used, which grows: ARG_INT, ARG_FLOAT or ARG_TEXT as fits, METADATA if that is
 * `kind` (else 0). Its time is left open. 0 or -ENOMEM.
 */
int lx_pfw_put_value(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, const struct lx_pfw_value *value);

/* Likewise a text of any bytes. */
int lx_pfw_put_text(struct lx_pfw_words *words, size_t *used, uint32_t kind, uint32_t key, uint32_t form, const char *text,
		    size_t size);

/* The track of a thread, made when it is met first; NULL without memory. */
struct lx_pfw_track *lx_pfw_track(struct lx_pfw *pfw, uint64_t pid, uint64_t tid);

/* What comes is the text of another file; the path is kept. */
void lx_pfw_new_file(struct lx_pfw *pfw, const char *path);

/* The file that is read ends too early, after the lines so far. */
void lx_pfw_torn(struct lx_pfw *pfw, const char *why);

/* Adds calls that were counted only. */
int lx_pfw_count(struct lx_pfw *pfw, const struct lx_pfw_track *track, uint32_t lexgion, uint64_t calls, uint64_t ns);

/* Makes the streams and threads of one process, and frees what its tracks hold. 0 or -ENOMEM. */
int lx_pfw_build(struct lx_pfw *pfw, struct lx_pfw_process *from, struct lx_process *process);

/* Reads a file to its end or to where it is torn. 0, -ENOMEM, or a negative errno of the system. */
int lx_pfw_read(struct lx_pfw *pfw, const char *path);

#endif
