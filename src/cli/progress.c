#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct {
	const struct lx_pass *volatile pass; /* NULL: none is shown */
	uint64_t words;                      /* of all its packets */
	uint32_t files;
	struct timespec start;
	volatile sig_atomic_t shown;
	struct sigaction before;
} progress;

static uint64_t words_of(const struct lx_stream *stream)
{
	uint64_t words = 0;

	for (size_t i = 0; i < stream->packet_count; i++)
		words += stream->packets[i].words;
	return words;
}

/* Number of the file in which the first `read` words end: a pass takes the streams one after the other. */
static uint32_t file_at(const struct lx_pass *pass, uint64_t read)
{
	uint64_t words = 0;
	uint32_t file = 0;

	for (size_t i = 0; i < pass->trace->process_count; i++) {
		const struct lx_process *process = &pass->trace->processes[i];

		if (!lx_pass_has_process(pass, process))
			continue;
		for (size_t s = 0; s < process->stream_count && words < read; s++, file++)
			words += words_of(&process->streams[s]);
	}
	return file;
}

/* Runs between two instructions of the pass: reads its counters, allocates nothing. */
static void show(int signal_number)
{
	const struct lx_pass *pass = progress.pass;
	uint64_t words = 0, ms, rate;
	struct timespec now;
	char line[128];
	int size;

	(void)signal_number;
	if (!pass)
		return;
	for (size_t i = 0; i < pass->trace->process_count; i++)
		words += pass->totals[i].words;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (uint64_t)((now.tv_sec - progress.start.tv_sec) * 1000 + (now.tv_nsec - progress.start.tv_nsec) / 1000000);
	if (!words || !ms || words > progress.words)
		return;
	rate = words / ms; /* thousands a second; nearly every event is one word */
	size = snprintf(line, sizeof(line), "\rreading %u of %u files  %u %%  %u.%u M events/s  %u s left\033[K",
			file_at(pass, words), progress.files, (unsigned)(words * 100 / progress.words),
			(unsigned)(rate / 1000), (unsigned)(rate / 100 % 10),
			(unsigned)((progress.words - words) / (rate ? rate : 1) / 1000));
	progress.shown = write(STDERR_FILENO, line, (size_t)size) > 0;
}

void lx_progress_begin(const struct lx_pass *pass)
{
	const struct itimerval timer = { { 0, 200000 }, { 0, 500000 } };
	const struct sigaction action = { .sa_handler = show, .sa_flags = SA_RESTART };
	const char *term = getenv("TERM");

	if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
		return;
	progress.words = 0;
	progress.files = 0;
	for (size_t i = 0; i < pass->trace->process_count; i++) {
		const struct lx_process *process = &pass->trace->processes[i];

		for (size_t s = 0; lx_pass_has_process(pass, process) && s < process->stream_count; s++, progress.files++)
			progress.words += words_of(&process->streams[s]);
	}
	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	progress.pass = pass;
	sigaction(SIGALRM, &action, &progress.before);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void lx_progress_end(void)
{
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	if (!progress.pass)
		return;
	setitimer(ITIMER_REAL, &none, NULL);
	progress.pass = NULL;
	sigaction(SIGALRM, &progress.before, NULL);
	if (progress.shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		return;
	progress.shown = 0;
}
