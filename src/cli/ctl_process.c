/* Finding a traced process, and asking it something. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cmd_ctl.h"

/* ---- Finding ---- */

/* Maps the state of a process folder. False: it is none, or `pid` (0: any) is another's, or it has ended. */
static bool open_folder(const char *folder, unsigned pid, struct lx_traced *traced)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/lextrace/state", folder) >= sizeof(path))
		return false;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	void *map = lseek(fd, 0, SEEK_END) >= (off_t)LX_STATE_SIZE
			    ? mmap(NULL, LX_STATE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			    : MAP_FAILED;

	close(fd);
	if (map == MAP_FAILED)
		return false;
	struct lx_state *state = map;

	if (state->magic != LX_STATE_MAGIC || state->ended || (pid && state->pid != pid) ||
	    (kill((pid_t)state->pid, 0) != 0 && errno != EPERM)) {
		munmap(map, LX_STATE_SIZE);
		return false;
	}
	traced->state = state;
	snprintf(traced->folder, sizeof(traced->folder), "%s", folder);
	return true;
}

/* A running process in the run folder; how many there are. The first is opened. */
static unsigned open_in_run(const char *run, unsigned pid, struct lx_traced *traced)
{
	DIR *folder = opendir(run);
	unsigned found = 0;

	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		struct lx_traced one;
		char path[PATH_MAX];

		if (entry->d_name[0] == '.' ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", run, entry->d_name) >= sizeof(path) ||
		    !open_folder(path, pid, &one))
			continue;
		if (found++ == 0)
			*traced = one;
		else
			lx_traced_close(&one);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* LEXTRACE_DIR of a process's environment. */
static bool run_of_process(unsigned pid, char *out, size_t size)
{
	static const char name[] = "LEXTRACE_DIR=";
	char path[64], *entry = NULL;
	size_t space = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	FILE *file = fopen(path, "re");

	while (file && !found && getdelim(&entry, &space, '\0', file) > 0)
		if (strncmp(entry, name, sizeof(name) - 1) == 0) {
			snprintf(out, size, "%s", entry + sizeof(name) - 1);
			found = true;
		}
	free(entry);
	if (file)
		fclose(file);
	return found;
}

/* The run folders below a folder. */
static bool find_below(const char *place, unsigned pid, struct lx_traced *traced)
{
	DIR *folder = opendir(place);
	bool found = false;

	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		char path[PATH_MAX];

		if (entry->d_name[0] != '.' &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", place, entry->d_name) < sizeof(path))
			found = open_in_run(path, pid, traced) > 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

static int find_pid(unsigned pid, struct lx_traced *traced)
{
	char path[PATH_MAX];

	if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
		lx_error("no process %u", pid);
		return 1;
	}
	if (run_of_process(pid, path, sizeof(path)) && open_in_run(path, pid, traced))
		return 0;
	if (find_below(".", pid, traced))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/cwd", pid);
	if (find_below(path, pid, traced))
		return 0;
	lx_error("process %u is not traced; start it with lextrace run", pid);
	return 1;
}

int lx_traced_find(const char *word, struct lx_traced *traced)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	if (!*end && pid > 0 && pid <= INT_MAX && access(word, F_OK) != 0)
		return find_pid((unsigned)pid, traced);
	if (open_folder(word, 0, traced))
		return 0;
	unsigned found = open_in_run(word, 0, traced);

	if (found == 1)
		return 0;
	if (found > 1) {
		lx_traced_close(traced);
		lx_error("%s: %u processes are running in it; name one by its pid", word, found);
	} else if (access(word, F_OK) != 0) {
		lx_error("%s: neither a process nor a folder", word);
	} else {
		lx_error("%s: no process that is running writes into it", word);
	}
	return 1;
}

void lx_traced_close(struct lx_traced *traced)
{
	munmap(traced->state, LX_STATE_SIZE);
}

/* ---- Asking ---- */

static int write_request(const struct lx_traced *traced, uint64_t number, const char *request)
{
	char path[PATH_MAX + 32], temporary[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/lextrace/request", traced->folder);
	snprintf(temporary, sizeof(temporary), "%s/lextrace/request.%d", traced->folder, (int)getpid());
	FILE *file = fopen(temporary, "we");

	if (!file)
		return -errno;
	fprintf(file, "%llu %s\n", (unsigned long long)number, request);
	if (fclose(file) != 0 || rename(temporary, path) != 0) {
		int error = -errno;

		unlink(temporary);
		return error;
	}
	return 0;
}

static int read_answer(const struct lx_traced *traced, uint64_t number, char *answer, size_t size)
{
	char path[PATH_MAX + 32], line[8192] = "", *end;

	snprintf(path, sizeof(path), "%s/lextrace/answer", traced->folder);
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	bool read = fgets(line, sizeof(line), file) != NULL;

	fclose(file);
	if (!read || strtoull(line, &end, 10) != number)
		return -1;
	line[strcspn(line, "\n")] = '\0';
	bool ok = strncmp(end, " ok ", 4) == 0;

	snprintf(answer, size, "%s", strlen(end) > (ok ? 4u : 7u) ? end + (ok ? 4 : 7) : "");
	return ok ? 0 : 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Why it may be that nothing comes. */
static void say_silence(const struct lx_traced *traced, double seconds)
{
	const struct lx_state *state = traced->state;
	const char *why = state->paused ? "it is paused by INTROSPECT"
			  : !state->signal
				  ? "the program has taken SIGUSR1 for itself, and no recorded event has come since"
				  : "its main thread runs C code that looks at no signals, and no recorded event has come since";

	if (kill((pid_t)state->pid, 0) != 0 && errno == ESRCH)
		lx_error("process %u has ended", state->pid);
	else
		lx_error("process %u has not answered within %g s: %s; --timeout waits longer", state->pid, seconds, why);
}

int lx_traced_ask(struct lx_traced *traced, const char *request, double seconds, char *answer, size_t size)
{
	struct lx_state *state = traced->state;
	uint64_t number = __atomic_load_n(&state->request, __ATOMIC_ACQUIRE) + 1;
	const union sigval nothing = { .sival_int = 0 };
	int error = write_request(traced, number, request);

	if (error) {
		lx_error("cannot write into %s: %s", traced->folder, strerror(-error));
		return 1;
	}
	__atomic_fetch_or(&state->attention, LX_ATTENTION_REQUEST, __ATOMIC_SEQ_CST);
	if (state->signal && sigqueue((pid_t)state->pid, SIGUSR1, nothing) != 0 && errno != ESRCH) {
		lx_error("cannot signal process %u: %s", state->pid, strerror(errno));
		return 1;
	}
	for (uint64_t until = now_ns() + (uint64_t)(seconds * 1e9); now_ns() < until;) {
		if (__atomic_load_n(&state->request, __ATOMIC_ACQUIRE) >= number) {
			int result = read_answer(traced, number, answer, size);

			if (result >= 0)
				return result;
		}
		if (kill((pid_t)state->pid, 0) != 0 && errno == ESRCH)
			break;
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
	say_silence(traced, seconds);
	answer[0] = '\0';
	return 1;
}
