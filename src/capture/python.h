/*
 * The Python domain: what its files share. Everything here runs with the GIL held. No hook raises, and none runs code of
 * the program: no attribute look-up that a class could answer, no repr, no call.
 */
#ifndef LX_CAPTURE_PYTHON_H
#define LX_CAPTURE_PYTHON_H

#include "capture/python_compat.h"
#include "record/record.h"

#define LX_FUNCTION_KINDS (1u << LX_EV_FUNCTION_BEGIN | 1u << LX_EV_FUNCTION_RESUME)
#define LX_C_CALL_KINDS (1u << LX_EV_C_CALL_BEGIN)

/* ---- python_code.c: code objects to lexgion words ---- */

struct lx_code_entry {
	const PyCodeObject *code; /* NULL: free */
	uint32_t word;
};

extern struct lx_code_entry *lx_codes;
extern size_t lx_codes_mask;

static inline size_t lx_code_hash(const void *code)
{
	return (uint64_t)((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15u >> 24;
}

uint32_t lx_code_word_slow(PyCodeObject *code);

/* The lexgion word of a code object. One look at one table entry nearly always. */
static inline uint32_t lx_code_word(PyCodeObject *code)
{
	const struct lx_code_entry *entry = &lx_codes[lx_code_hash(code) & lx_codes_mask];

	return lx_likely(entry->code == code) ? entry->word : lx_code_word_slow(code);
}

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
};

#define LX_CALLABLES 4096u /* one place for each hash; the last callable met there holds it */

extern struct lx_callable_entry lx_callables[LX_CALLABLES];

static inline struct lx_callable_entry *lx_callable_entry(const void *key)
{
	return &lx_callables[lx_code_hash(key) & (LX_CALLABLES - 1)];
}

uint32_t lx_callable_word_slow(PyObject *callable);

/* The lexgion word of a C callable. Functions and methods, nearly all there is, take one look at one table entry. */
static inline uint32_t lx_callable_word(PyObject *callable)
{
	const PyMethodDef *method;

	if (Py_IS_TYPE(callable, &PyCFunction_Type))
		method = ((PyCFunctionObject *)callable)->m_ml;
	else if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
		method = ((PyMethodDescrObject *)callable)->d_method;
	else
		return lx_callable_word_slow(callable);
	const struct lx_callable_entry *entry = lx_callable_entry(method);

	return lx_likely(entry->key == method && entry->key2 == method->ml_name) ? entry->word
										  : lx_callable_word_slow(callable);
}

void lx_callables_start(void);

/* ---- python_thread.c ---- */

/* The calling thread's first event: its state, named. NULL: leave the event out. */
struct lx_thread *lx_python_thread_first(void);

/*
 * Set once greenlet is there: from then on each event looks whether the thread's stack is another one. Programs without it
 * are spared the look.
 */
extern bool lx_watch_stacks;
/* Sets it if greenlet is imported already. */
void lx_python_look_for_greenlet(void);
/* If the running stack of the thread is another one than at its last event, notes the greenlet switch. */
void lx_python_check_stack(struct lx_thread *thread, const PyThreadState *state);

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
	if (lx_unlikely(lx_watch_stacks))
		lx_python_check_stack(thread, lx_python_thread_state());
	return thread;
}

static inline void lx_hook_leave(struct lx_thread *thread)
{
	lx_guard(thread, 0);
}

/* ---- python_monitoring.c (3.12 and later) and python_profile.c (3.11): one of them is built in ---- */

/* Takes what the hooks need, before anything is recorded. 0, or -1 with RuntimeError set: no tool id is free. */
int lx_python_hooks_reserve(void);
/* Sets the hooks of the running interpreter. 0, or -1 with a Python exception set and what was reserved given back. */
int lx_python_hooks_set(bool c_calls);
/* Takes the running interpreter's hooks away; no harm where there are none. Never leaves an exception set. */
void lx_python_hooks_clear(void);

#endif
