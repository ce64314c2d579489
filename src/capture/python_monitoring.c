/*
 * Python 3.12 and later: events by sys.monitoring, with callbacks in C. The callback objects are of a type of our own with
 * a vectorcall slot, which costs a third less a call than a built-in function object.
 */
#include "capture/python.h"

#if LX_MONITORING

#include <opcode.h>
#include <stddef.h>

struct callback {
	PyObject_HEAD
	vectorcallfunc call;
};

/* ---- The hooks. Arguments: code, offset, then what the event brings ---- */

#define HOOK(name)                                                                                                     \
	static PyObject *name(PyObject *Py_UNUSED(self), PyObject *const *args, size_t Py_UNUSED(count),              \
			      PyObject *Py_UNUSED(keywords))

/*
 * A call of a function is known by its code object, one of a C function by the callable: the events of 3.12 and later are
 * in balance, so that the innermost open call of that code is the one that ends. Asking for the frame would cost more than
 * all the rest of the hook but the clock.
 */

static PyObject *disable; /* sys.monitoring.DISABLE: no more events of that kind from that place */
static bool disabled;     /* it was returned since the last restart */

/* What the end of a window left is done at once, after what was recorded. */
static void leave(struct lx_thread *thread)
{
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & LX_ATTENTION_WORK))
		lx_python_attend(thread);
	lx_hook_leave(thread);
}

/* Leaves a hook of an event that may be disabled for its place. */
static PyObject *leave_place(struct lx_thread *thread, bool done)
{
	if (__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & LX_ATTENTION_WORK)
		done = false; /* what is done now may want the place again */
	leave(thread);
	disabled |= done;
	return Py_NewRef(done ? disable : Py_None);
}

static const void *frame_here(void)
{
	return lx_python_frame(lx_python_thread_state());
}

static PyObject *begin_slow(struct lx_thread *thread, PyObject *code, uint32_t kind)
{
	bool done = lx_python_begin(thread, (PyCodeObject *)code, code, frame_here(), kind);

	if (kind == LX_EV_FUNCTION_RESUME && lx_unlikely(lx_regions_suspended != 0))
		lx_regions_resume(thread, frame_here());
	return leave_place(thread, done);
}

/* Whether calls of this code are written at both ends and nothing else: word and plan are where they are looked for first. */
static inline bool is_plain(const struct lx_thread *thread, const struct lx_code_entry *entry, PyObject *code)
{
	return lx_likely((PyObject *)entry->code == code && !((entry->plan & LX_PLAN_SLOW) | thread->special));
}

/* MONITORING, and nothing else to look after. */
static inline bool is_only_counted(const struct lx_thread *thread, const struct lx_code_entry *entry, PyObject *code)
{
	return lx_likely((PyObject *)entry->code == code && !thread->special) &&
	       (entry->plan & ~LX_PLAN_C) == (LX_PLAN_SLOW | LX_PLAN_COUNT);
}

/* Not recorded under its window, as most calls under a rate. */
static inline bool is_skipped(struct lx_thread *thread, const struct lx_code_entry *entry, PyObject *code)
{
	return lx_likely((PyObject *)entry->code == code && !thread->special) && lx_plan_is_metered(entry->plan) &&
	       !(((PyCodeObject *)code)->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) &&
	       lx_metered_skip(thread, code, entry->word);
}

HOOK(on_start)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		const struct lx_code_entry *entry = lx_code_likely(args[0]);

		if (is_plain(thread, entry, args[0]))
			lx_call_begin(thread, args[0], entry->word, LX_EV_FUNCTION_BEGIN);
		else if (is_only_counted(thread, entry, args[0]))
			lx_counted_begin(thread, args[0], entry->word, LX_EV_FUNCTION_BEGIN);
		else if (!is_skipped(thread, entry, args[0]))
			return begin_slow(thread, args[0], LX_EV_FUNCTION_BEGIN);
		lx_hook_leave(thread);
	}
	Py_RETURN_NONE;
}

/* Resumed by next() or send(). */
HOOK(on_resume)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		const struct lx_code_entry *entry = lx_code_likely(args[0]);

		if (!is_plain(thread, entry, args[0]))
			return begin_slow(thread, args[0], LX_EV_FUNCTION_RESUME);
		lx_call_begin(thread, args[0], entry->word, LX_EV_FUNCTION_RESUME);
		if (lx_unlikely(lx_regions_suspended != 0))
			lx_regions_resume(thread, frame_here());
		lx_hook_leave(thread);
	}
	Py_RETURN_NONE;
}

/* Resumed by an exception thrown in: an event that is never disabled. */
HOOK(on_throw)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		lx_python_begin(thread, (PyCodeObject *)args[0], args[0], frame_here(), LX_EV_FUNCTION_RESUME);
		if (lx_unlikely(lx_regions_suspended != 0))
			lx_regions_resume(thread, frame_here());
		leave(thread);
	}
	Py_RETURN_NONE;
}

static PyObject *end_slow(struct lx_thread *thread, PyObject *code, uint32_t kind)
{
	return leave_place(thread, lx_python_end(thread, (PyCodeObject *)code, code, frame_here(), kind));
}

/* MONITORING: the innermost call is this one, and counted. */
static inline bool is_counted(const struct lx_thread *thread, const void *code)
{
	return lx_call_is_top(thread, code, LX_FUNCTION_KINDS << LX_MARKED) &&
	       thread->stack.top[-1].marks == (LX_CALL_COUNTED | LX_CALL_QUIET);
}

HOOK(on_return)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		if (lx_likely(lx_call_is_top(thread, args[0], LX_FUNCTION_KINDS)) || is_counted(thread, args[0]))
			lx_call_end(thread, args[0], LX_FUNCTION_KINDS, LX_EV_FUNCTION_END);
		else if (!lx_quiet_end(thread, args[0], LX_FUNCTION_KINDS))
			return end_slow(thread, args[0], LX_EV_FUNCTION_END);
		lx_hook_leave(thread);
	}
	Py_RETURN_NONE;
}

HOOK(on_yield)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		if (!lx_likely(lx_call_is_top(thread, args[0], LX_FUNCTION_KINDS)))
			return end_slow(thread, args[0], LX_EV_FUNCTION_YIELD);
		lx_call_end(thread, args[0], LX_FUNCTION_KINDS, LX_EV_FUNCTION_YIELD);
		lx_hook_leave(thread);
	}
	Py_RETURN_NONE;
}

/*
 * From 3.13 on, what a signal handler raises at a function's entry unwinds the function before its beginning was told.
 * `offset` is where the frame stands: at its RESUME still, if so.
 */
static bool never_began(PyObject *code_object, PyObject *offset)
{
#if PY_VERSION_HEX >= 0x030d0000
	PyCodeObject *code = (PyCodeObject *)code_object;
	long at = PyLong_AsLong(offset);

	if (at < 0 || at >= Py_SIZE(code) * 2) /* code units of two bytes */
		return false;
	int opcode = (unsigned char)code->co_code_adaptive[at];

	return opcode == RESUME || opcode == RESUME_CHECK || opcode == INSTRUMENTED_RESUME;
#else
	(void)code_object;
	(void)offset;
	return false;
#endif
}

HOOK(on_unwind)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		if (never_began(args[0], args[1]))
			thread->unmatched++;
		else if (lx_likely(lx_call_is_top(thread, args[0], LX_FUNCTION_KINDS)))
			lx_call_end(thread, args[0], LX_FUNCTION_KINDS, LX_EV_FUNCTION_UNWIND);
		else
			lx_python_end(thread, (PyCodeObject *)args[0], args[0], frame_here(), LX_EV_FUNCTION_UNWIND);
		leave(thread);
	}
	Py_RETURN_NONE;
}

/* False: its C calls are wanted for now. */
static inline bool may_be_unwanted(const struct lx_thread *thread, const struct lx_code_entry *entry, PyObject *code)
{
	uint32_t id = LX_LEXGION_ID(entry->word);

	if ((PyObject *)entry->code != code || !(entry->plan & LX_PLAN_C))
		return true;
	return entry->plan & LX_PLAN_SLOW && id < thread->count_space && thread->counts[id].used_up;
}

HOOK(on_call)
{
	PyObject *callable = args[2];

	if (!lx_is_c_function(callable) && lx_is_python_function(callable)) { /* has events of its own */
		struct lx_thread *self = lx_thread_self;
		bool done = self && !self->busy && may_be_unwanted(self, lx_code_likely(args[0]), args[0]) &&
			    lx_python_c_unwanted(self, (PyCodeObject *)args[0]);

		disabled |= done;
		return Py_NewRef(done ? disable : Py_None);
	}
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		const struct lx_code_entry *entry = lx_code_likely(args[0]);

		if (!is_plain(thread, entry, args[0]) || !(entry->plan & LX_PLAN_C))
			return leave_place(thread, lx_python_c_begin(thread, (PyCodeObject *)args[0], args[0], callable, callable));
		const struct lx_callable_entry found = lx_callable_look(callable);

		if (lx_unlikely(found.plan & LX_PLAN_SLOW))
			return leave_place(thread, lx_python_c_begin(thread, (PyCodeObject *)args[0], args[0], callable, callable));
		lx_call_begin(thread, callable, found.word, LX_EV_C_CALL_BEGIN);
		lx_hook_leave(thread);
	}
	Py_RETURN_NONE;
}

static inline void c_call_ends(PyObject *const *args, uint32_t kind)
{
	struct lx_thread *thread = lx_hook_enter();

	if (lx_likely(thread != NULL)) {
		/* 3.12.1 reports an end for some Python functions too: those have no open C call. */
		if (lx_likely(lx_call_is_top(thread, args[2], LX_C_CALL_KINDS)) || !lx_is_python_function(args[2]))
			lx_call_end(thread, args[2], LX_C_CALL_KINDS, kind);
		leave(thread);
	}
}

HOOK(on_c_return)
{
	c_call_ends(args, LX_EV_C_CALL_END);
	Py_RETURN_NONE;
}

HOOK(on_c_raise)
{
	c_call_ends(args, LX_EV_C_CALL_RAISE);
	Py_RETURN_NONE;
}

/* ---- Events: name in sys.monitoring.events, hook, whether it is set (or comes with CALL), whether C calls need it ---- */

static const struct event {
	const char *name;
	vectorcallfunc hook;
	bool set, c_calls;
} events[] = {
	{"PY_START", on_start, true, false},	{"PY_RESUME", on_resume, true, false},
	{"PY_RETURN", on_return, true, false},	{"PY_YIELD", on_yield, true, false},
	{"PY_THROW", on_throw, true, false},	{"PY_UNWIND", on_unwind, true, false},
	{"CALL", on_call, true, true},		{"C_RETURN", on_c_return, false, true},
	{"C_RAISE", on_c_raise, false, true},
};

#define EVENT_COUNT (sizeof(events) / sizeof(*events))

static PyTypeObject callback_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace._core.callback",
	.tp_basicsize = sizeof(struct callback),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_vectorcall_offset = offsetof(struct callback, call),
	.tp_call = PyVectorcall_Call,
	.tp_doc = "Receives one kind of event of sys.monitoring.",
};

/* One for each event, for as long as the process lives: it may be taken away while it runs. */
static struct callback callbacks[EVENT_COUNT] = {
	[0 ... EVENT_COUNT - 1] = {PyObject_HEAD_INIT(&callback_type) NULL},
};

static bool all_c; /* C calls are wanted of every function */

/* Ids that no tool of the standard library reserves. The program's own tools try 3 first: it is the last choice. */
static const int tool_ids[] = {4, 3};

static PyObject *monitoring(void)
{
	PyObject *module = PySys_GetObject("monitoring"); /* borrowed */

	if (!module)
		PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
	return module;
}

/* The tool id that is ours in the running interpreter, or -1. */
static int our_tool(PyObject *module)
{
	for (size_t i = 0; i < sizeof(tool_ids) / sizeof(*tool_ids); i++) {
		PyObject *name = PyObject_CallMethod(module, "get_tool", "i", tool_ids[i]);
		bool ours = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "lextrace") == 0;

		Py_XDECREF(name);
		PyErr_Clear();
		if (ours)
			return tool_ids[i];
	}
	return -1;
}

static int take_tool(PyObject *module)
{
	for (size_t i = 0; i < sizeof(tool_ids) / sizeof(*tool_ids); i++) {
		PyObject *done = PyObject_CallMethod(module, "use_tool_id", "is", tool_ids[i], "lextrace");

		if (done) {
			Py_DECREF(done);
			return tool_ids[i];
		}
		PyErr_Clear(); /* taken */
	}
	PyErr_SetString(PyExc_RuntimeError, "no free tool id in sys.monitoring: 3 and 4 are in use by other tools");
	return -1;
}

static long event_bit(PyObject *module, const char *name)
{
	PyObject *all = PyObject_GetAttrString(module, "events");
	PyObject *bit = all ? PyObject_GetAttrString(all, name) : NULL;
	long value = bit ? PyLong_AsLong(bit) : -1;

	Py_XDECREF(all);
	Py_XDECREF(bit);
	return value;
}

/* Registers the hook (NULL: none) of an event. */
static int register_hook(PyObject *module, int tool, const struct event *event, vectorcallfunc hook)
{
	long bit = event_bit(module, event->name);
	struct callback *callback = &callbacks[event - events];

	if (bit < 0)
		return -1;
	callback->call = event->hook;
	PyObject *object = hook ? (PyObject *)callback : Py_None;
	PyObject *done = PyObject_CallMethod(module, "register_callback", "ilO", tool, bit, object);

	Py_XDECREF(done);
	return done ? 0 : -1;
}

static int set_events(PyObject *module, int tool, long set)
{
	PyObject *done = PyObject_CallMethod(module, "set_events", "il", tool, set);

	Py_XDECREF(done);
	return done ? 0 : -1;
}

int lx_python_hooks_reserve(void)
{
	PyObject *module = monitoring();

	if (!module)
		return -1;
	return our_tool(module) >= 0 || take_tool(module) >= 0 ? 0 : -1;
}

/* Whether functions of which the configuration says nothing have their C calls recorded. */
static bool wants_all_c(void)
{
	static const uint32_t nobody[LX_PUNIT_KINDS_MAX] = {LX_NO_PUNIT, LX_NO_PUNIT, LX_NO_PUNIT};
	static const struct lx_subject any = {LX_DOMAIN_PYTHON, "", "", 0, 0, 0};
	const uint64_t c = 1u << LX_C_START | 1u << LX_C_RETURN;

	return (lx_rules_switches(lx_rules_now, lx_rules_section(lx_rules_now, &any), LX_DOMAIN_PYTHON, nobody) & c) ||
	       lx_rules_switches_vary(lx_rules_now, NULL, LX_DOMAIN_PYTHON);
}

int lx_python_hooks_set(void)
{
	PyObject *module = monitoring();
	int tool = module ? our_tool(module) : -1;
	long set = 0;

	if (tool < 0 || PyType_Ready(&callback_type) < 0)
		goto fail;
	if (!disable && !(disable = PyObject_GetAttrString(module, "DISABLE")))
		goto fail;
	all_c = wants_all_c();
	for (size_t i = 0; i < EVENT_COUNT; i++) {
		if (register_hook(module, tool, &events[i], events[i].hook) != 0)
			goto fail;
		if (events[i].set && (!events[i].c_calls || all_c))
			set |= event_bit(module, events[i].name);
	}
	if (set_events(module, tool, set) == 0)
		return 0;
fail:
	lx_python_hooks_clear(); /* keeps the exception */
	return -1;
}

void lx_python_hooks_rest(void)
{
	struct lx_exception saved = lx_exception_save();
	PyObject *module = monitoring();
	int tool = module ? our_tool(module) : -1;

	if (tool >= 0)
		set_events(module, tool, 0);
	PyErr_Clear();
	lx_exception_restore(saved);
}

void lx_python_hooks_restart(void)
{
	if (!disabled)
		return;
	disabled = lx_windows_spared = false;
	struct lx_exception saved = lx_exception_save();
	PyObject *module = monitoring();

	if (module)
		Py_XDECREF(PyObject_CallMethod(module, "restart_events", NULL));
	PyErr_Clear();
	lx_exception_restore(saved);
}

void lx_python_hooks_want_c(PyCodeObject *code)
{
	if (all_c)
		return;
	struct lx_exception saved = lx_exception_save();
	PyObject *module = monitoring();
	int tool = module ? our_tool(module) : -1;

	if (tool >= 0)
		Py_XDECREF(PyObject_CallMethod(module, "set_local_events", "iOl", tool, code, event_bit(module, "CALL")));
	PyErr_Clear();
	lx_exception_restore(saved);
}

void lx_python_hooks_clear(void)
{
	struct lx_exception saved = lx_exception_save();
	PyObject *module = monitoring();
	int tool = module ? our_tool(module) : -1;

	if (tool >= 0 && set_events(module, tool, 0) == 0) {
		for (size_t i = 0; i < EVENT_COUNT; i++)
			if (register_hook(module, tool, &events[i], NULL) != 0)
				PyErr_Clear();
		Py_XDECREF(PyObject_CallMethod(module, "free_tool_id", "i", tool));
	}
	PyErr_Clear();
	lx_exception_restore(saved);
}

#endif
