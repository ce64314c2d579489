/* Walking over the records of lextrace/lexgions, whatever the file holds. */
#ifndef LX_BASE_DEFINITIONS_H
#define LX_BASE_DEFINITIONS_H

#include <stddef.h>

#include "lextrace/format.h"

/*
 * The next definition from byte *at on, pads and ids out of range skipped: fills *definition, moves *at behind the
 * record and returns its text (name, then file). NULL at the end: size 0, or a record that is not whole.
 */
const char *lx_definition_next(const void *data, size_t size, size_t *at, struct lx_definition *definition);

#endif
