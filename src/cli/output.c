#include "cli/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile pid_t pager_pid;

/* With a pager the terminal is the pager's until it ends: wait for it, then die of what came. */
static void leave_with_pager(int signal_number)
{
	close(STDOUT_FILENO);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (signal_number == SIGPIPE)
		_exit(LX_STATUS_OK); /* the user has seen enough */
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void run_pager(void)
{
	const char *command = getenv("PAGER");

	setenv("LESSCHARSET", "utf-8", 0);
	if (command && *command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", "-FRX", (char *)NULL);
	execlp("cat", "cat", (char *)NULL);
	_exit(LX_STATUS_FAILED);
}

static void start_pager(void)
{
	const struct sigaction action = { .sa_handler = leave_with_pager };
	int ends[2];

	if (pipe(ends) < 0)
		return; /* the answer goes to the terminal as it is */
	pager_pid = fork();
	if (pager_pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		run_pager();
	}
	close(ends[0]);
	if (pager_pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGPIPE, &action, NULL);
	}
	close(ends[1]);
}

static unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		width = 80;
	return width < 20 ? 20 : (unsigned)width;
}

void lx_output_begin(struct lx_output *out, const char *color, bool pager)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	bool terminal = isatty(STDOUT_FILENO);
	bool dumb = !term || !*term || strcmp(term, "dumb") == 0;

	*out = (struct lx_output){ .file = stdout, .terminal = terminal };
	if (color && strcmp(color, "auto") != 0)
		out->color = strcmp(color, "always") == 0;
	else
		out->color = terminal && !dumb && !(no_color && *no_color);
	signal(SIGPIPE, SIG_DFL);
	if (terminal)
		out->width = terminal_width();
	if (terminal && pager && !dumb)
		start_pager();
}

int lx_output_end(struct lx_output *out, int status)
{
	bool failed = fflush(out->file) != 0 || ferror(out->file);
	int error = errno;

	if (pager_pid > 0) {
		signal(SIGINT, SIG_IGN); /* Ctrl-C is for the pager now */
		close(STDOUT_FILENO);
		while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
			;
		pager_pid = 0;
	}
	if (!failed)
		return status;
	lx_error("cannot write the answer: %s", strerror(error));
	return LX_STATUS_FAILED;
}

const char *lx_style(const struct lx_output *out, enum lx_style style)
{
	static const char *const codes[] = {
		[LX_PLAIN] = "",	   [LX_BOLD] = "\033[1m",      [LX_DIM] = "\033[2m",
		[LX_RED] = "\033[31m",	   [LX_YELLOW] = "\033[33m",   [LX_GREEN] = "\033[32m",
		[LX_MAGENTA] = "\033[35m", [LX_CYAN] = "\033[36m",
	};

	return out->color ? codes[style] : "";
}

const char *lx_style_end(const struct lx_output *out, enum lx_style style)
{
	return out->color && style != LX_PLAIN ? "\033[0m" : "";
}
