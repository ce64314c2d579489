#include "transform/inflate_codes.h"

#include <string.h>

#define BITS_MAX 15u

static uint32_t literal_entry(unsigned symbol)
{
	static const uint16_t bases[] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
					  131, 163, 195, 227, 258 };
	static const uint8_t extras[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };

	if (symbol < 256)
		return LX_CODE_LITERAL | symbol << 16;
	if (symbol == 256)
		return LX_CODE_OTHER | 1u << 16;
	if (symbol > 285)
		return LX_CODE_OTHER;
	return extras[symbol - 257] | (uint32_t)bases[symbol - 257] << 16;
}

static uint32_t distance_entry(unsigned symbol)
{
	unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;

	if (symbol > 29)
		return LX_CODE_OTHER;
	return extra | (symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1) << 16;
}

static uint32_t length_entry(unsigned symbol)
{
	return LX_CODE_LITERAL | symbol << 16;
}

static uint32_t reversed(uint32_t code, unsigned bits)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < bits; i++)
		out |= (code >> i & 1) << (bits - 1 - i);
	return out;
}

/* Bits by which the table behind a prefix of `first` bits is looked up: as many as fill it. */
static unsigned table_bits(const uint16_t *count, unsigned length, unsigned first)
{
	unsigned bits = length - first;
	uint32_t room = 1u << bits;

	for (; bits + first < BITS_MAX; bits++, room <<= 1) {
		if (count[bits + first] >= room)
			break;
		room -= count[bits + first];
	}
	return bits;
}

/* The first code of each length, and how many there are. False: there are more than fit, or too few. */
static bool check(const uint8_t *bits, unsigned count, uint16_t *counts, uint32_t *next)
{
	uint32_t code = 0, left = 1;

	memset(counts, 0, (BITS_MAX + 1) * sizeof(*counts));
	for (unsigned i = 0; i < count; i++)
		counts[bits[i]]++;
	unsigned used = count - counts[0];

	counts[0] = 0;
	for (unsigned length = 1; length <= BITS_MAX; length++) {
		left <<= 1;
		if (counts[length] > left)
			return false;
		left -= counts[length];
		code = (code + counts[length - 1]) << 1;
		next[length] = code;
	}
	/* One code alone, of one bit, or none at all, may leave the rest without a meaning. */
	return left == 0 || used == 0 || (used == 1 && counts[1] == 1);
}

/* Fills table[0 .. room) for codes of at most `first` bits, and those behind it for longer ones, in order of code. */
static bool make(uint32_t *table, unsigned room, unsigned first, const uint8_t *bits, unsigned count, uint32_t (*entry)(unsigned))
{
	uint16_t counts[BITS_MAX + 1], left[BITS_MAX + 1], sorted[LX_LITERAL_SYMBOLS], at[BITS_MAX + 2] = { 0 };
	uint32_t next[BITS_MAX + 1], used = 1u << first, prefix = UINT32_MAX, begin = 0;
	unsigned behind = 0;

	if (!check(bits, count, counts, next))
		return false;
	for (uint32_t i = 0; i < used; i++)
		table[i] = LX_CODE_OTHER | 1;
	for (unsigned length = 1; length <= BITS_MAX; length++)
		at[length + 1] = (uint16_t)(at[length] + counts[length]);
	unsigned codes = at[BITS_MAX + 1];

	for (unsigned i = 0; i < count; i++)
		if (bits[i])
			sorted[at[bits[i]]++] = (uint16_t)i;
	memcpy(left, counts, sizeof(left));
	for (unsigned i = 0; i < codes; i++) {
		unsigned symbol = sorted[i], length = bits[symbol];
		uint32_t code = reversed(next[length]++, length), what = entry(symbol);

		what = (what & ~63u) | ((what & 63u) + length) | length << 8;
		if (length <= first) {
			for (uint32_t slot = code; slot < 1u << first; slot += 1u << length)
				table[slot] = what;
		} else {
			if ((code & ((1u << first) - 1)) != prefix) {
				prefix = code & ((1u << first) - 1);
				behind = table_bits(left, length, first);
				begin = used;
				used += 1u << behind;
				if (used > room)
					return false;
				for (uint32_t slot = begin; slot < used; slot++)
					table[slot] = LX_CODE_OTHER | 1;
				table[prefix] = LX_CODE_LONGER | begin << 16 | behind << 8;
			}
			for (uint32_t slot = code >> first; slot < 1u << behind; slot += 1u << (length - first))
				table[begin + slot] = what;
		}
		left[length]--;
	}
	return true;
}

bool lx_codes_literals(struct lx_codes *codes, const uint8_t *bits, unsigned count)
{
	return make(codes->literals, LX_LITERAL_ROOM, LX_LITERAL_BITS, bits, count, literal_entry);
}

bool lx_codes_distances(struct lx_codes *codes, const uint8_t *bits, unsigned count)
{
	return make(codes->distances, LX_DISTANCE_ROOM, LX_DISTANCE_BITS, bits, count, distance_entry);
}

bool lx_codes_lengths(uint32_t table[128], const uint8_t *bits)
{
	return make(table, 128, 7, bits, 19, length_entry);
}
