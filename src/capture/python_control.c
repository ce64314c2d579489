/* Control, as far as it is Python's: SIGUSR1, pauses with the GIL released, hooks as the mode wants them, new threads. */
#include "capture/python.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "capture/control.h"

#define RESTARTS 4u               /* for new threads, in … */
#define RESTART_TIME 1000000000u  /* … this many ns: then what is used up stays enabled for as long */
#define COMING_TIME 10000000000u  /* ns that a started thread has until it runs */

static PyObject *previous_handler; /* of SIGUSR1, from before ours */
static PyObject *our_handler;
static PyObject *to_raise; /* what a signal handler raised during a pause */
static bool audited;

/* ---- The mode ---- */

int lx_python_mode_apply(void)
{
	uint32_t mode = lx_mode(LX_DOMAIN_PYTHON);

	if (mode == LX_MODE_OFF) {
		lx_python_hooks_clear();
		return 0;
	}
	if (lx_python_hooks_reserve() != 0)
		return -1;
	if (mode == LX_MODE_STANDBY) {
		lx_python_hooks_rest();
		return 0;
	}
	if (lx_python_hooks_set() != 0)
		return -1;
	lx_python_hooks_restart();
	return 0;
}

/* The same from within a hook: what is wrong is noted. */
static void apply(void)
{
	if (lx_python_mode_apply() != 0) {
		PyErr_Clear();
		lx_note("the Python domain cannot come back: the tool ids 3 and 4 of sys.monitoring are in use by other tools");
	}
}

/* ---- Pauses ---- */

static int raise_later(void *unused)
{
	(void)unused;
	if (!to_raise)
		return 0;
	PyErr_SetObject((PyObject *)Py_TYPE(to_raise), to_raise);
	Py_CLEAR(to_raise);
	return -1;
}

/*
 * Runs the handlers of signals that have come. What they raise comes up at the program's next instruction. CPython sends
 * no events from within a hook, but the handlers are the program's: theirs are recorded.
 */
static bool serve_signals(struct lx_thread *thread)
{
	PyThreadState *state = lx_python_thread_state();
	bool in_hook = state->tracing > 0;

	lx_guard(thread, 0);
	if (in_hook)
		PyThreadState_LeaveTracing(state);
	bool raised = PyErr_CheckSignals() != 0;

	if (in_hook)
		PyThreadState_EnterTracing(state);
	lx_guard(thread, 1);
	if (!raised)
		return true;
#if PY_VERSION_HEX >= 0x030c0000
	PyObject *value = PyErr_GetRaisedException();
#else
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (traceback)
		PyException_SetTraceback(value, traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
#endif
	Py_XSETREF(to_raise, value);
	Py_AddPendingCall(raise_later, NULL);
	return false;
}

/* Waits with the GIL released until the pause is over: also what a signal handler of the program raises ends it. */
static void wait_out(struct lx_thread *thread)
{
	while (!lx_introspect_is_over()) {
		PyThreadState *state = PyEval_SaveThread();

		lx_introspect_wait();
		PyEval_RestoreThread(state);
		if (!serve_signals(thread)) /* only the main thread has any */
			lx_introspect_interrupt();
		if (*lx_attention & LX_ATTENTION_REQUEST && lx_control_request(thread)) {
			lx_attention_set(LX_ATTENTION_RELOAD);
			lx_control_answer(true, "the pause ends");
		}
	}
}

/* ---- Work ---- */

/* Bits of the domains of whose mode the file says something else than before. */
static uint32_t reload(struct lx_thread *thread)
{
	lx_attention_clear(LX_ATTENTION_RELOAD);
	if (lx_control_reload() <= 0)
		return 0;
	uint32_t domains = lx_control_reload_modes(thread);

	apply();
	return domains;
}

static void do_work(struct lx_thread *thread, struct lx_work *work)
{
	char cause[512];
	bool again;

	lx_control_cause(work, cause, sizeof(cause));
	if (work->action.introspect) {
		lx_introspect_begin(&work->action);
		lx_python_hooks_restart(); /* threads in places that were spared pause, too */
		wait_out(thread);
		bool early = *lx_attention & LX_ATTENTION_RELOAD;

		if (early)
			lx_work_yield(work, reload(thread));
		lx_introspect_end(early ? "SIGUSR1" : "time");
	}
	again = work->action.modes[work->domain] == LX_MODE_TRACING;
	if (again)
		lx_work_renew(work);
	if (lx_control_modes(thread, work->action.modes, cause) || again)
		apply();
}

static void check_signal(void);

static void request(struct lx_thread *thread)
{
	uint32_t before = lx_generation;

	if (lx_control_request(thread)) {
		int result = lx_control_reload();

		lx_control_reload_modes(thread);
		if (result < 0)
			lx_control_answer(false, "%s", lx_control_error());
		else
			lx_control_answer(true, "%s", result ? "new rules are in force" : "nothing has changed");
	}
	check_signal();
	if (lx_generation != before)
		apply();
}

static void control(struct lx_thread *thread)
{
	struct lx_work *work;

	thread->waiting = true;
	if (*lx_attention & LX_ATTENTION_RELOAD && !(*lx_attention & LX_ATTENTION_PAUSE))
		reload(thread);
	if (*lx_attention & LX_ATTENTION_REQUEST)
		request(thread);
	if (*lx_attention & LX_ATTENTION_PAUSE && !(thread->special & LX_THREAD_OUTSIDE))
		wait_out(thread);
	while ((work = lx_work_take())) {
		do_work(thread, work);
		lx_work_free(work);
	}
	thread->waiting = false;
}

void lx_python_attend(struct lx_thread *thread)
{
	const uint32_t ours = LX_ATTENTION_RELOAD | LX_ATTENTION_REQUEST | LX_ATTENTION_PAUSE | LX_ATTENTION_WORK;
	uint32_t bits = __atomic_load_n(lx_attention, __ATOMIC_ACQUIRE);

	if (bits & LX_ATTENTION_STACKS)
		lx_python_check_stack(thread, lx_python_thread_state());
	if (bits & ~(ours | LX_ATTENTION_STACKS)) /* nonsense from outside */
		lx_attention_clear(bits & ~(ours | LX_ATTENTION_STACKS));
	if (!(bits & ours) || thread->waiting)
		return;
	struct lx_exception saved = lx_exception_save();

	control(thread);
	lx_exception_restore(saved);
}

int lx_python_reload(void)
{
	struct lx_thread *thread = lx_thread_get();

	if (!thread)
		return 0;
	lx_guard(thread, thread->busy + 1);
	int result = lx_control_reload();

	if (result > 0) {
		lx_control_reload_modes(thread);
		apply();
	}
	lx_guard(thread, thread->busy - 1);
	if (result < 0)
		PyErr_SetString(PyExc_ValueError, lx_control_error());
	return result < 0 ? -1 : 0;
}

/* ---- SIGUSR1 ---- */

static PyObject *set_handler(PyObject *handler)
{
	PyObject *module = PyImport_ImportModule("_signal");
	PyObject *before = module ? PyObject_CallMethod(module, "signal", "iO", SIGUSR1, handler) : NULL;

	Py_XDECREF(module);
	return before;
}

static bool handler_is_ours(void)
{
	PyObject *module = our_handler ? PyImport_ImportModule("_signal") : NULL;
	PyObject *now = module ? PyObject_CallMethod(module, "getsignal", "i", SIGUSR1) : NULL;
	bool ours = now && now == our_handler;

	Py_XDECREF(now);
	Py_XDECREF(module);
	PyErr_Clear();
	return ours;
}

/* A program that sets another handler, and then ours again, has put CPython's own in front. */
static void check_signal(void)
{
	if (handler_is_ours())
		lx_signal_take();
	else
		lx_signal_check();
}

/* Runs in the main thread as soon as CPython looks at signals: in sleep, locks, reads and waits as well. */
static PyObject *on_python_signal(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
	struct lx_thread *thread = lx_thread_get();

	if (!lx_signal_is_ours()) { /* then it has noted nothing, either */
		if (!(*lx_attention & LX_ATTENTION_REQUEST))
			lx_attention_set(LX_ATTENTION_RELOAD);
		if (handler_is_ours())
			lx_signal_take();
	}
	if (thread && !thread->busy) {
		lx_guard(thread, 1);
		lx_python_attend(thread);
		lx_guard(thread, 0);
	}
	if (!previous_handler || !PyCallable_Check(previous_handler))
		Py_RETURN_NONE;
	return PyObject_Vectorcall(previous_handler, args, (size_t)count, NULL);
}

/*
 * Before the interpreter takes its signal handlers away: it puts back the default, that of a signal which kills, for
 * as long as it tears down its modules. What it has no handler of it leaves alone: that is ignored until the end.
 */
static PyObject *on_python_exit(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
	check_signal();
	if (handler_is_ours() && (!previous_handler || !PyCallable_Check(previous_handler))) {
		PyObject *ignore = PyLong_FromLong((long)(intptr_t)SIG_IGN);

		if (ignore)
			Py_XDECREF(set_handler(ignore));
		Py_XDECREF(ignore);
		lx_signal_take();
	}
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyMethodDef exit_method = {"lextrace_exit", on_python_exit, METH_NOARGS, NULL};

/* The list of what is called at the end is the interpreter's: the module goes again, if the program has not imported it. */
static void check_at_exit(void)
{
	static bool registered;
	PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
	bool there = PyDict_GetItemString(modules, "atexit") != NULL;
	PyObject *module = registered ? NULL : PyImport_ImportModule("atexit");
	PyObject *function = module ? PyCFunction_New(&exit_method, NULL) : NULL;

	if (function) {
		registered = true;
		Py_XDECREF(PyObject_CallMethod(module, "register", "O", function));
	}
	if (module && !there)
		PyDict_DelItemString(modules, "atexit");
	Py_XDECREF(function);
	Py_XDECREF(module);
}

static PyMethodDef handler_method = {"lextrace_reload", (PyCFunction)(void (*)(void))on_python_signal, METH_FASTCALL,
				     PyDoc_STR("Reads the configuration of the trace anew.")};

void lx_python_signal_take(void)
{
	if (lx_signal_is_ignored())
		return;
	if (!our_handler)
		our_handler = PyCFunction_New(&handler_method, NULL);
	PyObject *before = our_handler ? set_handler(our_handler) : NULL;

	if (before && before != our_handler)
		Py_XSETREF(previous_handler, Py_NewRef(before));
	Py_XDECREF(before);
	check_at_exit();
	PyErr_Clear(); /* not the main thread: events notice, no sleep is cut short */
	lx_signal_take();
}

void lx_python_signal_give_back(void)
{
	check_signal();
	lx_signal_give_back();
	if (handler_is_ours()) {
		PyObject *handler = previous_handler && previous_handler != Py_None ? Py_NewRef(previous_handler)
										    : PyLong_FromLong(0);

		if (handler)
			Py_XDECREF(set_handler(handler));
		Py_XDECREF(handler);
	}
	Py_CLEAR(previous_handler);
	PyErr_Clear();
}

/* ---- New threads ---- */

/* Before a thread starts: windows that all others have used up are open for it. */
static void restart_for_thread(void)
{
	static uint64_t times[RESTARTS], held_until, coming_since;
	static unsigned at;
	uint64_t now = lx_clock_ns(CLOCK_MONOTONIC);

	if (lx_python_threads_coming && now - coming_since > COMING_TIME)
		lx_python_threads_coming = 0; /* they were never seen */
	if (!lx_python_threads_coming)
		coming_since = now;
	lx_python_threads_coming++;
	if (lx_windows_held && now > held_until)
		lx_windows_held = false;
	if (!lx_windows_spared) {
		if (lx_windows_held)
			held_until = now + RESTART_TIME;
		return;
	}
	if (times[at] && now - times[at] < RESTART_TIME) {
		lx_windows_held = true;
		held_until = now + RESTART_TIME;
	}
	times[at] = now;
	at = (at + 1) % RESTARTS;
	lx_python_hooks_restart();
}

static int on_audit(const char *event, PyObject *args, void *unused)
{
	(void)args;
	(void)unused;
	if (event[0] != '_' || (strcmp(event, "_thread.start_new_thread") != 0 &&
				strcmp(event, "_thread.start_joinable_thread") != 0) || !lx_session_active())
		return 0;
	lx_python_thread_starts();
	if (lx_mode(LX_DOMAIN_PYTHON) == LX_MODE_TRACING || lx_mode(LX_DOMAIN_PYTHON) == LX_MODE_MONITORING)
		restart_for_thread();
	return 0;
}

int lx_python_audit(void)
{
	if (audited)
		return 0;
	audited = true;
	lx_python_attends = true;
	return PySys_AddAuditHook(on_audit, NULL);
}
