/* Files of control: the configuration, requests and answers. */
#ifndef LX_CAPTURE_CONTROL_FILE_H
#define LX_CAPTURE_CONTROL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

struct lx_text_file {
	char *bytes; /* malloc'd; NULL where there is none */
	size_t size;
};

/*
 * The whole text of a regular file, as it stood at one moment: read again where it changed meanwhile. 0; -EISDIR a folder;
 * -EINVAL no regular file; -EFBIG above 64 MiB; other negative errno. *file is set on 0 alone.
 */
int lx_text_read(const char *path, struct lx_text_file *file);

/* The folder at the start: what relative names are relative to. */
void lx_remember_folder(void);
const char *lx_start_folder(void);
/* malloc'd; NULL without memory. */
char *lx_absolute_path(const char *path);

/* Path of the configuration, or NULL. */
LX_API const char *lx_control_path(void);

#endif
