/*
 * A run to a file of another tool. One format is one export_FORMAT.c with a table of operations; lx_export_run() leads a
 * run's spans through it. Memory grows with the functions (and the distinct call paths, where a format adds up), never
 * with the events.
 */
#ifndef LX_VIEW_EXPORT_H
#define LX_VIEW_EXPORT_H

#include "base/json.h"
#include "view/arguments.h"
#include "view/export_out.h"
#include "view/modes.h"
#include "view/pass.h"

struct lx_export;
struct lx_pfw_options;

struct lx_export_format {
	const char *name;           /* of --to */
	const char *extension;      /* of the file that is made by default, with its dot */
	const char *extensions;     /* blank-separated endings that mean this format */
	const char *summary;        /* what opens it */
	bool binary;                /* nothing for a terminal */
	bool sums;                  /* takes what MONITORING counted, too */
	size_t state_size;          /* of export->state, zeroed before start() */

	/* Each may be NULL. Those that return int give 0 or -ENOMEM; what is written goes to export->out. */
	int (*start)(struct lx_export *export);
	int (*process)(struct lx_export *export);     /* export->process is new; its spans come next */
	void (*thread)(struct lx_export *export);     /* export->thread is new; its spans come next */
	void (*enter)(struct lx_export *export, struct lx_span *span);
	void (*leave)(struct lx_export *export, struct lx_span *span);
	void (*told)(struct lx_export *export, const struct lx_told *told);
	void (*run_end)(struct lx_export *export, const struct lx_run *run); /* see spans.h; export->thread may be another's */
	int (*process_end)(struct lx_export *export); /* the last thread's spans are over, too */
	int (*finish)(struct lx_export *export);      /* the rest of the file */
	void (*release)(struct lx_export *export);    /* frees what state holds; always called after start() */
};

/* One export under way. */
struct lx_export {
	struct lx_pass *pass;       /* the run and the filters; set before */
	const struct lx_export_format *format; /* set before */
	struct lx_out *out;         /* set before */
	const struct lx_pfw_options *pfw; /* set before for --to pfw; NULL: the defaults */

	/* For the format. */
	void *state;
	const struct lx_process *process;
	const struct lx_thread_info *thread; /* NULL: none yet in this process */
	uint32_t process_index;     /* counts the exported processes from 0 */
	uint32_t pid, tid;          /* to be shown: see lx_export_run() */
	uint64_t origin;            /* realtime ns of the run's start */
	struct lx_mode_mark *marks; /* of the process: when its domains stopped recording */
	size_t mark_count;
	int error;                  /* -ENOMEM met in enter(), leave() or thread() */

	/* Results. */
	uint64_t slices;
	uint32_t processes, threads; /* that had slices */
	uint64_t process_slices;    /* slices before the current process */
};

extern const struct lx_export_format lx_export_perfetto, lx_export_chrome, lx_export_pfw, lx_export_pfw1, lx_export_speedscope,
	lx_export_folded, lx_export_pstats;

/* All formats, ended by NULL; the first is the default. */
extern const struct lx_export_format *const lx_export_formats[];

/* NULL: no such format. */
const struct lx_export_format *lx_export_format_named(const char *name);

/* The format that a file's name (".gz" aside) stands for, or NULL. */
const struct lx_export_format *lx_export_format_of_file(const char *path);

/*
 * Writes the run to export->out, which the caller opens and commits. What is not set before is zero. Returns 0 or
 * -ENOMEM; failed writes are in out->error.
 *
 * pid and tid are the kernel's. A pid that an earlier process of the run had too (exec, another host) is shown with
 * multiples of 2^22 added, which no kernel gives out, so that viewers do not mix the two.
 */
int lx_export_run(struct lx_export *export);

/* Realtime ns since the run's start. */
static inline uint64_t lx_export_ns(const struct lx_export *export, uint64_t ticks)
{
	uint64_t real = lx_real_ns(export->process, ticks);

	return real > export->origin ? real - export->origin : 0;
}

/* The name of the current process's program. */
const char *lx_export_program(const struct lx_export *export);

/* "python", "c", "import", "user", … */
const char *lx_export_category(const struct lx_lexgion *lexgion);

/* What it is, as lines of an export show it: a region's category is its own, "IO" and "read" of "IO/read". Any bytes. */
struct lx_export_label {
	const char *category, *name, *comp; /* comp: "io", "mem", …; NULL: none was given */
	size_t category_size, name_size;
};
void lx_export_label(const struct lx_lexgion *lexgion, struct lx_export_label *label);

/* Writes `"KEY":value` for each argument; numbers as they are, NaN and infinities as strings. */
void lx_export_arguments(struct lx_json *json, const struct lx_process *process, const struct lx_arguments *arguments);
void lx_export_argument(struct lx_json *json, const struct lx_argument *argument);

/* Why a slice ended; NULL for a return, which needs no word. */
const char *lx_export_ended(enum lx_ended ended);

/* "lost 1204 events: disk full 1200, no memory 4"; returns its length, 0 when nothing was lost. */
size_t lx_export_losses(const struct lx_process *process, char *text, size_t size);

/*
 * What happened to the current process as a whole, in order of time: its losses, and where its domains stopped recording.
 * `text` is one line of `size` bytes, "lost 98 events: disk full 98" or "Python STANDBY". Returns how many there are; `put`
 * may be NULL.
 */
size_t lx_export_moments(struct lx_export *export,
			 void (*put)(struct lx_export *export, uint64_t ticks, const char *text, size_t size));

#endif
