/*
 * lextrace for C and C++ programs: named regions, and recording switched on and off.
 *
 *     static lextrace_region solve = LEXTRACE_REGION("Compute/solve");
 *     lextrace_begin(&solve);
 *     ...
 *     lextrace_end(&solve);
 *
 * Link with -llextrace. Nothing here raises, prints or ends the program. Without a session (see `lextrace run` and
 * lextrace_start) begin and end return at once. Any thread may call any function.
 */
#ifndef LEXTRACE_LEXTRACE_H
#define LEXTRACE_LEXTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in the program, one object for each, usually static. The name must live as long as it; UTF-8. */
typedef struct lextrace_region {
	const char *name;
	uint32_t word, generation, plan; /* the library's own */
} lextrace_region;

#ifdef __cplusplus
#define LEXTRACE_REGION(name) {name, 0, 0, 0}
#else
#define LEXTRACE_REGION(text) {.name = (text)}
#endif

/* Region begins and ends on the calling thread; the same region may be open several times. */
__attribute__((visibility("default"))) void lextrace_begin(lextrace_region *region);
__attribute__((visibility("default"))) void lextrace_end(lextrace_region *region);

/*
 * Values from the section [Knob] of the configuration; `otherwise` where there is none of that name, or it is of another
 * kind (an integer is a double as well, everything is a string). Changed by a reload. A string stays valid.
 */
__attribute__((visibility("default"))) int64_t lextrace_knob_int(const char *name, int64_t otherwise);
__attribute__((visibility("default"))) double lextrace_knob_double(const char *name, double otherwise);
__attribute__((visibility("default"))) const char *lextrace_knob_string(const char *name, const char *otherwise);

/*
 * Starts recording into the run folder `run` (made if it is missing; NULL: $LEXTRACE_DIR, as `lextrace run` sets it).
 * Returns 0; -EBUSY recording already; -EINVAL no folder named; other negative errno: the folder can't be made or written.
 */
__attribute__((visibility("default"))) int lextrace_start(const char *run);

/* Ends recording and completes the trace. Regions open now have no end in it. */
__attribute__((visibility("default"))) void lextrace_stop(void);

#ifdef __cplusplus
}
#endif

#endif
