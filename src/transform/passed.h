/* Mapped memory that was read and may go, so that a reader's memory does not grow with the trace. */
#ifndef LX_TRANSFORM_PASSED_H
#define LX_TRANSFORM_PASSED_H

#include <stdint.h>

/* The pages that lie wholly between the two places of one read-only file mapping. They can still be read. */
void lx_memory_passed(const void *from, const void *to);

#endif
