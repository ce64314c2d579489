/* What a fuzzer asks of the code under test: the process ends where a promise is broken. */
#ifndef LX_FUZZ_REQUIRE_H
#define LX_FUZZ_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(what)                                                                              \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
