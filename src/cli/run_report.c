/* lextrace run --report: the program as a child, then its report. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run.h"

/* Signals that are meant for the program when someone sends them to us. */
static const int handed_on[] = { SIGHUP,  SIGINT,   SIGQUIT,   SIGTERM, SIGUSR1, SIGUSR2,
				 SIGALRM, SIGWINCH, SIGVTALRM, SIGPROF, SIGCONT, SIGURG };

static void watched_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(handed_on) / sizeof(*handed_on); i++)
		sigaddset(set, handed_on[i]);
}

/*
 * Waits for the child. A signal that a process sent to us goes on to it; one from the terminal has reached it already,
 * as it is in our process group. SIGTSTP and its like are not watched: they stop both of us.
 */
static int wait_for(pid_t child, const sigset_t *watched)
{
	int status;

	for (;;) {
		siginfo_t info;
		int signal = sigwaitinfo(watched, &info);

		if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
			kill(child, signal);
		if (signal == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
			return status;
	}
}

/* Ends as the program ended. */
static int end_like(int status)
{
	static const struct rlimit no_core;
	sigset_t set;
	int signal;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal = WTERMSIG(status);
	fflush(stdout);
	setrlimit(RLIMIT_CORE, &no_core); /* the program's core file stays */
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signal, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signal; /* a signal whose default is not to end */
}

static void report(const struct lx_run_folder *folder)
{
	const struct lx_command *command = lx_command_find("report");
	char *argv[] = { "--top", "10", folder->absolute, NULL };
	struct lx_args args;
	bool done;

	argv[2] = folder->shown;
	if (command && lx_args_parse(command, 3, argv, &args, &done) == LX_STATUS_OK && !done)
		command->run(command, &args);
}

static void child_ended(int signal)
{
	(void)signal; /* sigwaitinfo takes it; with a handler it waits for us however early it comes */
}

int lx_run_and_report(void (*start)(void *context), void *context, const struct lx_run_folder *folder, bool quiet)
{
	struct sigaction ended = { .sa_handler = child_ended }, given;
	sigset_t watched, before;
	int status;

	watched_signals(&watched);
	sigprocmask(SIG_BLOCK, &watched, &before);
	sigaction(SIGCHLD, &ended, &given);
	pid_t child = fork();

	if (child == 0) {
		sigaction(SIGCHLD, &given, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		start(context);
	}
	if (child < 0) {
		lx_error("cannot start a process: %s", strerror(errno));
		return LX_STATUS_CANNOT_START;
	}
	status = wait_for(child, &watched);
	if (WIFEXITED(status) && WEXITSTATUS(status) >= LX_STATUS_CANNOT_START && access(folder->absolute, F_OK) != 0)
		return WEXITSTATUS(status); /* it never became the program, and has said why */
	sigprocmask(SIG_SETMASK, &before, NULL); /* Ctrl-C ends the report */
	signal(SIGPIPE, SIG_IGN); /* that nobody reads our line must not change how the program ended */
	if (!quiet)
		lx_run_closing_line(folder, child, status);
	report(folder);
	return end_like(status);
}
