/*
 * Where packets go. A sink owns the process folder's streams; recording fills packets and hands them over. All calls
 * come with the session's lock held or from the packet's own thread; none may raise a signal or hold a descriptor.
 */
#ifndef LX_SINK_SINK_H
#define LX_SINK_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "lextrace/format.h"

#define LX_PATH_SIZE 1024 /* of a process folder's path; longer ones are refused at the start */

struct lx_sink {
	/*
	 * Memory for the open packet of a stream: allocated, shared, zeroed; at `address` if that is not NULL. It outlives
	 * a kill of the process. Errors as lx_file_map.
	 */
	int (*map)(const char *folder, unsigned stream, size_t size, void *address, void **out);
	/* Appends a whole packet at `at`, the stream's size so far. Errors as lx_file_append. */
	int (*append)(const char *folder, unsigned stream, uint64_t at, const struct lx_packet *packet, size_t size);
	/* The packet of this stream is appended or empty: forget what map() keeps for a kill. */
	void (*release)(const char *folder, unsigned stream);
};

extern const struct lx_sink lx_sink_ctf;  /* CTF files in the process folder */
extern const struct lx_sink lx_sink_null; /* keeps nothing: measures the recorder alone */

#endif
