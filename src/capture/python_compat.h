/* Every difference between the supported CPython versions (3.11 to 3.14) that capture has to know. */
#ifndef LX_CAPTURE_PYTHON_COMPAT_H
#define LX_CAPTURE_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030b0000
#error "lextrace needs CPython 3.11 or later"
#endif

#ifdef Py_GIL_DISABLED
#error "lextrace does not support free-threaded builds of CPython yet"
#endif

/* sys.monitoring is the source of events; before 3.12 it is the C profile function. */
#define LX_MONITORING (PY_VERSION_HEX >= 0x030c0000)

/* The current thread's state; NULL where there is none. */
static inline PyThreadState *lx_python_thread_state(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#else
	return _PyThreadState_UncheckedGet();
#endif
}

#if LX_MONITORING
/* The address of the running frame: what tells two generators of the same code apart. Never followed. */
static inline const void *lx_python_frame(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030d0000
	return state->current_frame;
#else
	return state->cframe->current_frame;
#endif
}
#endif

#if LX_MONITORING
/* Whether the generator has begun and waits. Its frame lies in it: gi_iframe is what lx_python_frame tells while it runs. */
static inline bool lx_generator_is_suspended(const PyGenObject *generator)
{
#if PY_VERSION_HEX >= 0x030d0000
	return generator->gi_frame_state == -2 || generator->gi_frame_state == -1; /* at a yield, at a yield from */
#else
	return generator->gi_frame_state == -1;
#endif
}
#endif

/* Extra slots of code objects. */
#if PY_VERSION_HEX >= 0x030c0000
#define lx_code_extra_request PyUnstable_Eval_RequestCodeExtraIndex
#define lx_code_extra_set PyUnstable_Code_SetExtra
#else
#define lx_code_extra_request _PyEval_RequestCodeExtraIndex
#define lx_code_extra_set _PyCode_SetExtra
#endif

/* The exception at hand, taken aside while a hook's rare part calls into CPython. */
struct lx_exception {
#if PY_VERSION_HEX >= 0x030c0000
	PyObject *value;
#else
	PyObject *type, *value, *traceback;
#endif
};

/* Whether there is one. */
static inline bool lx_exception_is(const struct lx_exception *saved)
{
#if PY_VERSION_HEX >= 0x030c0000
	return saved->value != NULL;
#else
	return saved->type != NULL;
#endif
}

static inline struct lx_exception lx_exception_save(void)
{
	struct lx_exception saved;

#if PY_VERSION_HEX >= 0x030c0000
	saved.value = PyErr_GetRaisedException();
#else
	PyErr_Fetch(&saved.type, &saved.value, &saved.traceback);
#endif
	return saved;
}

static inline void lx_exception_restore(struct lx_exception saved)
{
#if PY_VERSION_HEX >= 0x030c0000
	PyErr_SetRaisedException(saved.value);
#else
	PyErr_Restore(saved.type, saved.value, saved.traceback);
#endif
}

#endif
