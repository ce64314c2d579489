/* The trace clock: the invariant TSC where the kernel trusts it, else CLOCK_MONOTONIC in nanoseconds. */
#ifndef LX_BASE_CLOCK_H
#define LX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "lextrace/format.h"

#if defined(__x86_64__)
#include <x86intrin.h> /* __rdtsc */
#endif

/* Set by lx_clock_init; read by lx_ticks. */
extern int lx_clock_is_tsc;

/* Chooses the clock of this process. Call before lx_ticks; later calls change nothing. */
void lx_clock_init(void);

/* Nanoseconds of one system clock. */
static inline uint64_t lx_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Now, in ticks of the trace clock. Any thread; no system call. */
static inline uint64_t lx_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(lx_clock_is_tsc, 1))
		return __rdtsc();
#endif
	return lx_clock_ns(CLOCK_MONOTONIC);
}

/* One moment on all three clocks: the tightest of a few tries, so that ticks and nanoseconds belong together. */
void lx_clock_sample(struct lx_clock_sample *sample);

/*
 * Ticks a second: measured between the samples when they are far enough apart, else by waiting a fraction of a
 * ms; 1e9 where `from` lies in the future, which only a damaged sample does.
 */
uint64_t lx_clock_frequency(const struct lx_clock_sample *from, const struct lx_clock_sample *to);

#endif
