#include "record/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers.h"

/* The stderr of the start: a program that closes it may have a file of its own at number 2 in the end. */
static struct stat stderr_at_start;
static bool stderr_known;

struct totals {
	uint64_t events, bytes, lost, counted;
	unsigned processes, no_exit, running;
	bool own;               /* this process is among them */
	enum lx_loss cause;     /* of the first loss */
	double lost_after;      /* ns from its process's start */
};

void lx_closing_remember_stderr(void)
{
	stderr_known = fstat(2, &stderr_at_start) == 0;
}

/* write(2) that raises neither SIGPIPE nor SIGXFSZ in the program. */
static void write_quietly(int fd, const char *text, size_t size)
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

static uint64_t count_events(const uint64_t *words, size_t count)
{
	uint64_t events = 0;

	for (size_t at = 0; at < count; events++)
		at += (words[at] & 31) == LX_EV_EXTENDED ? 2 : 1;
	return events;
}

/* The events in open packets: of a process that had no exit, or whose last packets could not be appended. */
static uint64_t open_events(const char *folder)
{
	static union { /* the stack may be a small one */
		struct lx_packet packet;
		uint64_t words[LX_PACKET_MAX / 8];
	} last;
	const size_t header = sizeof(last.packet) / 8;
	uint64_t events = 0;

	for (unsigned n = 0;; n++) {
		char path[LX_PATH_SIZE + 64];

		snprintf(path, sizeof(path), "%s/lextrace/packet-%u", folder, n);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return events;
		ssize_t size = read(fd, &last, sizeof(last));
		size_t words = last.packet.content_size / 64;

		if (size >= (ssize_t)sizeof(last.packet) && last.packet.events == 0 && words >= header &&
		    words <= (size_t)size / 8)
			events += count_events(last.words + header, words - header);
		close(fd);
	}
}

static void add_process(struct totals *totals, const char *folder)
{
	char path[LX_PATH_SIZE + 64];
	struct lx_state state;

	snprintf(path, sizeof(path), "%s/lextrace/state", folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, &state, sizeof(state)) == sizeof(state) && state.magic == LX_STATE_MAGIC) {
		totals->processes++;
		totals->events += state.events + open_events(folder);
		totals->bytes += state.bytes;
		totals->counted += state.counted;
		add_losses(totals, &state);
		if (memcmp(state.uuid, lx_session.state->uuid, sizeof(state.uuid)) == 0)
			totals->own = true;
		if (!state.ended) {
			if (kill((pid_t)state.pid, 0) == 0 || errno == EPERM)
				totals->running++;
			else
				totals->no_exit++;
		}
	}
	close(fd);
}

static void add_run(struct totals *totals)
{
	DIR *run = opendir(lx_session.run);

	for (struct dirent *entry; run && (entry = readdir(run));) {
		char folder[LX_PATH_SIZE + 32];

		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(folder, sizeof(folder), "%s/%s", lx_session.run, entry->d_name) < sizeof(folder))
			add_process(totals, folder);
	}
	if (run)
		closedir(run);
	if (!totals->own) { /* its folder is gone: what this process knows is all there is */
		totals->processes++;
		add_losses(totals, lx_session.state);
	}
}

/* The run folder as the user would type it: relative where it is below the current folder. */
static const char *short_path(const char *path)
{
	static char cwd[LX_PATH_SIZE];
	size_t size;

	if (!getcwd(cwd, sizeof(cwd)))
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
		return (size_t)snprintf(line, size, "LOST %s (%s at %s)", lx_format_count(lost, sizeof(lost), totals->lost),
					texts[totals->cause], lx_format_seconds(moment, sizeof(moment), totals->lost_after));
	if (totals->no_exit)
		return (size_t)snprintf(line, size, "none lost (%u ended without an exit, read as %s)", totals->no_exit,
					totals->no_exit == 1 ? "it is" : "they are");
	return (size_t)snprintf(line, size, "none lost");
}

/* Whether file 2 is what it was at the start. */
static bool stderr_is_there(void)
{
	struct stat now;

	return stderr_known && fstat(2, &now) == 0 && now.st_dev == stderr_at_start.st_dev &&
	       now.st_ino == stderr_at_start.st_ino;
}

void lx_say(const char *format, ...)
{
	char line[LX_PATH_SIZE + 1024];
	va_list arguments;

	if (!lx_session.speaks || !stderr_is_there())
		return;
	size_t size = (size_t)snprintf(line, sizeof(line), "lextrace: ");

	va_start(arguments, format);
	int length = vsnprintf(line + size, sizeof(line) - size - 1, format, arguments);

	va_end(arguments);
	if (length < 0)
		return;
	size += (size_t)length < sizeof(line) - size - 1 ? (size_t)length : sizeof(line) - size - 2;
	line[size++] = '\n';
	write_quietly(2, line, size);
}

/* " and 1,973 counted calls", or "" */
static const char *put_counted(char *out, size_t size, uint64_t counted)
{
	char number[LX_NUMBER_SIZE];

	out[0] = '\0';
	if (counted)
		snprintf(out, size, " and %s counted call%s", lx_format_count(number, sizeof(number), counted),
			 counted == 1 ? "" : "s");
	return out;
}

/* A configuration under which nothing was recorded: how to find out why. */
static bool put_nothing(char *line, size_t size, const struct totals *totals, const char *time)
{
	char processes[LX_NUMBER_SIZE];
	const char *config = lx_config_path();

	if (totals->events || totals->counted || totals->lost || !config)
		return false;
	snprintf(line, size, "lextrace: 0 events of %s in %s: no rule of %s records anything here; try: "
		 "lextrace config explain %s\n", lx_format_plural(processes, sizeof(processes), totals->processes, "process"),
		 time, short_path(config), short_path(config));
	return true;
}

void lx_closing_line(void)
{
	struct totals totals = {.processes = 0};
	char line[LX_PATH_SIZE + 512], events[LX_NUMBER_SIZE], processes[LX_NUMBER_SIZE], time[LX_NUMBER_SIZE],
		bytes[LX_NUMBER_SIZE], counted[LX_NUMBER_SIZE + 32];
	const struct lx_state *state = lx_session.state;

	if (!stderr_is_there())
		return;
	add_run(&totals);
	lx_format_seconds(time, sizeof(time), (double)(state->end.monotonic - state->start.monotonic));
	if (put_nothing(line, sizeof(line), &totals, time)) {
		write_quietly(2, line, strlen(line));
		return;
	}
	size_t used = (size_t)snprintf(line, sizeof(line), "lextrace: %s event%s%s of %s in %s, %s, ",
				       lx_format_count(events, sizeof(events), totals.events), totals.events == 1 ? "" : "s",
				       put_counted(counted, sizeof(counted), totals.counted),
				       lx_format_plural(processes, sizeof(processes), totals.processes, "process"), time,
				       lx_format_bytes(bytes, sizeof(bytes), totals.bytes));

	used += put_fate(line + used, sizeof(line) - used, &totals);
	if (totals.running)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " (%u still running)", totals.running);
	if (state->c_calls_off)
		used += (size_t)snprintf(line + used, sizeof(line) - used, ", C calls off");
	used += (size_t)snprintf(line + used, sizeof(line) - used, ": lextrace report %s\n", short_path(lx_session.run));
	if (used > sizeof(line) - 1)
		used = sizeof(line) - 1;
	write_quietly(2, line, used);
}
