/* Annotated regions (domain User), for the public C API and the Python face alike. */
#ifndef LX_CAPTURE_ANNOTATE_H
#define LX_CAPTURE_ANNOTATE_H

#include "capture/meter.h"

/*
 * The lexgion word of a region's name ("IO/read_loop"), 0 where there is no session, and LX_PLAN_* of its calls. Good until
 * lx_generation changes.
 */
LX_API uint32_t lx_region_look(const char *name, size_t size, uint32_t *plan);

/* The same with all that may be known of it; `category_size` bytes of the name are its category, 0: see format.h. */
struct lx_region_place {
	const char *name, *file; /* file "": not known */
	size_t name_size, file_size, category_size;
	uint32_t line;
	enum lx_comp comp;
};
LX_API uint32_t lx_region_define(const struct lx_region_place *place, uint32_t *plan);

/* A region opens or closes on the calling thread. `key` tells it from others open at the time. */
LX_API void lx_region_begin(const void *key, uint32_t word, uint32_t plan);
/* `unwinding`: by an exception. */
LX_API void lx_region_end(const void *key, uint32_t plan, bool unwinding);

/* The same where others that were opened later may go on: `with` statements of coroutines that take turns. */
LX_API void lx_region_leave_with(const void *key, uint32_t plan, bool unwinding);

/* The calling thread with its guard set, what waits looked after; NULL: leave the event out. */
LX_API struct lx_thread *lx_region_thread(void);

/*
 * One run of a generator or coroutine: a region that comes in slices. What is open inside it waits and goes on with it.
 * Zeroed at first; its address is the key of its call, and stays. Begin, then suspend and resume in turns, then end, each
 * on whatever thread it happens.
 */
struct lx_run {
	uint64_t number;        /* in the trace; 0: it has not begun */
	uint32_t generation;    /* lx_generation at its last suspension */
	uint32_t session;       /* lx_session_generation at its begin */
	uint16_t kind, marks;   /* of its call, while it waits */
	bool open;              /* its call is on the thread's stack */
	bool recorded;          /* it was not left out by the rules */
};
LX_API void lx_run_begin(struct lx_run *run, uint32_t word, uint32_t plan);
LX_API void lx_run_suspend(struct lx_run *run);
LX_API void lx_run_resume(struct lx_run *run, uint32_t word, uint32_t plan);
LX_API void lx_run_end(struct lx_run *run, uint32_t plan, bool unwinding);

/* ---- Arguments, moments, counters, metadata: capture/annotate_value.c ---- */

enum lx_arg_kind { LX_ARG_INT, LX_ARG_FLOAT, LX_ARG_TEXT };

struct lx_arg_value {
	enum lx_arg_kind kind;
	enum lx_text_form form; /* of TEXT */
	int64_t integer;
	double real;
	const char *text;       /* size bytes */
	size_t size;
};

struct lx_argument {
	uint32_t key;           /* of lx_key_look() */
	struct lx_arg_value value;
};

/* The word of an argument's or metadata entry's name; 0 where there is no session. Good until the session ends. */
LX_API uint32_t lx_key_look(const char *name, size_t size);

/* Whether an argument given now finds a region of the calling thread that is recorded. */
LX_API bool lx_argument_wanted(void);
/* Adds an argument to the innermost region open on the calling thread; nothing where that is not recorded. */
LX_API void lx_argument_add(uint32_t key, const struct lx_arg_value *value);

/* A whole span, told of afterwards: `begin` in ns since the epoch, `duration` in ns. */
LX_API void lx_span_add(uint32_t word, uint32_t plan, int64_t begin, uint64_t duration, const struct lx_argument *arguments,
			size_t count);
/* A moment. */
LX_API void lx_point_add(uint32_t word, uint32_t plan, const struct lx_argument *arguments, size_t count);
LX_API void lx_counter_add(uint32_t word, uint32_t plan, double value);
/* What holds for the whole process: the last value of a key counts. */
LX_API void lx_metadata_add(uint32_t key, const struct lx_arg_value *value);

#endif
