#include "transform/pfw_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LANES_MAX 4096u
#define FIRST_SIZE 1024u
#define PASSED 65536u /* spans after which the memory of those done with goes back */
#define PAGE 4096u
#define TIME_BITS ((1ull << LX_TIMESTAMP_BITS) - 1)

static void close_packet(struct lx_pfw_lane *lane)
{
	struct lx_packet *packet = lane->packet;

	if (!packet)
		return;
	size_t size = (size_t)((char *)lane->at - (char *)packet);

	packet->content_size = packet->packet_size = 8 * size;
	packet->timestamp_end = lane->ticks;
	packet->events = lane->events;
	lane->packets[lane->packet_count - 1].words = (size > sizeof(*packet) ? size - sizeof(*packet) : 0) / 8;
	lane->packet = NULL;
}

static int open_packet(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, uint64_t ticks, size_t words)
{
	size_t size = lane->next_size, need = sizeof(struct lx_packet) + 8 * words;

	close_packet(lane);
	if (size < need)
		size = need;
	lane->next_size = 2 * size < LX_PACKET_MAX ? 2 * size : LX_PACKET_MAX;
	if (lane->packet_count == lane->packet_room) {
		size_t room = lane->packet_room ? 2 * lane->packet_room : 4;
		struct lx_packet_ref *packets = realloc(lane->packets, room * sizeof(*packets));

		if (!packets)
			return -ENOMEM;
		lane->packets = packets;
		lane->packet_room = room;
	}
	struct lx_packet *packet = lx_store_alloc(lanes->pfw->store, size);

	if (!packet)
		return -ENOMEM;
	packet->magic = LX_CTF_MAGIC;
	packet->timestamp_begin = ticks;
	packet->clock_monotonic = packet->clock_realtime = ticks;
	packet->packet_seq_num = lane->packet_count;
	packet->thread = lanes->first_number + (uint32_t)(lane - lanes->list);
	packet->tid = lanes->tid;
	lane->packet = packet;
	lane->at = (uint64_t *)(packet + 1);
	lane->end = (uint64_t *)((char *)packet + (size & ~(size_t)7));
	lane->ticks = ticks;
	lane->events = 0;
	lane->packets[lane->packet_count++] = (struct lx_packet_ref){ .header = packet, .events = lane->at };
	return 0;
}

/* Room for an event with `more` words behind its header, which is written. NULL without memory. */
static inline uint64_t *put_event(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, uint32_t kind, uint32_t word,
				  uint64_t ticks, size_t more)
{
	if (__builtin_expect(!lane->packet || (size_t)(lane->end - lane->at) < 2 + more, 0) &&
	    open_packet(lanes, lane, ticks, 2 + more) < 0)
		return NULL;
	if (__builtin_expect(ticks - lane->ticks <= TIME_BITS, 1)) {
		*lane->at++ = kind | (ticks & TIME_BITS) << 5 | (uint64_t)word << 32;
	} else {
		*lane->at++ = LX_EV_EXTENDED | kind << 5 | ticks << 32;
		*lane->at++ = ticks >> 32 | (uint64_t)word << 32;
	}
	lane->ticks = ticks;
	lane->events++;
	uint64_t *at = lane->at;

	lane->at += more;
	return at;
}

static bool end_top(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane)
{
	const struct lx_pfw_open *top = &lane->stack[--lane->depth];

	return put_event(lanes, lane, top->kind, LX_LEXGION_WORD(top->lexgion), top->end, 0);
}

/* The string that a hash stands for, under a name that says so: "fhash" is "file", "newpath_hash" is "newpath". */
static int put_hash(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, uint32_t key, uint64_t index, uint64_t ticks)
{
	struct lx_pfw *pfw = lanes->pfw;
	const struct lx_pfw_hash *hash = &pfw->names.hashes[index];
	const struct lx_lexgion *known = &pfw->names.lexgions[key];
	struct lx_pfw_words *words = &pfw->scratch;
	size_t used = 0;
	int error;

	if (hash->name) {
		static const char file[8] = "file"; /* as long as those who compare read */
		size_t cut = known->name_size > 5 && known->name[known->name_size - 5] == '_' ? 5 : 4;
		struct lx_pfw_text name = { known->name, known->name_size - cut, false };

		if (known->name_size == 5 && known->name[0] == 'f')
			name = (struct lx_pfw_text){ file, 4, false };
		int64_t id = name.size ? lx_pfw_key(&pfw->names, &name) : key;

		if (id < 0)
			return -ENOMEM;
		key = (uint32_t)id;
	}
	words->count = 0;
	error = lx_pfw_put_text(words, &used, LX_EV_ARG_TEXT, key, LX_TEXT_STRING, hash->name ? hash->name : hash->hash,
				hash->name ? hash->name_size : hash->hash_size);
	for (size_t i = 0; i < used && !error;) {
		size_t more = (size_t)lx_event_words(words->at + i, used - i) - 1;
		uint64_t *at = put_event(lanes, lane, LX_EV_ARG_TEXT, LX_LEXGION_WORD(key), ticks, more);

		if (!at)
			return -ENOMEM;
		memcpy(at, words->at + i + 1, 8 * more);
		i += 1 + more;
	}
	return error;
}

/* The arguments as they were put aside. */
static int put_args(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, const uint64_t *words, size_t count, uint64_t ticks)
{
	for (size_t i = 0; i < count;) {
		uint32_t kind = (uint32_t)words[i] & 31, word = (uint32_t)(words[i] >> 32);
		size_t more = kind == LX_PFW_EV_HASH ? 1 : (size_t)lx_event_words(words + i, count - i) - 1;

		if (kind == LX_PFW_EV_HASH) {
			if (put_hash(lanes, lane, LX_LEXGION_ID(word), words[i + 1], ticks) < 0)
				return -ENOMEM;
		} else {
			uint64_t *at = put_event(lanes, lane, kind, word, ticks, more);

			if (!at)
				return -ENOMEM;
			memcpy(at, words + i + 1, 8 * more);
		}
		i += 1 + more;
	}
	return 0;
}

/* Texts in parts count as one. */
static uint32_t count_args(const uint64_t *words, size_t count)
{
	uint32_t args = 0;

	for (size_t i = 0; i < count;) {
		uint32_t kind = (uint32_t)words[i] & 31;

		args += kind != LX_EV_ARG_TEXT || !(words[i + 1] & LX_TEXT_MORE);
		i += kind == LX_PFW_EV_HASH ? 2 : (size_t)lx_event_words(words + i, count - i);
	}
	return args;
}

static int put_moment(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, const struct lx_pfw_span *span,
		      const uint64_t *words, uint64_t ticks)
{
	uint32_t kind = LX_PFW_EXTRA_KIND(*words), count = LX_PFW_EXTRA_COUNT(*words);
	uint64_t *at = put_event(lanes, lane, kind, LX_LEXGION_WORD((uint32_t)span->lexgion), ticks, 1);

	if (!at)
		return -ENOMEM;
	*at = kind == LX_EV_COUNTER ? words[1] : count_args(words + 1, count);
	return kind == LX_EV_COUNTER ? 0 : put_args(lanes, lane, words + 1, count, ticks);
}

static uint32_t begin_kind(const struct lx_lexgion *lexgion)
{
	if (lexgion->domain != LX_DOMAIN_PYTHON)
		return LX_EV_REGION_BEGIN;
	if (lexgion->flags & LX_LEXGION_C)
		return LX_EV_C_CALL_BEGIN;
	return lexgion->flags & LX_LEXGION_IMPORT ? LX_EV_IMPORT_BEGIN : LX_EV_FUNCTION_BEGIN;
}

static uint32_t end_kind(uint32_t begin, enum lx_pfw_ended ended)
{
	bool unwound = ended == LX_PFW_UNWOUND;

	switch (begin) {
	case LX_EV_C_CALL_BEGIN:
		return unwound ? LX_EV_C_CALL_RAISE : LX_EV_C_CALL_END;
	case LX_EV_IMPORT_BEGIN:
		return unwound ? LX_EV_IMPORT_UNWIND : LX_EV_IMPORT_END;
	case LX_EV_FUNCTION_BEGIN:
		return unwound ? LX_EV_FUNCTION_UNWIND : ended == LX_PFW_YIELDED ? LX_EV_FUNCTION_YIELD : LX_EV_FUNCTION_END;
	default:
		return unwound ? LX_EV_REGION_UNWIND : LX_EV_REGION_END;
	}
}

/* Ends what is over in a lane. A span without a duration at the end of another one is in it where it was written before it. */
static inline bool pass(struct lx_pfw_lanes *lanes, struct lx_pfw_lane *lane, uint64_t begin, bool empty, uint64_t order)
{
	while (lane->depth > 0) {
		const struct lx_pfw_open *top = &lane->stack[lane->depth - 1];

		if (top->end > begin || (top->end == begin && empty && order < top->order))
			break;
		if (!end_top(lanes, lane))
			return false;
	}
	return true;
}

static struct lx_pfw_lane *add_lane(struct lx_pfw_lanes *lanes, size_t size)
{
	if (lanes->count == lanes->room) {
		size_t room = lanes->room ? 2 * lanes->room : 4;
		struct lx_pfw_lane *list = realloc(lanes->list, room * sizeof(*list));

		if (!list)
			return NULL;
		lanes->list = list;
		lanes->room = room;
	}
	lanes->list[lanes->count] = (struct lx_pfw_lane){ .next_size = size };
	return &lanes->list[lanes->count++];
}

/* A span that found no lane: told of as a whole, on no stack. */
static int put_apart(struct lx_pfw_lanes *lanes, const struct lx_pfw_span *span, const uint64_t *words, uint64_t ticks)
{
	size_t count = words ? LX_PFW_EXTRA_COUNT(*words) : 0;
	struct lx_pfw_lane *lane = &lanes->list[0];

	if (!pass(lanes, lane, ticks, false, 0))
		return -ENOMEM;
	uint64_t *at = put_event(lanes, lane, LX_EV_SPAN, LX_LEXGION_WORD((uint32_t)span->lexgion), ticks, 3);

	if (!at)
		return -ENOMEM;
	at[0] = ticks;
	at[1] = span->duration;
	at[2] = words ? count_args(words + 1, count) : 0;
	lanes->pfw->apart++;
	return words ? put_args(lanes, lane, words + 1, count, ticks) : 0;
}

static int put_span(struct lx_pfw_lanes *lanes, const struct lx_pfw_span *span, const uint64_t *words, uint64_t ticks)
{
	uint64_t end = ticks + span->duration, order = lx_pfw_order(span);
	struct lx_pfw_lane *lane = NULL;

	for (size_t i = 0; i < lanes->count && !lane; i++) {
		struct lx_pfw_lane *look = &lanes->list[i];

		if (!pass(lanes, look, ticks, span->duration == 0, order))
			return -ENOMEM;
		if (look->depth == 0 || end <= look->stack[look->depth - 1].end)
			lane = look;
	}
	if (!lane && lanes->count == LANES_MAX)
		return put_apart(lanes, span, words, ticks);
	if (!lane && !(lane = add_lane(lanes, FIRST_SIZE)))
		return -ENOMEM;
	if (lane->depth == lane->room) {
		uint32_t room = lane->room ? 2 * lane->room : 16;
		struct lx_pfw_open *stack = realloc(lane->stack, room * sizeof(*stack));

		if (!stack)
			return -ENOMEM;
		lane->stack = stack;
		lane->room = room;
	}
	uint32_t lexgion = (uint32_t)span->lexgion, kind = begin_kind(&lanes->pfw->names.lexgions[lexgion]);

	lane->stack[lane->depth++] =
		(struct lx_pfw_open){ end, order, lexgion, end_kind(kind, words ? LX_PFW_EXTRA_ENDED(*words) : LX_PFW_RETURNED) };
	if (!put_event(lanes, lane, kind, LX_LEXGION_WORD(lexgion), ticks, 0))
		return -ENOMEM;
	return words ? put_args(lanes, lane, words + 1, LX_PFW_EXTRA_COUNT(*words), ticks) : 0;
}

/* Gives the whole pages between the two places back; what lay there is gone. */
static void drop(void *from, void *to)
{
	uintptr_t first = ((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1), end = (uintptr_t)to & ~(uintptr_t)(PAGE - 1);

	if (first < end)
		madvise((void *)first, end - first, MADV_DONTNEED);
}

/* For each PASSED spans: the first word that they or a later one needs. NULL without memory, which only costs memory. */
static uint64_t *words_needed(const struct lx_pfw_track *track)
{
	size_t blocks = track->count / PASSED + 1;
	uint64_t *needed = track->words.count ? malloc(blocks * sizeof(*needed)) : NULL, least = UINT64_MAX;

	for (size_t i = track->count; needed && i-- > 0;) {
		if (track->spans[i].extra && track->spans[i].words < least)
			least = track->spans[i].words;
		if (i % PASSED == 0)
			needed[i / PASSED] = least;
	}
	return needed;
}

static int put_spans(struct lx_pfw_lanes *lanes, struct lx_pfw_track *track)
{
	uint64_t *needed = words_needed(track), dropped = 0;
	int error = 0;

	for (size_t i = 0; i < track->count && error == 0; i++) {
		const struct lx_pfw_span *span = &track->spans[i];
		const uint64_t *words = span->extra ? track->words.at + span->words : NULL;
		uint64_t ticks = track->base + (span->begin - LX_PFW_TIME_MIDDLE);

		if (i % PASSED == 0 && i > 0) {
			drop(track->spans + i - PASSED, track->spans + i);
			if (needed && needed[i / PASSED] > dropped && needed[i / PASSED] < track->words.count) {
				drop(track->words.at + dropped, track->words.at + needed[i / PASSED]);
				dropped = needed[i / PASSED];
			}
		}
		if (!words || !LX_PFW_EXTRA_KIND(*words))
			error = put_span(lanes, span, words, ticks);
		else if (!pass(lanes, &lanes->list[0], ticks, false, 0))
			error = -ENOMEM;
		else
			error = put_moment(lanes, &lanes->list[0], span, words, ticks);
	}
	free(needed);
	return error;
}

int lx_pfw_lay_out(struct lx_pfw_lanes *lanes, struct lx_pfw_track *track, uint64_t start)
{
	size_t size = sizeof(struct lx_packet) + 8 * (2 * track->count + track->words.count + track->metadata.count + 16);
	int error = add_lane(lanes, size < LX_PACKET_MAX ? size : LX_PACKET_MAX) ? 0 : -ENOMEM;

	if (error == 0)
		error = put_args(lanes, &lanes->list[0], track->metadata.at, track->metadata.count, start);
	if (error == 0)
		error = put_spans(lanes, track);
	for (size_t i = 0; i < lanes->count && error == 0; i++) {
		while (lanes->list[i].depth > 0 && error == 0)
			error = end_top(lanes, &lanes->list[i]) ? 0 : -ENOMEM;
		close_packet(&lanes->list[i]);
	}
	free(track->spans);
	free(track->words.at);
	free(track->metadata.at);
	track->spans = NULL;
	track->words = track->metadata = (struct lx_pfw_words){ 0 };
	return error;
}

void lx_pfw_lanes_free(struct lx_pfw_lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++) {
		free(lanes->list[i].packets);
		free(lanes->list[i].stack);
	}
	free(lanes->list);
	lanes->list = NULL;
	lanes->count = lanes->room = 0;
}
