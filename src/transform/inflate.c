#include "transform/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "transform/checksum.h"
#include "transform/inflate_codes.h"

#define INPUT_SIZE (1u << 18)
#define BACK 8u     /* bytes in front of `in` that are kept: some of them may be given back */
#define PADDING 64u /* zeros behind the input's end, so that 8 bytes can be read at once */

struct state {
	struct lx_inflate *io;
	uint64_t bits;      /* what was taken from the input and not yet used, lowest first */
	unsigned count;     /* how many of them; those above are right, too, and come again */
	const uint8_t *in, *end; /* may be read; real_end: what is the file's */
	const uint8_t *real_end;
	bool ended;         /* no more input comes */
	uint8_t *out, *limit;
	uint8_t *begin;     /* what matches may reach back to */
	uint8_t *summed;    /* so far the checksum goes */
	uint32_t sum;
	uint32_t size;      /* of the member up to `summed` */
	struct lx_codes codes;
	uint8_t input[BACK + INPUT_SIZE + PADDING];
};

/* More input behind what is left of it; at its end zeros, once. False: these are used up, too. */
static bool more_input(struct state *s)
{
	size_t left = s->in < s->real_end ? (size_t)(s->real_end - s->in) : 0;

	if (s->ended)
		return false;
	memmove(s->input, s->in - BACK, BACK + left);
	while (left < 16 && !s->ended) {
		size_t got = s->io->more(s->io->context, s->input + BACK + left, INPUT_SIZE - left);

		s->ended = got == 0;
		left += got;
	}
	s->in = s->input + BACK;
	s->real_end = s->end = s->in + left;
	if (s->ended) {
		memset(s->input + BACK + left, 0, PADDING);
		s->end += PADDING;
	}
	return true;
}

/* At least 56 bits. */
static inline bool refill(struct state *s)
{
	uint64_t word;

	if (__builtin_expect(s->end - s->in < 8, 0) && !more_input(s))
		return false;
	memcpy(&word, s->in, 8);
	s->bits |= word << s->count;
	s->in += (63 - s->count) >> 3;
	s->count |= 56;
	return true;
}

static inline uint32_t take(struct state *s, unsigned count)
{
	uint32_t value = (uint32_t)s->bits & ((1u << count) - 1);

	s->bits >>= count;
	s->count -= count;
	return value;
}

/* More bits were used than the file has. */
static inline bool overrun(const struct state *s)
{
	return __builtin_expect(s->in > s->real_end, 0) && s->in - s->count / 8 > s->real_end;
}

/* Whole bytes that were taken ahead go back; the rest of a byte goes away. */
static void align(struct state *s)
{
	s->in -= s->count / 8;
	s->bits = 0;
	s->count = 0;
}

static int byte(struct state *s)
{
	if (s->in >= s->real_end && (!more_input(s) || s->in >= s->real_end))
		return -1;
	return *s->in++;
}

static void sum_up(struct state *s)
{
	s->sum = lx_crc32(s->sum, s->summed, (size_t)(s->out - s->summed));
	s->size += (uint32_t)(s->out - s->summed);
	s->summed = s->out;
}

static bool full(struct state *s)
{
	size_t back = (size_t)(s->out - s->begin);

	sum_up(s);
	s->io->out = s->out;
	if (!s->io->full(s->io->context, s->io))
		return false;
	s->out = s->summed = s->io->out;
	s->limit = s->io->limit;
	s->begin = s->out - (back < LX_INFLATE_HISTORY ? back : LX_INFLATE_HISTORY);
	return true;
}

/* Up to 7 bytes more than the match are written. */
static inline uint8_t *copy_match(uint8_t *out, uint32_t length, uint32_t distance)
{
	const uint8_t *from = out - distance;
	uint8_t *end = out + length;

	if (__builtin_expect(distance >= 8, 1)) {
		do {
			memcpy(out, from, 8);
			out += 8;
			from += 8;
		} while (out < end);
	} else if (distance == 1) {
		memset(out, *from, length);
	} else {
		while (out < end)
			*out++ = *from++;
	}
	return end;
}

/*
 * What the loop over symbols works on: stores through `out` may change any other memory for all the compiler knows, so
 * these are kept in registers and written back for calls.
 */
struct hand {
	uint64_t bits;
	unsigned count;
	const uint8_t *in, *end;
	uint8_t *out;
};

static inline struct hand pick_up(const struct state *s)
{
	return (struct hand){ s->bits, s->count, s->in, s->end, s->out };
}

static inline void put_down(struct state *s, const struct hand *h)
{
	s->bits = h->bits;
	s->count = h->count;
	s->in = h->in;
	s->out = h->out;
}

static inline bool fill(struct state *s, struct hand *h)
{
	uint64_t word;

	if (__builtin_expect(h->end - h->in < 8, 0)) {
		put_down(s, h);
		if (!more_input(s))
			return false;
		*h = pick_up(s);
	}
	memcpy(&word, h->in, 8);
	h->bits |= word << h->count;
	h->in += (63 - h->count) >> 3;
	h->count |= 56;
	return true;
}

static inline void skip(struct hand *h, uint32_t entry)
{
	h->bits >>= LX_CODE_TAKES(entry);
	h->count -= LX_CODE_TAKES(entry);
}

/* What a table says of the next bits. */
static inline uint32_t look(const struct hand *h, const uint32_t *table, unsigned bits)
{
	uint32_t entry = table[h->bits & ((1u << bits) - 1)];

	if (__builtin_expect(entry & LX_CODE_LONGER, 0))
		entry = table[LX_CODE_BASE(entry) + (h->bits >> bits & ((1u << LX_CODE_BITS(entry)) - 1))];
	return entry;
}

/* Base and extra bits of a length or distance. */
static inline uint32_t value_of(struct hand *h, uint32_t entry)
{
	uint64_t bits = h->bits & ((1ull << LX_CODE_TAKES(entry)) - 1);

	skip(h, entry);
	return LX_CODE_BASE(entry) + (uint32_t)(bits >> LX_CODE_BITS(entry));
}

static inline bool overran(const struct state *s, const struct hand *h)
{
	return __builtin_expect(h->in > s->real_end, 0) && h->in - h->count / 8 > s->real_end;
}

/* The symbols of a block. The bits of a refill are enough for two literals and a length, or for a distance. */
static enum lx_inflated symbols(struct state *s)
{
	const uint32_t *literals = s->codes.literals, *distances = s->codes.distances;
	struct hand h = pick_up(s);
	enum lx_inflated result = LX_INFLATED_CUT;

	while (fill(s, &h)) {
		uint8_t *before = h.out;
		uint32_t entry = look(&h, literals, LX_LITERAL_BITS);

		for (int i = 0; i < 2 && entry & LX_CODE_LITERAL; i++) {
			*h.out++ = (uint8_t)LX_CODE_BASE(entry);
			skip(&h, entry);
			entry = look(&h, literals, LX_LITERAL_BITS);
		}
		if (entry & LX_CODE_LITERAL) {
			*h.out++ = (uint8_t)LX_CODE_BASE(entry);
			skip(&h, entry);
		} else if (__builtin_expect(entry & LX_CODE_OTHER, 0)) {
			skip(&h, entry);
			result = overran(s, &h) ? LX_INFLATED_CUT
				 : LX_CODE_BASE(entry) ? LX_INFLATED : LX_INFLATED_DAMAGED;
			break;
		} else {
			uint32_t length = value_of(&h, entry), distance;

			if (!fill(s, &h))
				break;
			entry = look(&h, distances, LX_DISTANCE_BITS);
			if (__builtin_expect(entry & LX_CODE_OTHER, 0)) {
				result = h.in > s->real_end ? LX_INFLATED_CUT : LX_INFLATED_DAMAGED;
				break;
			}
			distance = value_of(&h, entry);
			if (__builtin_expect(distance > (size_t)(h.out - s->begin), 0)) {
				result = overran(s, &h) ? LX_INFLATED_CUT : LX_INFLATED_DAMAGED;
				break;
			}
			h.out = copy_match(h.out, length, distance);
		}
		if (overran(s, &h)) {
			h.out = before;
			break;
		}
		if (__builtin_expect(h.out >= s->limit, 0)) {
			put_down(s, &h);
			if (!full(s))
				return LX_INFLATED_STOPPED;
			h = pick_up(s);
		}
	}
	put_down(s, &h);
	return result;
}

static enum lx_inflated stored(struct state *s)
{
	uint32_t head[4], left;

	align(s);
	for (int i = 0; i < 4; i++) {
		int got = byte(s);

		if (got < 0)
			return LX_INFLATED_CUT;
		head[i] = (uint32_t)got;
	}
	left = head[0] | head[1] << 8;
	if (left != (~(head[2] | head[3] << 8) & 0xffffu))
		return LX_INFLATED_DAMAGED;
	while (left > 0) {
		if (s->in >= s->real_end && (!more_input(s) || s->in >= s->real_end))
			return LX_INFLATED_CUT;
		size_t part = (size_t)(s->real_end - s->in), room = (size_t)(s->limit - s->out);

		part = part < left ? part : left;
		part = part < room ? part : room;
		memcpy(s->out, s->in, part);
		s->in += part;
		s->out += part;
		left -= (uint32_t)part;
		if (s->out >= s->limit && !full(s))
			return LX_INFLATED_STOPPED;
	}
	return LX_INFLATED;
}

static void fixed_codes(struct state *s)
{
	uint8_t bits[LX_LITERAL_SYMBOLS];

	for (unsigned i = 0; i < LX_LITERAL_SYMBOLS; i++)
		bits[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	lx_codes_literals(&s->codes, bits, LX_LITERAL_SYMBOLS);
	memset(bits, 5, LX_DISTANCE_SYMBOLS);
	lx_codes_distances(&s->codes, bits, LX_DISTANCE_SYMBOLS);
}

static enum lx_inflated read_codes(struct state *s)
{
	static const uint8_t order[] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[19] = { 0 }, bits[LX_LITERAL_SYMBOLS + LX_DISTANCE_SYMBOLS + 138];
	uint32_t table[128];

	if (!refill(s))
		return LX_INFLATED_CUT;
	unsigned literals = take(s, 5) + 257, distances = take(s, 5) + 1, count = take(s, 4) + 4, at = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!refill(s))
			return LX_INFLATED_CUT;
		lengths[order[i]] = (uint8_t)take(s, 3);
	}
	if (literals > 286 || distances > 30 || !lx_codes_lengths(table, lengths))
		return overrun(s) ? LX_INFLATED_CUT : LX_INFLATED_DAMAGED;
	while (at < literals + distances) {
		if (!refill(s))
			return LX_INFLATED_CUT;
		uint32_t entry = table[s->bits & 127], symbol = LX_CODE_BASE(entry), repeat, value = 0;

		take(s, LX_CODE_TAKES(entry));
		if (overrun(s))
			return LX_INFLATED_CUT;
		if (!(entry & LX_CODE_LITERAL) || (symbol == 16 && at == 0))
			return LX_INFLATED_DAMAGED;
		if (symbol < 16) {
			bits[at++] = (uint8_t)symbol;
			continue;
		}
		value = symbol == 16 ? bits[at - 1] : 0;
		repeat = symbol == 16 ? 3 + take(s, 2) : symbol == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
		memset(bits + at, (int)value, repeat);
		at += repeat;
	}
	if (overrun(s))
		return LX_INFLATED_CUT;
	if (at > literals + distances || !bits[256] || !lx_codes_literals(&s->codes, bits, literals) ||
	    !lx_codes_distances(&s->codes, bits + literals, distances))
		return LX_INFLATED_DAMAGED;
	return LX_INFLATED;
}

static enum lx_inflated blocks(struct state *s)
{
	for (bool last = false; !last;) {
		enum lx_inflated result;

		if (!refill(s))
			return LX_INFLATED_CUT;
		last = take(s, 1);
		switch (take(s, 2)) {
		case 0:
			result = stored(s);
			break;
		case 1:
			fixed_codes(s);
			result = symbols(s);
			break;
		case 2:
			result = read_codes(s);
			if (result == LX_INFLATED)
				result = symbols(s);
			break;
		default:
			result = overrun(s) ? LX_INFLATED_CUT : LX_INFLATED_DAMAGED;
			break;
		}
		if (result != LX_INFLATED)
			return result;
	}
	align(s);
	return LX_INFLATED;
}

static bool skip_text(struct state *s)
{
	int got;

	do {
		got = byte(s);
	} while (got > 0);
	return got == 0;
}

/* The rest of a member's head, after its first byte. */
static enum lx_inflated head(struct state *s)
{
	int bytes[9], low, high;

	for (int i = 0; i < 9; i++) {
		bytes[i] = byte(s);
		if (bytes[i] < 0)
			return LX_INFLATED_CUT;
	}
	int flags = bytes[2];

	if (bytes[0] != 0x8b || bytes[1] != 8 || flags & 0xe0)
		return LX_INFLATED_DAMAGED;
	if (flags & 4) {
		low = byte(s);
		high = byte(s);
		if (high < 0)
			return LX_INFLATED_CUT;
		for (int left = low | high << 8; left > 0; left--)
			if (byte(s) < 0)
				return LX_INFLATED_CUT;
	}
	if ((flags & 8 && !skip_text(s)) || (flags & 16 && !skip_text(s)) || (flags & 2 && (byte(s) < 0 || byte(s) < 0)))
		return LX_INFLATED_CUT;
	return LX_INFLATED;
}

/* What stands behind the blocks: checksum and size. */
static enum lx_inflated tail(struct state *s)
{
	uint32_t words[2] = { 0 };

	for (int i = 0; i < 8; i++) {
		int got = byte(s);

		if (got < 0)
			return LX_INFLATED_CUT;
		words[i / 4] |= (uint32_t)got << i % 4 * 8;
	}
	return words[0] == s->sum && words[1] == s->size ? LX_INFLATED : LX_INFLATED_DAMAGED;
}

static enum lx_inflated members(struct state *s)
{
	enum lx_inflated result = LX_INFLATED;

	for (bool first = true; result == LX_INFLATED; first = false) {
		int got = byte(s);

		while (got == 0 && !first)
			got = byte(s);
		if (got < 0)
			return first ? LX_INFLATED_CUT : LX_INFLATED;
		if (got != 0x1f)
			return first ? LX_INFLATED_DAMAGED : LX_INFLATED_FOLLOWED;
		s->sum = s->size = 0;
		s->begin = s->summed = s->out;
		result = head(s);
		if (result == LX_INFLATED)
			result = blocks(s);
		sum_up(s);
		if (result == LX_INFLATED)
			result = tail(s);
	}
	return result;
}

enum lx_inflated lx_inflate(struct lx_inflate *inflate, const void *first, size_t first_size)
{
	struct state *s = malloc(sizeof(*s));
	enum lx_inflated result;

	if (!s || first_size > INPUT_SIZE) {
		free(s);
		return LX_INFLATED_NO_MEMORY;
	}
	s->io = inflate;
	s->bits = 0;
	s->count = 0;
	s->ended = false;
	memset(s->input, 0, BACK);
	memcpy(s->input + BACK, first, first_size);
	s->in = s->input + BACK;
	s->end = s->real_end = s->in + first_size;
	s->out = inflate->out;
	s->limit = inflate->limit;
	result = members(s);
	inflate->out = s->out;
	free(s);
	return result;
}
