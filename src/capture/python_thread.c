#include "capture/python.h"

#include <stdlib.h>
#include <unistd.h>

static PyObject *name_key, *active_key, *threading_key;

static bool keys_ready(void)
{
	if (!threading_key) {
		name_key = PyUnicode_InternFromString("_name");
		active_key = PyUnicode_InternFromString("_active");
		threading_key = PyUnicode_InternFromString("threading");
	}
	return name_key && active_key && threading_key;
}

/* The name of a threading.Thread, if nothing of its class could answer for the attribute. Borrowed text in `out`. */
static size_t name_of(PyObject *object, char *out, size_t space)
{
	if (Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr || _PyType_Lookup(Py_TYPE(object), name_key))
		return 0;
	PyObject *name = PyObject_GenericGetAttr(object, name_key);
	size_t size = name ? lx_text_of(name, out, space) : 0;

	Py_XDECREF(name);
	return size;
}

/* By threading's own table of running threads: plain dicts only. */
static size_t name_in_table(char *out, size_t space)
{
	PyObject *modules = PySys_GetObject("modules"); /* borrowed */
	PyObject *module = modules && PyDict_CheckExact(modules) ? PyDict_GetItemWithError(modules, threading_key) : NULL;

	if (!module || !PyModule_CheckExact(module))
		return 0;
	PyObject *active = PyDict_GetItemWithError(PyModule_GetDict(module), active_key);
	PyObject *ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
	PyObject *object = active && PyDict_CheckExact(active) && ident ? PyDict_GetItemWithError(active, ident) : NULL;
	size_t size = object ? name_of(object, out, space) : 0;

	Py_XDECREF(ident);
	return size;
}

/* A new thread begins in Thread._bootstrap, before threading's table knows it: the thread is that call's `self`. */
static size_t name_in_bootstrap(PyThreadState *state, char *out, size_t space)
{
	PyFrameObject *frame = PyThreadState_GetFrame(state);
	size_t size = 0;

	if (!frame)
		return 0;
	PyCodeObject *code = PyFrame_GetCode(frame);

	if (PyUnicode_CompareWithASCIIString(code->co_qualname, "Thread._bootstrap") == 0) {
#if PY_VERSION_HEX >= 0x030c0000
		PyObject *self = PyFrame_GetVarString(frame, "self");
#else
		PyObject *locals = PyFrame_GetLocals(frame);
		PyObject *self = locals ? PyDict_GetItemString(locals, "self") : NULL;

		Py_XINCREF(self);
		Py_XDECREF(locals);
#endif
		if (self)
			size = name_of(self, out, space);
		Py_XDECREF(self);
	}
	Py_DECREF(code);
	Py_DECREF(frame);
	return size;
}

/* ---- Numbers ---- */

/*
 * Threads are numbered as they start, also those whose events nobody wants to see: the audit event of a start takes a
 * number, and the thread that the interpreter makes next has it. Who ends unseen has had it.
 */
static struct numbered {
	uint64_t id;     /* PyThreadState_GetID */
	uint32_t number;
} *unseen;
static size_t unseen_count, unseen_space;
static uint64_t newest_id;   /* of a thread state, at the last look */
static uint32_t next_number; /* of the start that has not been found yet; 0: none */

static void add_unseen(uint64_t id, uint32_t number)
{
	if (unseen_count == unseen_space) {
		size_t space = unseen_space ? unseen_space * 2 : 64;
		struct numbered *larger = realloc(unseen, space * sizeof(*larger));

		if (!larger)
			return;
		unseen = larger;
		unseen_space = space;
	}
	unseen[unseen_count++] = (struct numbered){id, number};
}

/* Finds the thread of the last start: the oldest of those that are newer than what was there then. */
static void find_started(void)
{
	PyThreadState *state = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
	uint64_t first = 0, newest = newest_id;

	for (; state && PyThreadState_GetID(state) > newest_id; state = PyThreadState_Next(state)) {
		first = PyThreadState_GetID(state);
		if (first > newest)
			newest = first;
	}
	newest_id = newest;
	if (next_number && first)
		add_unseen(first, next_number);
	if (first)
		next_number = 0;
}

static bool is_main_interpreter(void)
{
	return PyInterpreterState_Get() == PyInterpreterState_Main();
}

void lx_python_thread_starts(void)
{
	if (!is_main_interpreter())
		return;
	find_started();
	next_number = lx_thread_number_take();
	PyThreadState *state = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

	if (state && PyThreadState_GetID(state) > newest_id)
		newest_id = PyThreadState_GetID(state);
}

/* The number that was taken for this thread when it was started. */
static void take_number(struct lx_thread *thread)
{
	uint64_t id = PyThreadState_GetID(lx_python_thread_state());

	if (thread->numbered || !is_main_interpreter() || thread->tid == (uint32_t)getpid())
		return;
	find_started();
	for (size_t i = unseen_count; i-- > 0;) {
		if (unseen[i].id != id)
			continue;
		thread->number = unseen[i].number;
		thread->numbered = true;
		unseen[i] = unseen[--unseen_count];
		return;
	}
}

void lx_python_threads_forget(void)
{
	unseen_count = 0;
	next_number = 0;
}

struct lx_thread *lx_python_thread_first(void)
{
	struct lx_thread *thread = lx_thread_get();
	char name[LX_THREAD_NAME_SIZE * 4];

	if (!thread)
		return NULL;
	struct lx_exception saved = lx_exception_save();

	lx_guard(thread, 1); /* what is called here may free objects, and so run code of the program: not recorded */
	if (keys_ready()) {
		size_t size = name_in_table(name, sizeof(name));

		if (size == 0)
			size = name_in_bootstrap(lx_python_thread_state(), name, sizeof(name));
		if (size > 0)
			lx_thread_name(thread, name, size);
		else if (thread->tid == (uint32_t)getpid())
			lx_thread_name(thread, "MainThread", 10); /* threading is not imported yet */
	}
	PyErr_Clear();
	take_number(thread);
	lx_meter_thread_placed(thread);
	if (lx_python_threads_coming > 0)
		lx_python_threads_coming--;
	lx_guard(thread, 0);
	lx_exception_restore(saved);
	return thread;
}

bool lx_python_special(struct lx_thread *thread)
{
	if (thread->special & ~LX_THREAD_OUTSIDE)
		lx_thread_special(thread);
	/* What it has open is written to the end. */
	return !(thread->special & LX_THREAD_OUTSIDE) || thread->stack.top > thread->stack.base;
}

void lx_python_look_for_greenlet(void)
{
	PyObject *modules = PySys_GetObject("modules"); /* borrowed */

	if (modules && PyDict_CheckExact(modules) && PyDict_GetItemString(modules, "greenlet"))
		lx_attention_set(LX_ATTENTION_STACKS);
}

/*
 * Frames of ordinary calls live in chunks of memory, linked to the first one of their stack. A greenlet brings chunks of
 * its own: another first chunk is another stack. Chunks also change as calls get deeper, so the neighbours are tried first.
 */
void lx_python_check_stack(struct lx_thread *thread, const PyThreadState *state)
{
	const _PyStackChunk *chunk = state->datastack_chunk;

	if (chunk == thread->mark)
		return;
	if (!chunk) { /* a greenlet in which only a generator runs: its frame lives elsewhere */
		lx_stack_switch(thread, thread);
	} else if ((!thread->mark || chunk->previous != thread->mark) && chunk != thread->mark_below) {
		const _PyStackChunk *root = chunk;

		while (root->previous)
			root = root->previous;
		lx_stack_switch(thread, root);
	}
	thread->mark = chunk;
	thread->mark_below = chunk ? chunk->previous : NULL;
}
