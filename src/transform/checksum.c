#include "transform/checksum.h"

#if LEXTRACE_HAVE_LIBDEFLATE
#include <libdeflate.h>

uint32_t lx_crc32(uint32_t sum, const void *data, size_t size)
{
	return libdeflate_crc32(sum, data, size);
}

#else

static void make(uint32_t table[256])
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t value = byte;

		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
		table[byte] = value;
	}
}

uint32_t lx_crc32(uint32_t sum, const void *data, size_t size)
{
	static _Thread_local uint32_t table[256];
	const uint8_t *at = data;

	if (!table[1])
		make(table);
	sum = ~sum;
	for (size_t i = 0; i < size; i++)
		sum = sum >> 8 ^ table[(sum ^ at[i]) & 255];
	return ~sum;
}

#endif
