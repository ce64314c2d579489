/*
 * The preload library: starts recording in a program that is no Python and knows nothing of lextrace, when it was started
 * with LEXTRACE_DIR. A Python program starts by itself (sitecustomize); whoever comes first wins.
 */
#include <stdlib.h>

#include "lextrace/lextrace.h"

__attribute__((constructor)) static void start(void)
{
	if (getenv("LEXTRACE_DIR"))
		lextrace_start(NULL); /* what fails here must not disturb the program */
}
