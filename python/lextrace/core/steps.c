/*
 * Iteration with two regions: one while the next item is fetched, one while the loop's body has it. No generator, and no
 * Python frame: the body's region belongs to the function that loops.
 */
#include "core/annotation.h"

struct steps {
	PyObject_HEAD
	PyObject *iterator, *key;
	struct lx_annotation fetch, body;
	long long count;
	bool open;              /* the body has an item */
};

static void end_body(struct steps *self)
{
	if (!self->open)
		return;
	self->open = false;
	lx_place_end(&self->body, &self->body, false);
}

static void add_count(struct steps *self, long long number)
{
	const struct lx_arg_value count = {.kind = LX_ARG_INT, .integer = number};
	uint32_t key = lx_argument_wanted() ? lx_key_of(self->key) : 0;

	if (key)
		lx_argument_add(key, &count);
}

static void begin_body(struct steps *self)
{
	if (!lx_annotation_ready(&self->body))
		return;
	lx_region_begin(&self->body, self->body.word, self->body.plan);
	self->open = true;
	add_count(self, self->count);
}

static PyObject *next_item(struct steps *self)
{
	end_body(self);
	bool followed = lx_annotation_ready(&self->fetch);

	if (followed)
		lx_region_begin(&self->fetch, self->fetch.word, self->fetch.plan);
	PyObject *item = PyIter_Next(self->iterator);

	if (followed) {
		struct lx_exception saved = lx_exception_save();

		add_count(self, self->count + 1);
		lx_annotation_attend();
		lx_region_end(&self->fetch, self->fetch.plan, !item && lx_exception_is(&saved));
		lx_exception_restore(saved);
	}
	self->count++;
	if (item)
		begin_body(self);
	return item;
}

static PyObject *steps_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"iterable", "category", "fetch", "body", "key", "start", NULL};
	PyObject *iterable, *category, *fetch, *body, *key;
	long long start = 1;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OUUUU|L:steps", names, &iterable, &category, &fetch, &body, &key,
					 &start))
		return NULL;
	struct steps *self = (struct steps *)type->tp_alloc(type, 0);

	if (!self)
		return NULL;
	self->key = Py_NewRef(key);
	PyUnicode_InternInPlace(&self->key);
	self->count = start - 1;
	self->iterator = PyObject_GetIter(iterable);
	if (!self->iterator || lx_annotation_set(&self->fetch, category, fetch, NULL, NULL) != 0 ||
	    lx_annotation_set(&self->body, category, body, NULL, NULL) != 0)
		Py_CLEAR(self);
	return (PyObject *)self;
}

static int traverse(struct steps *self, visitproc visit, void *arg)
{
	Py_VISIT(self->iterator);
	return 0;
}

static int clear(struct steps *self)
{
	Py_CLEAR(self->iterator);
	return 0;
}

/* A loop that was left by break, return or an exception lets go of it. */
static void dealloc(struct steps *self)
{
	PyObject_GC_UnTrack(self);
	struct lx_exception saved = lx_exception_save();

	end_body(self);
	lx_exception_restore(saved);
	clear(self);
	Py_CLEAR(self->key);
	lx_annotation_clear(&self->fetch);
	lx_annotation_clear(&self->body);
	Py_TYPE(self)->tp_free(self);
}

static PyTypeObject steps_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lextrace.steps",
	.tp_basicsize = sizeof(struct steps),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_new = steps_new,
	.tp_iter = PyObject_SelfIter,
	.tp_iternext = (iternextfunc)next_item,
	.tp_traverse = (traverseproc)traverse,
	.tp_clear = (inquiry)clear,
	.tp_dealloc = (destructor)dealloc,
	.tp_doc = PyDoc_STR("steps(iterable, category, fetch, body, key, start=1)\n--\n\n"
			    "The items of the iterable; regions while one is fetched and while the loop's body runs."),
};

int lx_steps_ready(PyObject *module)
{
	if (PyType_Ready(&steps_type) < 0)
		return -1;
	return PyModule_AddObjectRef(module, "steps", (PyObject *)&steps_type);
}
