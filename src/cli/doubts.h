/* Losses, repairs and damage in words, for every command that reads a run. */
#ifndef LX_CLI_DOUBTS_H
#define LX_CLI_DOUBTS_H

#include "view/health.h"

#define LX_DOUBTS_SIZE 1024

/* "LOST 98 events (disk full at 2.81 s)", of several causes each with its count; "" if none was lost. Returns out. */
char *lx_doubts_lost(char *out, size_t size, const struct lx_health *health, const struct lx_trace *trace);

/* "Repaired: 3 calls without an end closed with the caller; 1 end without a begin left out"; "" if nothing was. Returns out. */
char *lx_doubts_repaired(char *out, size_t size, const struct lx_health *health);

#define LX_NO_EXIT "ended without an exit (os._exit, exec or a signal)"

/*
 * What ended early but is whole: "3 calls were open at the end: process 4127 ended without an exit (…)", "1 process began
 * and recorded nothing"; "" if nothing did. Returns out.
 */
char *lx_doubts_open(char *out, size_t size, const struct lx_health *health);

/* A message if streams end inside a packet. */
void lx_say_torn(const struct lx_health *health, const struct lx_trace *trace);

/* "lextrace: no function matches PATTERN; near: …". Returns LX_STATUS_FAILED. */
int lx_say_no_match(struct lx_functions *functions, const char *pattern);

/* ns from the run's start. */
static inline double lx_since_start(const struct lx_trace *trace, uint64_t real)
{
	return real > trace->first ? (double)(real - trace->first) : 0;
}

#endif
