/* Tables that decode the Huffman codes of a deflate block. */
#ifndef LX_TRANSFORM_INFLATE_CODES_H
#define LX_TRANSFORM_INFLATE_CODES_H

#include <stdbool.h>
#include <stdint.h>

#define LX_LITERAL_BITS 11u  /* of a look into the first table; longer codes go on in one behind it */
#define LX_DISTANCE_BITS 8u
#define LX_LITERAL_SYMBOLS 288u
#define LX_DISTANCE_SYMBOLS 32u
#define LX_LITERAL_ROOM 2400u /* entries: no code of 288 symbols and 15 bits needs more */
#define LX_DISTANCE_ROOM 512u

/*
 * An entry: bits 0-5 all bits that it takes, extra ones included; 8-11 those of the code alone; 13 a literal; 14 the code is
 * longer: bits 16-31 say where its table begins, 8-11 how many bits it is looked up by; 15 neither: bits 16-31 are 1 for
 * the block's end, 0 for no code at all; 16-31 the literal, or the length or distance without its extra bits.
 */
#define LX_CODE_TAKES(entry) ((entry) & 63u)
#define LX_CODE_BITS(entry) ((entry) >> 8 & 15u)
#define LX_CODE_LITERAL (1u << 13)
#define LX_CODE_LONGER (1u << 14)
#define LX_CODE_OTHER (1u << 15)
#define LX_CODE_BASE(entry) ((entry) >> 16)

struct lx_codes {
	uint32_t literals[LX_LITERAL_ROOM];
	uint32_t distances[LX_DISTANCE_ROOM];
};

/* From the bits of each symbol's code, 0 to 15. False: no such code exists. */
bool lx_codes_literals(struct lx_codes *codes, const uint8_t *bits, unsigned count);
bool lx_codes_distances(struct lx_codes *codes, const uint8_t *bits, unsigned count);

/* The code that the lengths of the others are written in: 7 bits at most, 19 symbols; each entry is the symbol as a literal. */
bool lx_codes_lengths(uint32_t table[128], const uint8_t *bits);

#endif
