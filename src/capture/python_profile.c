/*
 * Python 3.11: events by the C profile function, on every thread. Its slot is one a thread and may be taken by the
 * program (sys.setprofile, cProfile): then ours stands in the slot all the same and passes each event on.
 */
#include "capture/python.h"

#if !LX_MONITORING

#include <opcode.h>
#include <string.h>

/* What the program has put into a thread's slot; ours stands before it. */
struct chained {
	const PyThreadState *state;
	Py_tracefunc function;
	struct chained *next;
};

static struct chained *chain;
static bool active, audited;
static const PyThreadState *newest; /* head of the list of thread states at the last look */

static int on_event(PyObject *object, PyFrameObject *frame, int what, PyObject *arg);

static Py_tracefunc *chained_function(const PyThreadState *state, bool make)
{
	for (struct chained *at = chain; at; at = at->next)
		if (at->state == state)
			return &at->function;
	if (!make)
		return NULL;
	struct chained *added = PyMem_RawCalloc(1, sizeof(*added));

	if (!added)
		return NULL;
	added->state = state;
	added->next = chain;
	chain = added;
	return &added->function;
}

/*
 * Puts our function into the slot of every thread. c_profileobj stays what the program has set, which is what
 * sys.getprofile() shows. Written directly: the public function would raise an audit event of its own.
 */
static void take_slots(void)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();

	newest = PyInterpreterState_ThreadHead(interpreter);
	for (PyThreadState *state = PyInterpreterState_ThreadHead(interpreter); state; state = PyThreadState_Next(state)) {
		if (!state->_initialized) { /* a C thread without the GIL is filling it in: look again at the next event */
			newest = NULL;
			continue;
		}
		if (state->c_profilefunc == on_event)
			continue;
		Py_tracefunc *function = chained_function(state, state->c_profilefunc != NULL);

		if (function)
			*function = state->c_profilefunc;
		else if (state->c_profilefunc)
			continue; /* no memory to pass events on: leave the program's in place */
		state->c_profilefunc = on_event;
		state->cframe->use_tracing = 255;
	}
}

static int take_slots_later(void *unused)
{
	(void)unused;
	if (active)
		take_slots();
	return 0;
}

/* The program is about to set or clear a slot: look again right after it, before its next instruction. */
static int on_audit(const char *event, PyObject *args, void *unused)
{
	(void)args;
	(void)unused;
	if (active && event[0] == 's' && strcmp(event, "sys.setprofile") == 0)
		Py_AddPendingCall(take_slots_later, NULL);
	return 0;
}

/* The code unit at which the frame stands: opcode and argument. */
static void instruction(PyFrameObject *frame, const PyCodeObject *code, unsigned *opcode, unsigned *argument)
{
	int at = PyFrame_GetLasti(frame); /* in bytes */

	*opcode = *argument = 0;
	if (at >= 0) {
		const uint8_t *unit = (const uint8_t *)code->co_code_adaptive + at;

		*opcode = unit[0];
		*argument = unit[1];
	}
}

static void function_begins(struct lx_thread *thread, PyFrameObject *frame, PyCodeObject *code)
{
	unsigned opcode, argument, kind = LX_EV_FUNCTION_BEGIN;

	if (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) {
		instruction(frame, code, &opcode, &argument);
		/* RESUME 0 is a function's start; a higher argument, or another instruction (throw, close), a resumption. */
		if (argument != 0 || (opcode != RESUME && opcode != RESUME_QUICK))
			kind = LX_EV_FUNCTION_RESUME;
	}
	const struct lx_code_entry *entry = lx_code_likely(code);

	if (lx_likely(entry->code == code && !((entry->plan & LX_PLAN_SLOW) | thread->special)))
		lx_call_begin(thread, frame, entry->word, kind);
	else if (entry->code != code || thread->special || !lx_plan_is_metered(entry->plan) ||
		 code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR) ||
		 !lx_metered_skip(thread, frame, entry->word))
		lx_python_begin(thread, code, frame, frame, kind);
	if (lx_unlikely(kind == LX_EV_FUNCTION_RESUME && lx_regions_suspended))
		lx_regions_resume(thread, frame);
}

static void function_ends(struct lx_thread *thread, PyFrameObject *frame, const PyCodeObject *code, PyObject *value)
{
	unsigned opcode = 0, argument;

	if (value && code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))
		instruction(frame, code, &opcode, &argument);
	uint32_t kind = !value ? LX_EV_FUNCTION_UNWIND : opcode == YIELD_VALUE ? LX_EV_FUNCTION_YIELD : LX_EV_FUNCTION_END;

	if (lx_likely(lx_call_is_top(thread, frame, LX_FUNCTION_KINDS)))
		lx_call_end(thread, frame, LX_FUNCTION_KINDS, kind);
	else if (!lx_quiet_end(thread, frame, LX_FUNCTION_KINDS))
		lx_python_end(thread, code, frame, frame, kind);
}

/* One that was not wanted was not opened. */
static void c_call_ends(struct lx_thread *thread, PyFrameObject *frame, uint32_t kind)
{
	if (lx_call_is_top(thread, frame, LX_C_CALL_KINDS | LX_C_CALL_KINDS << LX_MARKED))
		lx_call_end(thread, frame, LX_C_CALL_KINDS, kind);
}

static void record(struct lx_thread *thread, PyFrameObject *frame, int what, PyObject *arg)
{
	PyCodeObject *code;

	switch (what) {
	case PyTrace_CALL:
		code = PyFrame_GetCode(frame);
		function_begins(thread, frame, code);
		Py_DECREF(code);
		break;
	case PyTrace_RETURN:
		code = PyFrame_GetCode(frame);
		function_ends(thread, frame, code, arg);
		Py_DECREF(code);
		break;
	case PyTrace_C_CALL:
		code = PyFrame_GetCode(frame);
		lx_python_c_begin(thread, code, frame, frame, arg);
		Py_DECREF(code);
		break;
	case PyTrace_C_RETURN:
		c_call_ends(thread, frame, LX_EV_C_CALL_END);
		break;
	case PyTrace_C_EXCEPTION:
		c_call_ends(thread, frame, LX_EV_C_CALL_RAISE);
		break;
	default:
		break;
	}
}

static int on_event(PyObject *object, PyFrameObject *frame, int what, PyObject *arg)
{
	PyThreadState *state = lx_python_thread_state();

	if (lx_likely(active)) {
		/* A new thread's state is there before the thread runs Python: its creator meets this first. */
		if (lx_unlikely(PyInterpreterState_ThreadHead(state->interp) != newest))
			take_slots();
		struct lx_thread *thread = lx_hook_enter();

		if (lx_likely(thread != NULL)) {
			record(thread, frame, what, arg);
			if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & LX_ATTENTION_WORK))
				lx_python_attend(thread);
			lx_hook_leave(thread);
		}
	}
	if (lx_unlikely(chain != NULL)) { /* the program profiles, too */
		Py_tracefunc *function = chained_function(state, false);

		if (function && *function)
			return (*function)(object, frame, what, arg);
	}
	return 0;
}

int lx_python_hooks_reserve(void)
{
	return 0;
}

int lx_python_hooks_set(void)
{
	if (!audited && PySys_AddAuditHook(on_audit, NULL) != 0)
		return -1;
	audited = true;
	active = true;
	take_slots();
	return 0;
}

/* Gives every slot back: to the program's function where it has one. */
void lx_python_hooks_clear(void)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();

	active = false;
	for (PyThreadState *state = PyInterpreterState_ThreadHead(interpreter); state; state = PyThreadState_Next(state)) {
		if (state->c_profilefunc != on_event)
			continue;
		Py_tracefunc *function = chained_function(state, false);

		state->c_profilefunc = function ? *function : NULL;
		state->cframe->use_tracing = state->c_profilefunc || state->c_tracefunc ? 255 : 0;
	}
	while (chain) {
		struct chained *next = chain->next;

		PyMem_RawFree(chain);
		chain = next;
	}
}

void lx_python_hooks_rest(void)
{
	lx_python_hooks_clear();
}

/* Nothing is spared here: the profile function cannot be taken from one place. */
void lx_python_hooks_restart(void)
{
	lx_windows_spared = false;
}

void lx_python_hooks_want_c(PyCodeObject *code)
{
	(void)code;
}

#endif
