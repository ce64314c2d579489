#include <stdint.h>
#include <sys/mman.h>

#include "transform/trace.h"

#define PACKETS_AT_ONCE 64u /* up to 4 MiB of streams with large packets */
#define PAGE 4096u

void lx_packets_passed(const struct lx_stream *stream, size_t packet)
{
	if (!stream->mapped || packet == 0 || packet % PACKETS_AT_ONCE != 0 || packet >= stream->packet_count ||
	    stream->packets[packet].open)
		return;
	uintptr_t from = (uintptr_t)stream->packets[packet - PACKETS_AT_ONCE].header;
	uintptr_t to = (uintptr_t)stream->packets[packet].header & ~(uintptr_t)(PAGE - 1);

	from = (from + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED); /* a hint: what is needed again is read again */
}
