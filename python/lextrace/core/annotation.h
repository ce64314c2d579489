/* What regions, decorated functions and runs share: the place they stand for, keys, values. With the GIL held. */
#ifndef LX_CORE_ANNOTATION_H
#define LX_CORE_ANNOTATION_H

#include "capture/python.h"

#include "capture/annotate.h"

/* A place that begins and ends: category and name, and where it stands in the program. */
struct lx_annotation {
	PyObject *title;        /* "CATEGORY/NAME" */
	PyObject *file;         /* str, or NULL */
	Py_ssize_t category;    /* characters of the title that are the category */
	uint32_t line;
	enum lx_comp comp;
	uint32_t word, plan;
	uint32_t generation;    /* lx_generation for which the two hold */
};

/*
 * Fills it; `name` NULL: `category` is the whole title. `comp` NULL or empty: none. `function` (may be NULL) says where it
 * stands. 0, or -1 with an exception. A comp that is none of lx_comp's is left at LX_COMP_NONE.
 */
int lx_annotation_set(struct lx_annotation *place, PyObject *category, PyObject *name, PyObject *comp, PyObject *function);
void lx_annotation_clear(struct lx_annotation *place);
void lx_annotation_look(struct lx_annotation *place);

/*
 * A place that those who name it share, found again by the very objects that named it: a `with` statement makes its region
 * anew each time, of the same constants. NULL with an exception; to be given back.
 */
struct lx_shared_place {
	struct lx_annotation place;
	PyObject *category, *name, *comp; /* as given; NULL: not */
	Py_ssize_t users;
};
struct lx_shared_place *lx_place_get(PyObject *category, PyObject *name, PyObject *comp);
void lx_place_put(struct lx_shared_place *shared);

/* What is called, once, when an annotation is met while nothing records; NULL: nothing. Steals the reference. */
void lx_starter_set(PyObject *callable_or_null);
extern PyObject *lx_starter;
void lx_starter_call(void);

/* Looks after what waits in the calling thread; false: it can record nothing. */
bool lx_annotation_attend(void);

/* Whether the place is recorded here and now; its word and plan are then those in force. */
static inline bool lx_annotation_ready(struct lx_annotation *place)
{
	const struct lx_thread *thread = lx_thread_self;

	if (lx_unlikely(!lx_session_active())) {
		if (lx_likely(!lx_starter))
			return false;
		lx_starter_call();
		if (!lx_session_active())
			return false;
	}
	if (lx_unlikely(!thread || __atomic_load_n(lx_attention, __ATOMIC_RELAXED)) && !lx_annotation_attend())
		return false;
	if (lx_unlikely(place->generation != lx_generation))
		lx_annotation_look(place);
	return true;
}

/* The word of a key that is a str; 0: there is no session, or no room. */
uint32_t lx_key_of(PyObject *key);

/* How a value is recorded. */
enum lx_as { LX_AS_ANY, LX_AS_INT, LX_AS_FLOAT, LX_AS_STR };

/*
 * While the calling thread reads arguments: what their methods call, if it is decorated, reads none of its own. Else a
 * __str__ that is decorated would have itself read without end.
 */
extern __thread bool lx_reading;

/*
 * A Python value as an argument. `*keep` gets a new reference to what `out` points into, or NULL. 0, or -1 with an
 * exception that must go on to the program (Ctrl-C while its __str__ ran); whatever else its methods raise is swallowed.
 */
int lx_value_of(PyObject *value, enum lx_as as, struct lx_arg_value *out, PyObject **keep);

/* Adds it to the innermost open region. 0 or -1, as above. */
int lx_value_add(PyObject *key, PyObject *value, enum lx_as as);

/* Adds what was given as comp and is none of lx_comp's. 0 or -1, as above; an empty one is none. */
int lx_comp_add(PyObject *comp);

/*
 * The region of a shared place begins under `key`, if it is recorded here and now. 1; 0: it is not; -1 with an exception,
 * as above, and begun.
 */
int lx_place_begin(struct lx_shared_place *shared, const void *key);
/* A region that need not be the innermost ends, and what waits is looked after. An exception at hand stays. */
void lx_place_end(const struct lx_annotation *place, const void *key, bool unwinding);

/* An attribute of the object itself, or else of what it stands in front of. */
PyObject *lx_attribute_of(PyObject *object, PyObject *name, PyObject *inner);

/* ---- decorate.c, run.c ---- */

struct lx_parameter {
	PyObject *name;         /* str; the key, too */
	PyObject *otherwise;    /* its default, or NULL */
	Py_ssize_t index;       /* among the positional ones, -1: by keyword only, or an attribute of the first */
	enum lx_as as;
	bool attribute;
};

typedef struct lx_decorated {
	PyObject_HEAD
	vectorcallfunc call;
	PyObject *function, *dict, *weak;
	struct lx_annotation place;
	PyObject *comp;         /* what was given as comp and is no lx_comp; NULL: nothing */
	struct lx_parameter *parameters;
	Py_ssize_t parameter_count;
} lx_decorated;

/* What is asked of a decorated function. */
struct lx_wish {
	PyObject *category, *name, *comp;       /* str */
	PyObject *parameters, *attributes;      /* tuples of names, or of (name, how) */
};
/* A new one around a callable; NULL with an exception. */
PyObject *lx_decorated_new(PyObject *function, const struct lx_wish *wish);

/* The values of the parameters of a call, new references, NULL where there is none; `values` has room for them all. */
void lx_parameters_take(lx_decorated *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **values);
/* Adds them (and the comp) to the region that has just begun. */
int lx_parameters_add(lx_decorated *self, PyObject *const *values);

/* The generator, coroutine or async generator `inner` in what follows its run. Steals `inner` and the values. */
PyObject *lx_run_new(lx_decorated *decorated, PyObject *inner, PyObject **values);

/* The flags of the code that a callable says to have; 0: none. */
int lx_code_flags(PyObject *function);

int lx_region_ready(PyObject *module);
int lx_decorated_ready(PyObject *module);
int lx_decorate_ready(PyObject *module);
int lx_runs_ready(PyObject *module);
int lx_steps_ready(PyObject *module);
int lx_scope_ready(PyObject *module);
int lx_annotations_ready(PyObject *module);

#endif
