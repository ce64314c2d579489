/* The name by which programs include DFTracer's header. */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <lextrace/dftracer.h>

#endif
