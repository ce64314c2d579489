#include "transform/passed.h"

#include <sys/mman.h>

#include "transform/trace.h"

#define PACKETS_AT_ONCE 64u /* up to 4 MiB of streams with large packets */
#define PAGE 4096u

void lx_memory_passed(const void *from, const void *to)
{
	uintptr_t first = ((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = (uintptr_t)to & ~(uintptr_t)(PAGE - 1);

	if (first < end)
		madvise((void *)first, end - first, MADV_DONTNEED); /* a hint: what is needed again is read again */
}

void lx_packets_passed(const struct lx_stream *stream, size_t packet)
{
	if (stream->mapped && packet > 0 && packet % PACKETS_AT_ONCE == 0 && packet < stream->packet_count &&
	    !stream->packets[packet].open)
		lx_memory_passed(stream->packets[packet - PACKETS_AT_ONCE].events, stream->packets[packet].events);
}
