/* The checksum of gzip. */
#ifndef LX_TRANSFORM_CHECKSUM_H
#define LX_TRANSFORM_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* That of all bytes so far (0: none) and these. */
uint32_t lx_crc32(uint32_t sum, const void *data, size_t size);

#endif
