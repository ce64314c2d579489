/* The trace of annotations as a .pfw file, written by the program itself when it ends. */
#ifndef LX_CAPTURE_PFW_EXPORT_H
#define LX_CAPTURE_PFW_EXPORT_H

#include "lextrace/pfw.h"
#include "record/record.h"

/*
 * lx_pfw_write() of liblextrace-export.so, which is loaded for it from beside this library; then, if `remove`, the process
 * folder goes, and the run folder around it if nothing else is in it. 0, or negative errno with one line in `message`:
 * the native trace then stays. -ELIBACC: the library cannot be loaded.
 */
LX_API int lx_pfw_export(const char *process_folder, const char *out, const struct lx_pfw_options *options, bool remove,
			 char *message, size_t size);

#endif
