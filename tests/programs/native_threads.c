/* Threads that C makes: each attaches to the interpreter, calls a Python function, and detaches. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <time.h>

struct job {
	PyObject *callback;
	long times;
	int linger;
};

static void *thread_main(void *context)
{
	struct job *job = context;

	for (long i = 0; i < job->times; i++) {
		PyGILState_STATE state = PyGILState_Ensure();
		PyObject *result = PyObject_CallFunction(job->callback, "l", i);

		if (!result)
			PyErr_Print();
		Py_XDECREF(result);
		PyGILState_Release(state);
	}
	if (job->linger)
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	return NULL;
}

/* run(callback, threads, times): all of them, to their end. */
static PyObject *run(PyObject *self, PyObject *args)
{
	struct job job = {0};
	pthread_t threads[64];
	int count;

	(void)self;
	if (!PyArg_ParseTuple(args, "Oil", &job.callback, &count, &job.times))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, thread_main, &job);
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(threads[i], NULL);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

/* linger(callback): one thread that calls once and is still there when the interpreter ends. */
static PyObject *linger(PyObject *self, PyObject *callback)
{
	static struct job job;
	pthread_t thread;

	(void)self;
	job = (struct job){callback, 1, 1};
	Py_INCREF(callback);
	pthread_create(&thread, NULL, thread_main, &job);
	pthread_detach(thread);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"run", run, METH_VARARGS, NULL},
	{"linger", linger, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "native_threads", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_native_threads(void)
{
	return PyModule_Create(&module);
}
