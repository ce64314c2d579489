/* lextrace.region: an annotated region as a context manager. */
#ifndef LX_CORE_REGION_H
#define LX_CORE_REGION_H

#include <Python.h>

/* Adds the type `region` to the module. 0, or -1 with an exception set. */
int lx_region_ready(PyObject *module);

#endif
