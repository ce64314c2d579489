/*
 * INTROSPECT: a chunk of the trace, a script that looks at it, a pause. The script is the grandchild of a process that is
 * gone at once: the program gets no SIGCHLD for it, finds no child of ours when it waits, and no zombie is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/control.h"
#include "capture/control_file.h"

extern char **environ;

static uint64_t pause_end;  /* ns of CLOCK_MONOTONIC; UINT64_MAX: until SIGUSR1 */
static uint32_t wakes;      /* what those who pause wait on */

/* ---- The script ---- */

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The start folder, the configuration's, PATH. */
static bool find_script(const char *name, char *out, size_t size)
{
	const char *config = lx_control_path(), *slash = config ? strrchr(config, '/') : NULL, *list = getenv("PATH");

	if (*name == '/')
		return snprintf(out, size, "%s", name) < (int)size && is_file(out);
	if (snprintf(out, size, "%s/%s", lx_start_folder(), name) < (int)size && is_file(out))
		return true;
	if (slash && snprintf(out, size, "%.*s/%s", (int)(slash - config), config, name) < (int)size && is_file(out))
		return true;
	while (list && *list && !strchr(name, '/')) {
		size_t length = strcspn(list, ":");

		if (length > 0 && snprintf(out, size, "%.*s/%s", (int)length, list, name) < (int)size && is_file(out) &&
		    access(out, X_OK) == 0)
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* The environment without what makes the script a part of the run. malloc'd; its strings are the program's. */
static char **script_environment(void)
{
	size_t count = 0, kept = 0;

	while (environ && environ[count])
		count++;
	char **copy = calloc(count + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < count; i++)
		if (strncmp(environ[i], "LEXTRACE_", 9) != 0 && strncmp(environ[i], "PINSIGHT_TRACE_", 15) != 0)
			copy[kept++] = environ[i];
	return copy;
}

struct script {
	char path[2048], log[1200], note[1200], said[4096];
	char *words[6];       /* sh, path, chunk, pid, configuration */
	char **environment;
};

/* In a process of its own, copied from one with threads: only calls that are safe after fork. */
static void run_script(struct script *script)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(script->path, script->words + 1, script->environment);
	if (errno == ENOEXEC || errno == EACCES)
		execve("/bin/sh", script->words, script->environment);
	_exit(127);
}

static void write_text(int fd, const char *text)
{
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		return; /* nobody listens */
}

/* Each failure is told once. */
static bool is_noted(const struct script *script)
{
	static char notes[65536];
	int fd = open(script->note, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, notes, sizeof(notes) - 1) : 0;

	return size > 0 && strstr(notes, script->said);
}

/* Stays until the script ends, and tells of its failure. */
static void watch_script(struct script *script)
{
	int log = open(script->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), status = 0;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	dup2(null, 0);
	dup2(log >= 0 ? log : null, 1);
	dup2(log >= 0 ? log : null, 2);
	/* Pipes of the program end when it closes them, not when we do. */
	if (syscall(SYS_close_range, 3u, ~0u, 0) != 0)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		run_script(script);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child > 0 && status == 0)
		_exit(0);
	if (is_noted(script))
		_exit(0);
	int notes = open(script->note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	write_text(notes, script->said);
	_exit(0);
}

static void start_script(struct script *script)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask); /* no handler of the program runs in the copies */
	pid_t first = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0); /* no signal at its end */

	if (first == 0) {
		if (syscall(SYS_clone, 0, 0, 0, 0, 0) == 0)
			watch_script(script);
		_exit(0);
	}
	while (first > 0 && waitpid(first, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (first < 0)
		lx_note("INTROSPECT: the script %s could not be started: %s", script->path, strerror(errno));
}

static void run(const char *name, const char *chunk)
{
	static bool told;
	struct script *script = calloc(1, sizeof(*script));
	char pid[16];

	if (!script)
		return;
	if (!find_script(name, script->path, sizeof(script->path))) {
		lx_note("INTROSPECT: no script %s in the start folder, the configuration's or PATH", name);
		if (!told)
			lx_say("INTROSPECT: no script %s in the start folder, the configuration's or PATH", name);
		told = true;
		free(script);
		return;
	}
	const char *config = lx_control_path();

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(script->log, sizeof(script->log), "%s/lextrace/introspect.log", lx_session_folder());
	snprintf(script->note, sizeof(script->note), "%s/notes", lx_session_run_folder());
	snprintf(script->said, sizeof(script->said),
		 "process %s: the script %s of INTROSPECT failed; its output: %s\n", pid, script->path, script->log);
	script->words[0] = (char *)"sh";
	script->words[1] = script->path;
	script->words[2] = (char *)chunk;
	script->words[3] = pid;
	script->words[4] = (char *)(config ? config : "-");
	script->environment = script_environment();
	if (script->environment)
		start_script(script);
	free(script->environment);
	free(script);
}

/* ---- The pause ---- */

void lx_introspect_begin(const struct lx_action *action)
{
	char chunk[2048] = "";
	int error = lx_chunk_make(chunk, sizeof(chunk));

	if (error)
		lx_note("INTROSPECT: the chunk could not be made: %s", strerror(-error));
	lx_journal("introspect %s %s %lld", error ? "-" : chunk, action->script ? action->script : "-",
		   (long long)action->seconds);
	pause_end = action->seconds < 0 ? UINT64_MAX
					: lx_clock_ns(CLOCK_MONOTONIC) + (uint64_t)action->seconds * 1000000000u;
	if (action->seconds != 0) {
		lx_session_state()->paused = 1;
		lx_attention_set(LX_ATTENTION_PAUSE);
	}
	if (action->script && !error)
		run(action->script, chunk);
}

void lx_introspect_interrupt(void)
{
	__atomic_store_n(&pause_end, 0, __ATOMIC_RELEASE);
	lx_introspect_wake();
}

bool lx_introspect_is_over(void)
{
	uint32_t bits = __atomic_load_n(lx_attention, __ATOMIC_ACQUIRE);

	return !(bits & LX_ATTENTION_PAUSE) || bits & LX_ATTENTION_RELOAD || lx_clock_ns(CLOCK_MONOTONIC) >= pause_end;
}

void lx_introspect_wait(void)
{
	uint64_t now = lx_clock_ns(CLOCK_MONOTONIC), rest = pause_end > now ? pause_end - now : 0;
	struct timespec timeout = {0, rest < 50000000 ? (long)rest : 50000000};
	uint32_t seen = __atomic_load_n(&wakes, __ATOMIC_ACQUIRE);

	if (!lx_introspect_is_over())
		syscall(SYS_futex, &wakes, FUTEX_WAIT_PRIVATE, seen, &timeout, NULL, 0);
}

void lx_introspect_wake(void)
{
	__atomic_fetch_add(&wakes, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

void lx_introspect_end(const char *cause)
{
	if (*lx_attention & LX_ATTENTION_PAUSE)
		lx_journal("resume %s", cause);
	lx_attention_clear(LX_ATTENTION_PAUSE);
	lx_session_state()->paused = 0;
	lx_introspect_wake();
}
