/* SIGUSR1: only noted here, looked after at the next event, or by Python's main thread as soon as it looks at signals. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "capture/control.h"

static struct sigaction before;
static bool taken;

static void on_signal(int number, siginfo_t *info, void *context)
{
	int error = errno;

	/* `lextrace ctl` queues its signal: what it wants stands in its request. */
	if (info->si_code != SI_QUEUE)
		lx_attention_set(LX_ATTENTION_RELOAD);
	lx_introspect_wake();
	if (before.sa_flags & SA_SIGINFO) {
		if (before.sa_sigaction)
			before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	}
	errno = error;
}

bool lx_signal_is_ours(void)
{
	struct sigaction now;

	return sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal;
}

bool lx_signal_is_ignored(void)
{
	struct sigaction now;

	if (sigaction(SIGUSR1, NULL, &now) != 0 || now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_IGN)
		return false;
	lx_note("the program was started to ignore SIGUSR1: it reloads no configuration; lextrace ctl does");
	return true;
}

void lx_signal_take(void)
{
	struct sigaction action;

	if (!lx_signal_is_ours() && sigaction(SIGUSR1, NULL, &action) == 0) {
		before = action;
		action.sa_flags = (action.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
		if (action.sa_flags == SA_SIGINFO) /* nobody's so far */
			action.sa_flags |= SA_RESTART | SA_ONSTACK;
		action.sa_sigaction = on_signal;
		taken = sigaction(SIGUSR1, &action, NULL) == 0;
	}
	lx_session_state()->signal = taken;
}

void lx_signal_give_back(void)
{
	if (taken && lx_signal_is_ours())
		sigaction(SIGUSR1, &before, NULL);
	taken = false;
	lx_session_state()->signal = 0;
}

void lx_signal_check(void)
{
	struct sigaction now;

	if (!taken || lx_signal_is_ours() || sigaction(SIGUSR1, NULL, &now) != 0)
		return;
	if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) /* by an interpreter that ends */
		return;
	taken = false;
	lx_session_state()->signal = 0;
	lx_note("the program has taken SIGUSR1 for itself: it reloads no configuration any more; lextrace ctl still does");
}
