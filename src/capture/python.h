/*
 * The Python domain: what its files share. Everything here runs with the GIL held. No hook raises, and none runs code of
 * the program: no attribute look-up that a class could answer, no repr, no call.
 */
#ifndef LX_CAPTURE_PYTHON_H
#define LX_CAPTURE_PYTHON_H

#include "capture/meter.h"
#include "capture/python_compat.h"
#include "record/record.h"

#define LX_FUNCTION_KINDS (1ull << LX_EV_FUNCTION_BEGIN | 1ull << LX_EV_FUNCTION_RESUME)
#define LX_C_CALL_KINDS (1ull << LX_EV_C_CALL_BEGIN)
#define LX_IMPORT_KINDS (1ull << LX_EV_IMPORT_BEGIN)

/* ---- python_code.c: code objects to lexgion words ---- */

struct lx_code_entry {
	const PyCodeObject *code; /* NULL: free */
	uint32_t word;
	uint32_t plan; /* LX_PLAN_* */
};

extern struct lx_code_entry *lx_codes;
extern size_t lx_codes_mask;

static inline size_t lx_code_hash(const void *code)
{
	return (uint64_t)((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15u >> 24;
}

/* The entry where the code object is, if it is where its hash says, as nearly always. */
static inline const struct lx_code_entry *lx_code_likely(const void *code)
{
	return &lx_codes[lx_code_hash(code) & lx_codes_mask];
}

/* Its lexgion word and plan, decided now if they are not yet. word 0: it could not be defined. */
struct lx_code_entry lx_code_look(PyCodeObject *code);
/* The same if it was met before; else word 0 and no plan. */
struct lx_code_entry lx_code_known(const PyCodeObject *code);

/* Readies the tables for a session, and the running interpreter's code objects. 0 or -ENOMEM. */
int lx_codes_start(void);

/* The text of a str as format.h wants it: UTF-8, a lone surrogate as its 3 bytes. At most `space` bytes. */
size_t lx_text_of(PyObject *string, char *out, size_t space);

/* ---- python_callable.c: C callables to lexgion words ---- */

/* True for what runs as a Python function: it has events of its own and no C call. */
static inline bool lx_is_python_function(PyObject *callable)
{
	return PyFunction_Check(callable) || (PyMethod_Check(callable) && PyFunction_Check(PyMethod_GET_FUNCTION(callable)));
}

/* The kinds of callable that nearly all C calls are of. */
static inline bool lx_is_c_function(PyObject *callable)
{
	return Py_IS_TYPE(callable, &PyCFunction_Type) || Py_IS_TYPE(callable, &PyMethodDescr_Type);
}

struct lx_callable_entry {
	const void *key, *key2;
	uint64_t name_hash;
	uint32_t word;
	uint32_t plan;
};

#define LX_CALLABLES 4096u /* one place for each hash; the last callable met there holds it */

extern struct lx_callable_entry lx_callables[LX_CALLABLES];

static inline struct lx_callable_entry *lx_callable_entry(const void *key)
{
	return &lx_callables[lx_code_hash(key) & (LX_CALLABLES - 1)];
}

/* Word and plan of a C callable. */
struct lx_callable_entry lx_callable_look_slow(PyObject *callable);

/* Functions and methods, nearly all there is, take one look at one table entry. */
static inline struct lx_callable_entry lx_callable_look(PyObject *callable)
{
	const PyMethodDef *method;

	if (Py_IS_TYPE(callable, &PyCFunction_Type))
		method = ((PyCFunctionObject *)callable)->m_ml;
	else if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
		method = ((PyMethodDescrObject *)callable)->d_method;
	else
		return lx_callable_look_slow(callable);
	const struct lx_callable_entry *entry = lx_callable_entry(method);

	return lx_likely(entry->key == method && entry->key2 == method->ml_name) ? *entry
										  : lx_callable_look_slow(callable);
}

void lx_callables_start(void);
/* Their plans are to be decided anew. */
void lx_callables_undecide(void);

/* ---- python_thread.c ---- */

/* A thread is about to be started. */
void lx_python_thread_starts(void);
/* In a forked child: no other thread is left. */
void lx_python_threads_forget(void);
/* The calling thread's first event: its state, named. NULL: leave the event out. */
struct lx_thread *lx_python_thread_first(void);

/*
 * Once greenlet is there, LX_ATTENTION_STACKS is set: from then on each event looks whether the thread's stack is another
 * one. Programs without it are spared the look. This sets it if greenlet is imported already.
 */
void lx_python_look_for_greenlet(void);
/* If the running stack of the thread is another one than at its last event, notes the greenlet switch. */
void lx_python_check_stack(struct lx_thread *thread, const PyThreadState *state);

/* Something waits: greenlets, a reload, a request, the end of a window, a pause. With the thread's guard set. */
void lx_python_attend(struct lx_thread *thread);
/* The thread is not like others. False: leave the event out. */
bool lx_python_special(struct lx_thread *thread);

/* First lines of every hook: the thread, with its guard set; NULL: leave the event out. lx_hook_leave is its end. */
static inline struct lx_thread *lx_hook_enter(void)
{
	struct lx_thread *thread = lx_thread_self;

	if (lx_unlikely(!thread || thread->busy)) {
		if (thread) {
			thread->reentered++;
			return NULL;
		}
		thread = lx_python_thread_first();
		if (!thread)
			return NULL;
	}
	lx_guard(thread, 1);
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED)))
		lx_python_attend(thread);
	if (lx_unlikely(thread->special) && !lx_python_special(thread)) {
		lx_guard(thread, 0);
		return NULL;
	}
	return thread;
}

static inline void lx_hook_leave(struct lx_thread *thread)
{
	lx_guard(thread, 0);
}

/* ---- python_begin.c: calls that are not simply written ---- */

/*
 * A call begins or is resumed. `key` tells it from others on the stack, `frame` from others of the same code. True: nothing
 * was opened, and no thread wants this place any more.
 */
bool lx_python_begin(struct lx_thread *thread, PyCodeObject *code, const void *key, const void *frame, uint32_t kind);
/* It ends or is suspended. True: no thread wants this place any more. */
bool lx_python_end(struct lx_thread *thread, const PyCodeObject *code, const void *key, const void *frame, uint32_t kind);
/* A C call begins: `key` for the C call, `caller` for the call it is made from. As above. */
bool lx_python_c_begin(struct lx_thread *thread, PyCodeObject *code, const void *caller, const void *key, PyObject *callable);
/* Whether no thread wants C calls from this code any more. */
bool lx_python_c_unwanted(struct lx_thread *thread, const PyCodeObject *code);
/* Before the rules change: calls that wait now stay what they are. */
void lx_python_rules_change(void);
/* A session begins, or a child was forked: suspended calls belong to what was before. */
void lx_suspended_forget(void);

/* ---- python_control.c: modes, reload and requests, as far as they are Python's ---- */

/* Takes SIGUSR1, if this is the main thread. */
void lx_python_signal_take(void);
void lx_python_signal_give_back(void);
/* Watches threads start. 0, or -1 with an exception. */
int lx_python_audit(void);
/* Sets the hooks as the mode of the domain wants them, in the running interpreter. 0, or -1 with an exception. */
int lx_python_mode_apply(void);
/* Reads the configuration now. 0, or -1 with ValueError: what was wrong. */
int lx_python_reload(void);

/* ---- python_monitoring.c (3.12 and later) and python_profile.c (3.11): one of them is built in ---- */

/* Takes what the hooks need, before anything is recorded. 0, or -1 with RuntimeError set: no tool id is free. */
int lx_python_hooks_reserve(void);
/* Sets the hooks of the running interpreter. 0, or -1 with a Python exception set and what was reserved given back. */
int lx_python_hooks_set(void);
/* No event comes until they are set again; the tool id stays ours. */
void lx_python_hooks_rest(void);
/* Places that were spared send events again. */
void lx_python_hooks_restart(void);
/* C calls of this code are wanted: only called where they are not wanted of all code. */
void lx_python_hooks_want_c(PyCodeObject *code);
/* Takes the running interpreter's hooks away; no harm where there are none. Never leaves an exception set. */
void lx_python_hooks_clear(void);

#endif
