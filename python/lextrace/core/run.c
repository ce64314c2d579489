/*
 * Runs of generators, coroutines and async generators: an object in front of the one that the function gave, of the same
 * class for whoever asks, that opens the region while a step is under way and lets it wait in between.
 */
#include "core/annotation.h"

#include <stddef.h>

struct run {
	PyObject_HEAD
	PyObject *inner, *weak;
	lx_decorated *decorated;
	PyObject **values;      /* of the parameters, until the run has begun; NULL: none */
	struct lx_run run;
	void *step;             /* of an async generator: the one under way, also while it waits */
	bool over;
};

/* A step of an async generator: what its __anext__, asend, athrow or aclose gave. */
struct step {
	PyObject_HEAD
	PyObject *inner;
	struct run *run;
	bool starts;            /* what it sends may begin the run */
	bool closes;            /* of aclose(): the run is over with it */
};

static PyTypeObject generator_type, coroutine_type, async_generator_type, step_type;

/* ---- The region of a run ---- */

static void drop_values(struct run *self)
{
	for (Py_ssize_t i = 0; self->values && i < self->decorated->parameter_count; i++)
		Py_XDECREF(self->values[i]);
	PyMem_Free(self->values);
	self->values = NULL;
}

/* The step has come to a yield or await; or the run has ended, by an exception that is not its return or not. */
static void leave(struct run *self, bool ended, bool unwinding)
{
	struct lx_exception saved = lx_exception_save();

	if (lx_session_active())
		lx_annotation_attend();
	if (ended) {
		self->over = true;
		lx_run_end(&self->run, self->decorated->place.plan, unwinding);
	} else {
		lx_run_suspend(&self->run);
	}
	if (*lx_attention & LX_ATTENTION_WORK)
		lx_annotation_attend();
	lx_exception_restore(saved);
}

/*
 * 1: this step is followed; 0: it is not: another one is under way, the run is over, or nothing records; -1: an exception
 * that came while its arguments were read. `starts`: what has not begun does so by it, as it does by being sent None.
 */
static int enter(struct run *self, bool starts)
{
	struct lx_annotation *place = &self->decorated->place;

	if (self->over || self->run.open || (self->run.number == 0 && !starts) || !lx_annotation_ready(place))
		return 0;
	if (self->run.number > 0) {
		lx_run_resume(&self->run, place->word, place->plan);
		return 1;
	}
	int result = 0;

	lx_run_begin(&self->run, place->word, place->plan);
	if (self->run.open && (self->values || self->decorated->comp))
		result = lx_parameters_add(self->decorated, self->values);
	drop_values(self);
	if (result == 0)
		return 1;
	leave(self, true, true);
	return -1;
}

static PySendResult send(struct run *self, PyObject *value, PyObject **result)
{
	int entered = enter(self, value == Py_None);

	if (entered < 0)
		return PYGEN_ERROR;
	PySendResult how = PyIter_Send(self->inner, value, result);

	if (entered)
		leave(self, how != PYGEN_NEXT, how == PYGEN_ERROR);
	return how;
}

/* Of the result of PyIter_Send what a method gives: a value, or NULL with StopIteration. */
static PyObject *as_value(PySendResult how, PyObject *result)
{
	if (how != PYGEN_RETURN)
		return result;
	PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, result);

	if (stop)
		PyErr_SetObject(PyExc_StopIteration, stop);
	Py_XDECREF(stop);
	Py_DECREF(result);
	return NULL;
}

static PyObject *as_next(PySendResult how, PyObject *result)
{
	if (how == PYGEN_RETURN && result == Py_None) {
		Py_DECREF(result);
		return NULL;
	}
	return as_value(how, result);
}

static PyObject *next_item(struct run *self)
{
	PyObject *result = NULL;
	PySendResult how = send(self, Py_None, &result);

	return as_next(how, result);
}

static PyObject *send_method(struct run *self, PyObject *value)
{
	PyObject *result = NULL;
	PySendResult how = send(self, value, &result);

	return as_value(how, result);
}

static PyObject *call_method(PyObject *object, const char *name, PyObject *args)
{
	PyObject *method = PyObject_GetAttrString(object, name);
	PyObject *result = method ? PyObject_CallObject(method, args) : NULL;

	Py_XDECREF(method);
	return result;
}

static PyObject *throw_method(struct run *self, PyObject *args)
{
	bool entered = enter(self, false) > 0;
	PyObject *result = call_method(self->inner, "throw", args);

	if (entered)
		leave(self, !result, !result && !PyErr_ExceptionMatches(PyExc_StopIteration));
	return result;
}

static PyObject *close_method(struct run *self, PyObject *Py_UNUSED(none))
{
	bool entered = enter(self, false) > 0;
	PyObject *result = call_method(self->inner, "close", NULL);

	if (entered)
		leave(self, true, !result);
	return result;
}

/* ---- The object ---- */

static PyObject *get_attribute(PyObject *object, PyObject *name)
{
	return lx_attribute_of(object, name, ((struct run *)object)->inner);
}

static int set_attribute(PyObject *object, PyObject *name, PyObject *value)
{
	return PyObject_SetAttr(((struct run *)object)->inner, name, value);
}

static PyObject *get_class(struct run *self, void *Py_UNUSED(unused))
{
	return Py_NewRef(Py_TYPE(self->inner));
}

static PyObject *repr(struct run *self)
{
	return PyObject_Repr(self->inner);
}

static int traverse(struct run *self, visitproc visit, void *arg)
{
	Py_VISIT(self->inner);
	Py_VISIT(self->decorated);
	for (Py_ssize_t i = 0; self->values && i < self->decorated->parameter_count; i++)
		Py_VISIT(self->values[i]);
	return 0;
}

/* What waited and is given up ends here; what it still runs to that end is part of it. */
static void dealloc(struct run *self)
{
	PyObject_GC_UnTrack(self);
	if (self->weak)
		PyObject_ClearWeakRefs((PyObject *)self);
	struct lx_exception saved = lx_exception_save();
	bool entered = enter(self, false) > 0;

	Py_CLEAR(self->inner);
	if (entered)
		leave(self, true, false);
	lx_exception_restore(saved);
	drop_values(self);
	Py_CLEAR(self->decorated);
	Py_TYPE(self)->tp_free(self);
}

static PyGetSetDef attributes[] = {
	{"__class__", (getter)get_class, NULL, NULL, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
	{"send", (PyCFunction)send_method, METH_O, NULL},
	{"throw", (PyCFunction)throw_method, METH_VARARGS, NULL},
	{"close", (PyCFunction)close_method, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyAsyncMethods generator_async = {.am_send = (sendfunc)send};
static PyAsyncMethods coroutine_async = {.am_await = PyObject_SelfIter, .am_send = (sendfunc)send};

#define RUN(title)                                                                                 \
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = title, .tp_basicsize = sizeof(struct run),        \
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_getattro = get_attribute,         \
	.tp_setattro = set_attribute, .tp_repr = (reprfunc)repr, .tp_traverse = (traverseproc)traverse, \
	.tp_dealloc = (destructor)dealloc, .tp_getset = attributes, .tp_weaklistoffset = offsetof(struct run, weak)

static PyTypeObject generator_type = {
	RUN("lextrace.generator"), .tp_as_async = &generator_async, .tp_iter = PyObject_SelfIter,
	.tp_iternext = (iternextfunc)next_item, .tp_methods = methods,
};

static PyTypeObject coroutine_type = {
	RUN("lextrace.coroutine"), .tp_as_async = &coroutine_async, .tp_iternext = (iternextfunc)next_item,
	.tp_methods = methods,
};

/* ---- Async generators ---- */

/* A step gives the next value by returning: the run waits. Its end is an exception. */
static void leave_step(struct step *self, PySendResult how)
{
	bool ended = how == PYGEN_ERROR || (how == PYGEN_RETURN && self->closes);
	bool unwinding = how == PYGEN_ERROR && !PyErr_ExceptionMatches(PyExc_StopAsyncIteration) && !self->closes;

	if (how != PYGEN_NEXT)
		self->run->step = NULL;
	leave(self->run, ended, unwinding);
}

/* What comes while another step waits is refused by the generator, and no part of its run. */
static int enter_step(struct step *self, bool starts)
{
	if (self->run->step && self->run->step != self)
		return 0;
	int entered = enter(self->run, starts);

	if (entered > 0)
		self->run->step = self;
	return entered;
}

static PySendResult send_step(struct step *self, PyObject *value, PyObject **result)
{
	int entered = enter_step(self, self->starts && value == Py_None);

	if (entered < 0)
		return PYGEN_ERROR;
	PySendResult how = PyIter_Send(self->inner, value, result);

	if (entered)
		leave_step(self, how);
	return how;
}

static PyObject *step_next(struct step *self)
{
	PyObject *result = NULL;
	PySendResult how = send_step(self, Py_None, &result);

	return as_next(how, result);
}

static PyObject *step_send(struct step *self, PyObject *value)
{
	PyObject *result = NULL;
	PySendResult how = send_step(self, value, &result);

	return as_value(how, result);
}

static PyObject *step_throw(struct step *self, PyObject *args)
{
	bool entered = enter_step(self, false) > 0;
	PyObject *result = call_method(self->inner, "throw", args);

	if (entered)
		leave_step(self, result ? PYGEN_NEXT : PyErr_ExceptionMatches(PyExc_StopIteration) ? PYGEN_RETURN : PYGEN_ERROR);
	return result;
}

static PyObject *step_close(struct step *self, PyObject *Py_UNUSED(none))
{
	return call_method(self->inner, "close", NULL);
}

static PyObject *step_get_class(struct step *self, void *Py_UNUSED(unused))
{
	return Py_NewRef(Py_TYPE(self->inner));
}

static int step_traverse(struct step *self, visitproc visit, void *arg)
{
	Py_VISIT(self->inner);
	Py_VISIT(self->run);
	return 0;
}

static void step_dealloc(struct step *self)
{
	PyObject_GC_UnTrack(self);
	if (self->run && self->run->step == self)
		self->run->step = NULL;
	Py_CLEAR(self->inner);
	Py_CLEAR(self->run);
	Py_TYPE(self)->tp_free(self);
}

static PyAsyncMethods step_async = {.am_await = PyObject_SelfIter, .am_send = (sendfunc)send_step};

static PyGetSetDef step_attributes[] = {
	{"__class__", (getter)step_get_class, NULL, NULL, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef step_methods[] = {
	{"send", (PyCFunction)step_send, METH_O, NULL},
	{"throw", (PyCFunction)step_throw, METH_VARARGS, NULL},
	{"close", (PyCFunction)step_close, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyTypeObject step_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace.async_generator_step",
	.tp_basicsize = sizeof(struct step),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_as_async = &step_async,
	.tp_iter = PyObject_SelfIter,
	.tp_iternext = (iternextfunc)step_next,
	.tp_traverse = (traverseproc)step_traverse,
	.tp_dealloc = (destructor)step_dealloc,
	.tp_getset = step_attributes,
	.tp_methods = step_methods,
};

/* Steals `inner`, which may be NULL with an exception. */
static PyObject *new_step(struct run *run, PyObject *inner, bool starts, bool closes)
{
	struct step *self = inner ? (struct step *)step_type.tp_alloc(&step_type, 0) : NULL;

	if (!self) {
		Py_XDECREF(inner);
		return NULL;
	}
	self->inner = inner;
	self->run = (struct run *)Py_NewRef(run);
	self->starts = starts;
	self->closes = closes;
	return (PyObject *)self;
}

static PyObject *async_next(struct run *self)
{
	return new_step(self, Py_TYPE(self->inner)->tp_as_async->am_anext(self->inner), true, false);
}

static PyObject *async_send(struct run *self, PyObject *args)
{
	return new_step(self, call_method(self->inner, "asend", args),
			PyTuple_GET_SIZE(args) == 1 && PyTuple_GET_ITEM(args, 0) == Py_None, false);
}

static PyObject *async_throw(struct run *self, PyObject *args)
{
	return new_step(self, call_method(self->inner, "athrow", args), false, false);
}

static PyObject *async_close(struct run *self, PyObject *Py_UNUSED(none))
{
	return new_step(self, call_method(self->inner, "aclose", NULL), false, true);
}

static PyAsyncMethods async_generator_async = {.am_aiter = PyObject_SelfIter, .am_anext = (unaryfunc)async_next};

static PyMethodDef async_methods[] = {
	{"asend", (PyCFunction)async_send, METH_VARARGS, NULL},
	{"athrow", (PyCFunction)async_throw, METH_VARARGS, NULL},
	{"aclose", (PyCFunction)async_close, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyTypeObject async_generator_type = {
	RUN("lextrace.async_generator"), .tp_as_async = &async_generator_async, .tp_methods = async_methods,
};

/* ---- Making ---- */

PyObject *lx_run_new(lx_decorated *decorated, PyObject *inner, PyObject **values)
{
	PyTypeObject *type = PyAsyncGen_CheckExact(inner) ? &async_generator_type
			     : PyCoro_CheckExact(inner)	  ? &coroutine_type
			     : PyGen_CheckExact(inner)	  ? &generator_type
							  : NULL;

	if (type == &generator_type && lx_code_flags(decorated->function) & CO_ITERABLE_COROUTINE)
		type = NULL; /* it is awaited by its flag */
	struct run *self = type ? (struct run *)type->tp_alloc(type, 0) : NULL;

	if (!self) {
		for (Py_ssize_t i = 0; values && i < decorated->parameter_count; i++)
			Py_XDECREF(values[i]);
		PyMem_Free(values);
		if (!type) /* a wrapper inside gives something of its own */
			return inner;
		Py_DECREF(inner);
		return NULL;
	}
	self->inner = inner;
	self->decorated = (lx_decorated *)Py_NewRef(decorated);
	self->values = values;
	return (PyObject *)self;
}

int lx_runs_ready(PyObject *Py_UNUSED(module))
{
	PyTypeObject *types[] = {&generator_type, &coroutine_type, &async_generator_type, &step_type};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (PyType_Ready(types[i]) < 0)
			return -1;
	return 0;
}
