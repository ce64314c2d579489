/* "reading 3 of 8 files  41 %  12.3 M events/s  4 s left" on a terminal's stderr, once a pass takes longer than 0.5 s. */
#ifndef LX_CLI_PROGRESS_H
#define LX_CLI_PROGRESS_H

#include "view/pass.h"

/* Before and after lx_pass_run(). The second wipes the line. One at a time. */
void lx_progress_begin(const struct lx_pass *pass);
void lx_progress_end(void);

#endif
