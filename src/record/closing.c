#include "record/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers.h"

/* The stderr of the start: a program that closes it may have a file of its own at number 2 in the end. */
static struct stat stderr_at_start;
static bool stderr_known;

struct totals {
	uint64_t events, bytes, lost;
	unsigned processes, killed, running;
	enum lx_loss cause;     /* of the first loss */
	double lost_after;      /* ns from its process's start */
};

void lx_closing_remember_stderr(void)
{
	stderr_known = fstat(2, &stderr_at_start) == 0;
}

void lx_write_quietly(int fd, const char *text, size_t size)
{
	static const struct timespec at_once = {0, 0};
	sigset_t raised, before, pending;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &raised, &before);
	if (write(fd, text, size) < 0)
		for (int signal = sigtimedwait(&raised, NULL, &at_once); signal > 0;
		     signal = sigtimedwait(&raised, NULL, &at_once))
			if (sigismember(&pending, signal)) { /* it was the program's before: it stays */
				raise(signal);
				break;
			}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void add_losses(struct totals *totals, const struct lx_state *state)
{
	for (int i = 0; i < LX_LOSS_COUNT; i++) {
		if (state->lost[i] && !totals->lost) {
			totals->cause = (enum lx_loss)i;
			totals->lost_after = state->lost_at[i] > state->start.ticks && state->clock_frequency
						     ? (double)(state->lost_at[i] - state->start.ticks) * 1e9 /
							       (double)state->clock_frequency
						     : 0;
		}
		totals->lost += state->lost[i];
	}
}

/* The events of a killed process that are in open packets. */
static uint64_t open_events(const char *folder)
{
	uint64_t events = 0;

	for (unsigned n = 0;; n++) {
		char path[LX_PATH_SIZE + 64];
		struct lx_packet packet;

		snprintf(path, sizeof path, "%s/lextrace/packet-%u", folder, n);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return events;
		if (read(fd, &packet, sizeof packet) == sizeof packet && packet.events == 0 &&
		    packet.content_size / 8 >= sizeof packet)
			events += (packet.content_size / 8 - sizeof packet) / LX_EVENT_SIZE;
		close(fd);
	}
}

static void add_process(struct totals *totals, const char *folder)
{
	char path[LX_PATH_SIZE + 64];
	struct lx_state state;

	snprintf(path, sizeof path, "%s/lextrace/state", folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, &state, sizeof state) == sizeof state && state.magic == LX_STATE_MAGIC) {
		totals->processes++;
		totals->events += state.events;
		totals->bytes += state.bytes;
		add_losses(totals, &state);
		if (!state.ended) {
			totals->events += open_events(folder);
			if (kill((pid_t)state.pid, 0) == 0 || errno == EPERM)
				totals->running++;
			else
				totals->killed++;
		}
	}
	close(fd);
}

static bool add_run(struct totals *totals)
{
	DIR *run = opendir(lx_session.run);

	if (!run)
		return false;
	for (struct dirent *entry; (entry = readdir(run));) {
		char folder[LX_PATH_SIZE + 32];

		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(folder, sizeof folder, "%s/%s", lx_session.run, entry->d_name) < sizeof folder)
			add_process(totals, folder);
	}
	closedir(run);
	return true;
}

/* The run folder as the user would type it: relative where it is below the current folder. */
static const char *short_path(const char *path)
{
	static char cwd[LX_PATH_SIZE];
	size_t size;

	if (!getcwd(cwd, sizeof cwd))
		return path;
	size = strlen(cwd);
	return strncmp(path, cwd, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static size_t put_fate(char *line, size_t size, const struct totals *totals)
{
	static const char *const texts[] = {
#define LX_X(number, NAME, field, text) text,
		LX_LOSSES(LX_X)
#undef LX_X
	};
	char lost[LX_NUMBER_SIZE], moment[LX_NUMBER_SIZE];

	if (totals->lost)
		return (size_t)snprintf(line, size, "LOST %s (%s at %s)", lx_format_count(lost, sizeof lost, totals->lost),
					texts[totals->cause], lx_format_seconds(moment, sizeof moment, totals->lost_after));
	if (totals->killed)
		return (size_t)snprintf(line, size, "none lost (%u killed, read as %s)", totals->killed,
					totals->killed == 1 ? "it is" : "they are");
	return (size_t)snprintf(line, size, "none lost");
}

void lx_closing_line(void)
{
	struct stat now;
	struct totals totals = {.processes = 0};
	char line[LX_PATH_SIZE + 512], events[LX_NUMBER_SIZE], processes[LX_NUMBER_SIZE], time[LX_NUMBER_SIZE],
		bytes[LX_NUMBER_SIZE];
	const struct lx_state *state = lx_session.state;

	if (!stderr_known || fstat(2, &now) != 0 || now.st_dev != stderr_at_start.st_dev ||
	    now.st_ino != stderr_at_start.st_ino)
		return;
	if (!add_run(&totals)) { /* the folder is gone: what this process knows is all there is */
		totals.processes = 1;
		add_losses(&totals, state);
	}
	lx_format_seconds(time, sizeof time, (double)(state->end.monotonic - state->start.monotonic));
	size_t used = (size_t)snprintf(line, sizeof line, "lextrace: %s event%s of %s in %s, %s, ",
				       lx_format_count(events, sizeof events, totals.events), totals.events == 1 ? "" : "s",
				       lx_format_plural(processes, sizeof processes, totals.processes, "process"), time,
				       lx_format_bytes(bytes, sizeof bytes, totals.bytes));

	used += put_fate(line + used, sizeof line - used, &totals);
	if (totals.running)
		used += (size_t)snprintf(line + used, sizeof line - used, " (%u still running)", totals.running);
	used += (size_t)snprintf(line + used, sizeof line - used, ": lextrace report %s\n", short_path(lx_session.run));
	if (used > sizeof line - 1)
		used = sizeof line - 1;
	lx_write_quietly(2, line, used);
}
