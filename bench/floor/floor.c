/*
 * Floors: what the interpreter's hooks cost when the hook does almost nothing. A tracer that uses the same hooks cannot
 * be faster than "empty", and hardly faster than "full", which does what the smallest useful tracer does for an event:
 * a re-entrance guard, an on/off word, the code object's own data, a clock read, a record into a small reused buffer.
 *
 *     monitor(kind)   sys.monitoring (3.12 and later), each callback an object with a vectorcall slot:
 *                     "empty", "full", "count", and "c_pair": empty callbacks of CALL, C_RETURN and C_RAISE alone
 *     profile(kind)   PyEval_SetProfile on the calling thread: "empty", "record", "count"
 *     counts()        (Python calls and resumptions, C calls) that "count" has seen
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <frameobject.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define RING_SIZE (8u << 20)

struct record {
	uint64_t ticks;
	const void *code;
	uint64_t kind;
};

static __thread struct record *ring __attribute__((tls_model("initial-exec")));
static __thread uint32_t ring_at __attribute__((tls_model("initial-exec")));
static uint64_t seen_calls, seen_c_calls;

/* The largest power of two of records that fits. */
#define RING_RECORDS 262144u
_Static_assert(RING_RECORDS * sizeof(struct record) <= RING_SIZE, "the ring has its size");

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static __attribute__((noinline)) void ring_open(void)
{
	ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		Py_FatalError("no memory for the ring");
}

static inline void put(const void *code, uint64_t kind)
{
	if (__builtin_expect(!ring, 0))
		ring_open();
	ring[ring_at++ & (RING_RECORDS - 1)] = (struct record){ticks(), code, kind};
}

#if PY_VERSION_HEX >= 0x030c0000

static __thread uint32_t busy __attribute__((tls_model("initial-exec")));
static volatile uint32_t switched_on = 1;
static Py_ssize_t extra_index = -1;

static inline uintptr_t extra_of(PyObject *code)
{
	void *extra = NULL;

	PyUnstable_Code_GetExtra(code, extra_index, &extra);
	if (__builtin_expect(!extra, 0)) {
		extra = (void *)(uintptr_t)0x101;
		PyUnstable_Code_SetExtra(code, extra_index, extra);
	}
	return (uintptr_t)extra;
}

static PyObject *on_empty(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
	(void)self, (void)args, (void)count, (void)names;
	Py_RETURN_NONE;
}

static inline void full(PyObject *code, uint64_t kind)
{
	if (busy || !switched_on)
		return;
	busy = 1;
	uintptr_t extra = extra_of(code);

	if (extra & 1)
		put(code, kind | extra << 8);
	busy = 0;
}

#define FULL(name, kind)                                                                                    \
	static PyObject *name(PyObject *self, PyObject *const *args, size_t count, PyObject *names)         \
	{                                                                                                   \
		(void)self, (void)count, (void)names;                                                       \
		full(args[0], kind);                                                                        \
		Py_RETURN_NONE;                                                                             \
	}
FULL(on_start, 0)
FULL(on_resume, 1)
FULL(on_return, 2)
FULL(on_yield, 3)
FULL(on_unwind, 4)
FULL(on_throw, 5)

static PyObject *on_call_counted(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
	(void)self, (void)args, (void)count, (void)names;
	seen_calls++;
	Py_RETURN_NONE;
}

static PyObject *on_c_end_counted(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
	(void)self, (void)args, (void)count, (void)names;
	seen_c_calls++;
	Py_RETURN_NONE;
}

struct hook {
	const char *kind, *event;
	vectorcallfunc call;
	int asked;              /* C_RETURN and C_RAISE come with CALL and may not be asked for */
};

static const struct hook hooks[] = {
	{"empty", "PY_START", on_empty, 1},
	{"empty", "PY_RESUME", on_empty, 1},
	{"empty", "PY_RETURN", on_empty, 1},
	{"empty", "PY_YIELD", on_empty, 1},
	{"empty", "PY_UNWIND", on_empty, 1},
	{"empty", "PY_THROW", on_empty, 1},
	{"full", "PY_START", on_start, 1},
	{"full", "PY_RESUME", on_resume, 1},
	{"full", "PY_RETURN", on_return, 1},
	{"full", "PY_YIELD", on_yield, 1},
	{"full", "PY_UNWIND", on_unwind, 1},
	{"full", "PY_THROW", on_throw, 1},
	{"count", "PY_START", on_call_counted, 1},
	{"count", "PY_RESUME", on_call_counted, 1},
	{"count", "PY_THROW", on_call_counted, 1},
	{"count", "CALL", on_empty, 1},
	{"count", "C_RETURN", on_c_end_counted, 0},
	{"count", "C_RAISE", on_c_end_counted, 0},
	{"c_pair", "CALL", on_empty, 1},
	{"c_pair", "C_RETURN", on_empty, 0},
	{"c_pair", "C_RAISE", on_empty, 0},
};

struct callback {
	PyObject_HEAD
	vectorcallfunc call;
};

static PyTypeObject callback_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace_floor.callback",
	.tp_basicsize = sizeof(struct callback),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_vectorcall_offset = offsetof(struct callback, call),
	.tp_call = PyVectorcall_Call,
};

/* Registers one callback; adds its event to *mask. Returns 0, or -1 with an exception. */
static int install(PyObject *monitoring, PyObject *events, const struct hook *hook, long *mask)
{
	PyObject *number = PyObject_GetAttrString(events, hook->event);
	struct callback *callback = number ? PyObject_New(struct callback, &callback_type) : NULL;
	PyObject *old = NULL;

	if (callback) {
		callback->call = hook->call;
		old = PyObject_CallMethod(monitoring, "register_callback", "iOO", 2, number, callback);
	}
	if (old && hook->asked)
		*mask |= PyLong_AsLong(number);
	Py_XDECREF(number);
	Py_XDECREF(callback);
	Py_XDECREF(old);
	return old ? 0 : -1;
}

static PyObject *monitor(PyObject *self, PyObject *kind)
{
	PyObject *monitoring = PySys_GetObject("monitoring");
	PyObject *events = PyObject_GetAttrString(monitoring, "events");
	const char *wanted = PyUnicode_AsUTF8(kind);
	PyObject *done;
	long mask = 0;

	(void)self;
	if (!events || !wanted)
		return NULL;
	done = PyObject_CallMethod(monitoring, "use_tool_id", "is", 2, "floor");
	if (!done)
		return NULL;
	Py_DECREF(done);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (strcmp(hooks[i].kind, wanted) == 0 && install(monitoring, events, &hooks[i], &mask) < 0)
			return NULL;
	Py_DECREF(events);
	if (mask == 0)
		return PyErr_Format(PyExc_ValueError, "no kind %s", wanted);
	return PyObject_CallMethod(monitoring, "set_events", "il", 2, mask);
}

#endif

static int profile_empty(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	(void)self, (void)frame, (void)what, (void)arg;
	return 0;
}

static int profile_record(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	PyCodeObject *code = PyFrame_GetCode(frame);

	(void)self, (void)arg;
	put(code, (uint64_t)what);
	Py_DECREF(code);
	return 0;
}

static int profile_count(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	(void)self, (void)frame, (void)arg;
	seen_calls += what == PyTrace_CALL;
	seen_c_calls += what == PyTrace_C_CALL;
	return 0;
}

static PyObject *profile(PyObject *self, PyObject *kind)
{
	const char *wanted = PyUnicode_AsUTF8(kind);

	(void)self;
	if (!wanted)
		return NULL;
	if (strcmp(wanted, "empty") == 0)
		PyEval_SetProfile(profile_empty, Py_None);
	else if (strcmp(wanted, "record") == 0)
		PyEval_SetProfile(profile_record, Py_None);
	else if (strcmp(wanted, "count") == 0)
		PyEval_SetProfile(profile_count, Py_None);
	else
		return PyErr_Format(PyExc_ValueError, "no kind %s", wanted);
	Py_RETURN_NONE;
}

static PyObject *counts(PyObject *self, PyObject *unused)
{
	(void)self, (void)unused;
	return Py_BuildValue("KK", (unsigned long long)seen_calls, (unsigned long long)seen_c_calls);
}

static PyMethodDef methods[] = {
#if PY_VERSION_HEX >= 0x030c0000
	{"monitor", monitor, METH_O, NULL},
#endif
	{"profile", profile, METH_O, NULL},
	{"counts", counts, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "lextrace_floor",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit_lextrace_floor(void)
{
#if PY_VERSION_HEX >= 0x030c0000
	if (PyType_Ready(&callback_type) < 0)
		return NULL;
	extra_index = PyUnstable_Eval_RequestCodeExtraIndex(NULL);
#endif
	return PyModule_Create(&module);
}
