/* Annotated regions (domain User), for the public C API and the Python face alike. */
#ifndef LX_CAPTURE_ANNOTATE_H
#define LX_CAPTURE_ANNOTATE_H

#include "capture/meter.h"

/*
 * The lexgion word of a region's name ("IO/read_loop"), 0 where there is no session, and LX_PLAN_* of its calls. Good until
 * lx_generation changes.
 */
LX_API uint32_t lx_region_look(const char *name, size_t size, uint32_t *plan);

/* A region opens or closes on the calling thread. `key` tells it from others open at the time. */
LX_API void lx_region_begin(const void *key, uint32_t word, uint32_t plan);
/* `unwinding`: by an exception. */
LX_API void lx_region_end(const void *key, uint32_t plan, bool unwinding);

#endif
