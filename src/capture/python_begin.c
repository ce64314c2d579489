/* Calls that are not simply written: under a window, counted, of a thread that does not record, of the import system. */
#include "capture/python.h"

#include <stdlib.h>

/* ---- Admitted calls that wait for their frame to go on, by frame ---- */

static struct waiting {
	const void *frame; /* NULL: free */
	struct lx_call call;
} *waiting;
static size_t waiting_mask, waiting_used;

static size_t place_of(const void *frame)
{
	size_t at = lx_code_hash(frame) & waiting_mask;

	while (waiting[at].frame && waiting[at].frame != frame)
		at = (at + 1) & waiting_mask;
	return at;
}

static bool grow_waiting(void)
{
	size_t old = waiting ? waiting_mask + 1 : 0, space = old ? old * 2 : 256;
	struct waiting *larger = calloc(space, sizeof(*larger)), *before = waiting;

	if (!larger)
		return false;
	waiting = larger;
	waiting_mask = space - 1;
	for (size_t i = 0; i < old; i++)
		if (before[i].frame)
			waiting[place_of(before[i].frame)] = before[i];
	free(before);
	return true;
}

static bool take_waiting(const void *frame, struct lx_call *call)
{
	if (!waiting_used)
		return false;
	size_t hole = place_of(frame);

	if (!waiting[hole].frame)
		return false;
	*call = waiting[hole].call;
	waiting[hole].frame = NULL;
	waiting_used--;
	/* Those behind the hole move up, so that no search ends too early. */
	for (size_t at = (hole + 1) & waiting_mask; waiting[at].frame; at = (at + 1) & waiting_mask) {
		size_t home = lx_code_hash(waiting[at].frame) & waiting_mask;

		if (((at - home) & waiting_mask) >= ((at - hole) & waiting_mask)) {
			waiting[hole] = waiting[at];
			waiting[at].frame = NULL;
			hole = at;
		}
	}
	return true;
}

static void keep_waiting(struct lx_thread *thread, const struct lx_call *call, const void *frame)
{
	if (call->kind % LX_MARKED != LX_EV_FUNCTION_BEGIN && call->kind % LX_MARKED != LX_EV_FUNCTION_RESUME)
		return;
	if ((!waiting || (waiting_used + 1) * 2 > waiting_mask) && !grow_waiting()) {
		thread->dropped++;
		return;
	}
	size_t at = place_of(frame);

	waiting_used += !waiting[at].frame;
	waiting[at] = (struct waiting){frame, *call};
}

void lx_suspended_forget(void)
{
	lx_call_suspended = keep_waiting;
	lx_rules_change = lx_python_rules_change;
	free(waiting);
	waiting = NULL;
	waiting_mask = waiting_used = 0;
}

/* ---- Imports ---- */

/* The name of the module that the running call of _find_and_load is about. */
static size_t module_of_frame(char *out, size_t space)
{
	struct lx_exception saved = lx_exception_save();
	PyFrameObject *frame = PyThreadState_GetFrame(lx_python_thread_state());
	PyObject *name = NULL;
	size_t size = 0;

#if PY_VERSION_HEX >= 0x030c0000
	if (frame)
		name = PyFrame_GetVarString(frame, "name");
#else
	PyObject *locals = frame ? PyFrame_GetLocals(frame) : NULL;

	name = locals ? Py_XNewRef(PyDict_GetItemString(locals, "name")) : NULL;
	Py_XDECREF(locals);
#endif
	if (name)
		size = lx_text_of(name, out, space);
	Py_XDECREF(name);
	Py_XDECREF(frame);
	PyErr_Clear();
	lx_exception_restore(saved);
	return size;
}

/* The call of the import system is known by its key; what it imports by the place behind it. */
static const void *import_key(const void *key)
{
	return (const char *)key + 1;
}

static void import_begins(struct lx_thread *thread, const void *key)
{
	char name[1024];
	struct lx_place place = {.name = name, .file = "", .domain = LX_DOMAIN_PYTHON, .flags = LX_LEXGION_IMPORT};

	place.name_size = module_of_frame(name, sizeof(name));
	if (place.name_size > 0)
		lx_call_begin(thread, import_key(key), lx_lexgion_define(&place), LX_EV_IMPORT_BEGIN);
}

static void import_ends(struct lx_thread *thread, const void *key, uint32_t kind)
{
	if (lx_call_is_top(thread, import_key(key), LX_IMPORT_KINDS))
		lx_call_end(thread, import_key(key), LX_IMPORT_KINDS,
			    kind == LX_EV_FUNCTION_UNWIND ? LX_EV_IMPORT_UNWIND : LX_EV_IMPORT_END);
}

/* ---- Functions ---- */

/* An admitted call goes on; another is opened as one that is not recorded. */
static bool resume(struct lx_thread *thread, uint32_t id, const void *key, const void *frame, uint32_t word)
{
	struct lx_call call;

	if (take_waiting(frame, &call)) {
		call.key = key;
		call.kind = LX_MARKED + LX_EV_FUNCTION_RESUME;
		lx_call_begin_marked(thread, &call, !(call.marks & LX_CALL_NO_BEGIN));
		return false;
	}
	if (lx_meter_is_done(thread, id))
		return true;
	lx_quiet_begin(thread, key, word, LX_EV_FUNCTION_RESUME);
	return false;
}

/* A new generator in the place of one that ended without a word (3.13 closes those that wait silently). */
static void forget_waiting(struct lx_thread *thread, const void *frame)
{
	struct lx_call call;

	if (take_waiting(frame, &call)) {
		call.marks &= (uint16_t)~LX_CALL_LAST;
		lx_meter_call_ended(thread, &call);
	}
}

bool lx_python_begin(struct lx_thread *thread, PyCodeObject *code, const void *key, const void *frame, uint32_t kind)
{
	const struct lx_code_entry found = lx_code_look(code);
	uint32_t id = LX_LEXGION_ID(found.word);
	bool done = false;

	if (thread->special & LX_THREAD_OUTSIDE) {
		lx_quiet_begin(thread, key, found.word, kind);
		return false;
	}
	if (found.plan & LX_PLAN_COUNT) {
		lx_counted_begin(thread, key, found.word, kind);
	} else if (!(found.plan & LX_PLAN_SLOW) || (found.plan == (LX_PLAN_SLOW | LX_PLAN_IMPORT))) {
		lx_call_begin(thread, key, found.word, kind);
	} else if (found.plan & LX_PLAN_NEVER && kind == LX_EV_FUNCTION_BEGIN) {
		done = lx_meter_is_done(thread, id);
		if (!done)
			lx_quiet_begin(thread, key, found.word, kind);
	} else if (kind == LX_EV_FUNCTION_RESUME) {
		done = resume(thread, id, key, frame, found.word);
	} else {
		const struct lx_call call = {key, found.word, LX_MARKED + LX_EV_FUNCTION_BEGIN,
					     found.plan & LX_PLAN_C ? LX_CALL_C : 0, 0, 0};

		if (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))
			forget_waiting(thread, frame);
		done = lx_metered_begin(thread, id, &call, 0);
	}
	if (found.plan & LX_PLAN_IMPORT) {
		import_begins(thread, key);
		return false;
	}
	return done;
}

bool lx_python_end(struct lx_thread *thread, const PyCodeObject *code, const void *key, const void *frame, uint32_t kind)
{
	const struct lx_code_entry found = lx_code_known(code);
	const uint64_t kinds = LX_FUNCTION_KINDS | LX_FUNCTION_KINDS << LX_MARKED;
	bool slow = found.code && found.plan & LX_PLAN_SLOW && !(found.plan & (LX_PLAN_COUNT | LX_PLAN_UNDECIDED));

	if (found.plan & LX_PLAN_IMPORT)
		import_ends(thread, key, kind);
	/* Of a function that nobody records, what is not the innermost call was not opened. */
	if (!slow || lx_call_is_top(thread, key, kinds) || !lx_meter_is_done(thread, LX_LEXGION_ID(found.word))) {
		if (kind == LX_EV_FUNCTION_YIELD)
			lx_call_suspend(thread, key, frame, LX_FUNCTION_KINDS, kind);
		else
			lx_call_end(thread, key, LX_FUNCTION_KINDS, kind);
	}
	return slow && kind != LX_EV_FUNCTION_UNWIND && !(found.plan & LX_PLAN_IMPORT) && lx_meter_is_done(thread, LX_LEXGION_ID(found.word));
}

/* ---- C calls ---- */

static struct lx_call *top_call(struct lx_thread *thread)
{
	return thread->stack.top > thread->stack.base ? thread->stack.top - 1 : NULL;
}

/* Whether a C call of this call may be written, by the bound of its window. */
static bool within_bound(const struct lx_meter *meter, struct lx_call *caller)
{
	if (meter->window.max_c_traces >= 0 && caller->other >= (uint64_t)meter->window.max_c_traces) {
		lx_session_state()->bounded++;
		return false;
	}
	caller->other++;
	return true;
}

static uint32_t c_switches(struct lx_thread *thread, uint32_t id)
{
	const struct lx_count *count = id < thread->count_space ? &thread->counts[id] : NULL;

	return count && count->row ? count->switches >> LX_C_START & 3u : 3u;
}

static void open_c_call(struct lx_thread *thread, const void *key, PyObject *callable, uint32_t switches)
{
	const struct lx_callable_entry found = lx_callable_look(callable);
	struct lx_call call = {key, found.word, LX_MARKED + LX_EV_C_CALL_BEGIN, 0, 0, 0};

	if (!(found.plan & LX_PLAN_SLOW) && switches == 3u)
		lx_call_begin(thread, key, found.word, LX_EV_C_CALL_BEGIN);
	else if (found.plan & LX_PLAN_NEVER)
		lx_quiet_begin(thread, key, found.word, LX_EV_C_CALL_BEGIN);
	else if (found.plan & LX_PLAN_SLOW) {
		if (lx_metered_begin(thread, LX_LEXGION_ID(found.word), &call, switches))
			lx_quiet_begin(thread, key, found.word, LX_EV_C_CALL_BEGIN);
	} else {
		call.marks = switches & 2u ? 0 : LX_CALL_QUIET;
		lx_call_begin_marked(thread, &call, switches & 1u);
	}
}

bool lx_python_c_begin(struct lx_thread *thread, PyCodeObject *code, const void *caller, const void *key, PyObject *callable)
{
	const struct lx_code_entry found = lx_code_look(code);
	uint32_t id = LX_LEXGION_ID(found.word);
	struct lx_call *top = top_call(thread);
	bool of_caller = top && top->key == caller && (LX_FUNCTION_KINDS << LX_MARKED) >> top->kind & 1;

	if (of_caller && top->marks & LX_CALL_ADMITTED) {
		struct lx_meter *meter = lx_meter_at(id);

		if (top->marks & LX_CALL_C && found.plan & LX_PLAN_C && c_switches(thread, id) && meter &&
		    within_bound(meter, top)) {
			open_c_call(thread, key, callable, c_switches(thread, id));
			return false;
		}
	} else if (found.plan & LX_PLAN_COUNT && found.plan & LX_PLAN_C && !(thread->special & LX_THREAD_OUTSIDE)) {
		lx_counted_begin(thread, key, lx_callable_look(callable).word, LX_EV_C_CALL_BEGIN);
		return false;
	} else if (!of_caller && !(found.plan & LX_PLAN_SLOW) && found.plan & LX_PLAN_C) {
		open_c_call(thread, key, callable, 3u);
		return false;
	}
	if (!(found.plan & LX_PLAN_C) || (found.plan & LX_PLAN_SLOW && lx_meter_is_done(thread, id)))
		return true;
	lx_quiet_begin(thread, key, found.word, LX_EV_C_CALL_BEGIN);
	return false;
}

bool lx_python_c_unwanted(struct lx_thread *thread, const PyCodeObject *code)
{
	const struct lx_code_entry found = lx_code_known(code);

	if (!found.code || found.plan & LX_PLAN_UNDECIDED)
		return false;
	return !(found.plan & LX_PLAN_C) || (found.plan & LX_PLAN_SLOW && lx_meter_is_done(thread, LX_LEXGION_ID(found.word)));
}

/* ---- Generators that wait while the rules change ---- */

#if LX_MONITORING

/* One that waits, whose call was simply written so far, stays admitted under the new rules. */
static int admit_generator(PyObject *object, void *unused)
{
	PyTypeObject *type = Py_TYPE(object);

	(void)unused;
	if (type != &PyGen_Type && type != &PyCoro_Type && type != &PyAsyncGen_Type)
		return 1;
	PyGenObject *generator = (PyGenObject *)object;

	if (!lx_generator_is_suspended(generator))
		return 1;
	PyCodeObject *code = PyGen_GetCode(generator);
	const struct lx_code_entry found = lx_code_known(code);
	struct lx_meter *meter = found.code ? lx_meter_at(LX_LEXGION_ID(found.word)) : NULL;

	if (meter && !(found.plan & LX_PLAN_SLOW)) {
		const struct lx_call call = {code, found.word, LX_MARKED + LX_EV_FUNCTION_RESUME,
					     LX_CALL_ADMITTED | LX_CALL_C, 0, 0};

		keep_waiting(lx_thread_self, &call, generator->gi_iframe);
		meter->open++;
	}
	Py_DECREF(code);
	return 1;
}

void lx_python_rules_change(void)
{
	if (lx_thread_self && lx_mode(LX_DOMAIN_PYTHON) == LX_MODE_TRACING)
		PyUnstable_GC_VisitObjects(admit_generator, NULL);
}

#else

void lx_python_rules_change(void)
{
}

#endif
