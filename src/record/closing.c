#include "record/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The stderr of the start: a program that closes it may have a file of its own at number 2 in the end. */
static struct stat stderr_at_start;
static bool stderr_known;

struct totals {
	uint64_t events, bytes, lost;
	unsigned processes, killed, running;
	enum lx_loss cause;     /* of the first loss */
	double lost_after;      /* seconds from its process's start */
};

void lx_closing_remember_stderr(void)
{
	stderr_known = fstat(2, &stderr_at_start) == 0;
}

static void add_losses(struct totals *totals, const struct lx_state *state)
{
	for (int i = 0; i < LX_LOSS_COUNT; i++) {
		if (state->lost[i] && !totals->lost) {
			totals->cause = (enum lx_loss)i;
			totals->lost_after = state->lost_at[i] > state->start.ticks && state->clock_frequency
						     ? (double)(state->lost_at[i] - state->start.ticks) /
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

/* 12288310 as "12,288,310". */
static const char *grouped(char *out, size_t size, uint64_t number)
{
	char digits[32];
	size_t count = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number), used = 0;

	for (size_t i = 0; i < count && used + 2 < size; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

static void put_size(char *out, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 999.5 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(out, size, unit == 0 || value >= 99.95 ? "%.0f %s" : value >= 9.995 ? "%.1f %s" : "%.2f %s", value,
		 units[unit]);
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
	char lost[32];

	if (totals->lost) {
		static const char *const texts[] = {
#define LX_X(number, NAME, field, text) text,
			LX_LOSSES(LX_X)
#undef LX_X
		};

		return (size_t)snprintf(line, size, "LOST %s (%s at %.2f s)", grouped(lost, sizeof lost, totals->lost),
					texts[totals->cause], totals->lost_after);
	}
	if (totals->killed)
		return (size_t)snprintf(line, size, "none lost (%u ended without an exit, read as they are)", totals->killed);
	return (size_t)snprintf(line, size, "none lost");
}

void lx_closing_line(void)
{
	struct stat now;
	struct totals totals = {.processes = 0};
	char line[LX_PATH_SIZE + 512], events[32], bytes[32];
	const struct lx_state *state = lx_session.state;
	double seconds = (double)(state->end.monotonic - state->start.monotonic) / 1e9;

	if (!stderr_known || fstat(2, &now) != 0 || now.st_dev != stderr_at_start.st_dev ||
	    now.st_ino != stderr_at_start.st_ino)
		return;
	if (!add_run(&totals)) { /* the folder is gone: what this process knows is all there is */
		totals.processes = 1;
		add_losses(&totals, state);
	}
	put_size(bytes, sizeof bytes, totals.bytes);
	size_t used = (size_t)snprintf(line, sizeof line, "lextrace: %s events of %u process%s in %.2f s, %s, ",
				       grouped(events, sizeof events, totals.events), totals.processes,
				       totals.processes == 1 ? "" : "es", seconds, bytes);

	used += put_fate(line + used, sizeof line - used, &totals);
	if (totals.running)
		used += (size_t)snprintf(line + used, sizeof line - used, " (%u still running)", totals.running);
	used += (size_t)snprintf(line + used, sizeof line - used, ": lextrace report %s\n", short_path(lx_session.run));
	if (used > sizeof line - 1)
		used = sizeof line - 1;
	if (write(2, line, used) < 0)
		return; /* nobody listens */
}
