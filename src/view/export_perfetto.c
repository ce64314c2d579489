/*
 * Perfetto's trace format: protobuf messages TracePacket, one per begin and end. Each thread is a packet sequence of its
 * own with its own interned names and a clock that only counts the time since its packet before, so that an end takes 13
 * bytes and a begin some 20. Field numbers are those of perfetto_trace.proto.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/export_perfetto.h"

#define CATEGORY_C LX_DOMAIN_COUNT
#define CATEGORY_IMPORT (LX_DOMAIN_COUNT + 1)
#define CATEGORY_OTHER (LX_DOMAIN_COUNT + 2)
#define CATEGORIES 16
#define ENDED_BIT(ended) (1u << (16 + (ended)))

static uint64_t track_of_process(const struct lx_export *export)
{
	return lx_perfetto_track(export, 0);
}

size_t lx_perfetto_begin(struct lx_perfetto *state)
{
	size_t mark;

	state->proto.size = 0;
	mark = lx_proto_begin(&state->proto, TRACE_PACKET);
	lx_proto_uint(&state->proto, PACKET_SEQUENCE_ID, state->sequence);
	return mark;
}

size_t lx_perfetto_begin_event(struct lx_export *export, uint64_t ticks, size_t *event)
{
	struct lx_perfetto *state = export->state;
	uint64_t now = lx_export_ns(export, ticks), passed = now > state->now ? now - state->now : 0;
	size_t packet = lx_perfetto_begin(state);

	state->now += passed;
	lx_proto_uint(&state->proto, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	lx_proto_uint(&state->proto, PACKET_TIMESTAMP, passed);
	*event = lx_proto_begin(&state->proto, PACKET_TRACK_EVENT);
	return packet;
}

void lx_perfetto_end(struct lx_export *export, size_t mark)
{
	struct lx_perfetto *state = export->state;

	lx_proto_end(&state->proto, mark);
	if (state->proto.failed)
		export->error = -ENOMEM;
	else
		lx_out_write(export->out, state->proto.data, state->proto.size);
}

static void add_clocks(struct lx_export *export)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;
	size_t snapshot = lx_proto_begin(proto, PACKET_CLOCK_SNAPSHOT), clock;

	/* Every snapshot has the same moment: trace processors refuse a clock that goes back from one to the next. */
	clock = lx_proto_begin(proto, SNAPSHOT_CLOCK);
	lx_proto_uint(proto, CLOCK_ID, SEQUENCE_CLOCK);
	lx_proto_uint(proto, CLOCK_TIMESTAMP, 0);
	lx_proto_uint(proto, CLOCK_IS_INCREMENTAL, 1);
	lx_proto_end(proto, clock);
	clock = lx_proto_begin(proto, SNAPSHOT_CLOCK);
	lx_proto_uint(proto, CLOCK_ID, REALTIME);
	lx_proto_uint(proto, CLOCK_TIMESTAMP, export->origin);
	lx_proto_end(proto, clock);
	lx_proto_uint(proto, SNAPSHOT_PRIMARY_CLOCK, REALTIME);
	lx_proto_end(proto, snapshot);
}

/* A new sequence whose events belong to `track`. */
static void begin_sequence(struct lx_export *export, uint64_t track)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	size_t packet, defaults, event;
	uint8_t *at = state->tail;

	state->sequence++;
	state->now = 0;
	state->interned = 0;
	*at++ = TAG_VARINT(PACKET_SEQUENCE_ID);
	at = lx_proto_varint(at, state->sequence);
	*at++ = TAG_VARINT(PACKET_SEQUENCE_FLAGS);
	*at++ = FLAG_NEEDS_STATE;
	state->tail_size = (uint8_t)(at - state->tail);

	packet = lx_perfetto_begin(state);
	lx_proto_uint(proto, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	lx_proto_uint(proto, PACKET_FIRST_ON_SEQUENCE, 1);
	defaults = lx_proto_begin(proto, PACKET_DEFAULTS);
	lx_proto_uint(proto, DEFAULTS_CLOCK_ID, SEQUENCE_CLOCK);
	event = lx_proto_begin(proto, DEFAULTS_TRACK_EVENT);
	lx_proto_uint(proto, DEFAULTS_TRACK_UUID, track);
	lx_proto_end(proto, event);
	lx_proto_end(proto, defaults);
	add_clocks(export);
	lx_perfetto_end(export, packet);
}

static void add_command(struct lx_proto *proto, const struct lx_process *process)
{
	const char *argv = process->key[LX_KEY_argv];
	size_t size = argv ? process->key_size[LX_KEY_argv] : 0;

	for (size_t at = 0; at < size;) {
		size_t length = strnlen(argv + at, size - at);

		lx_proto_text(proto, PROCESS_CMDLINE, argv + at, length);
		at += length + 1;
	}
}

static void put_moment(struct lx_export *export, uint64_t ticks, const char *text, size_t size)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;
	size_t event, packet = lx_perfetto_begin_event(export, ticks, &event);

	lx_proto_uint(proto, EVENT_TYPE, TYPE_INSTANT);
	lx_proto_text(proto, EVENT_NAME, text, size);
	lx_proto_end(proto, event);
	lx_perfetto_end(export, packet);
}

/* The process's track, in a sequence of its own; a loss of events is a mark on it, and so is the end of a domain's recording. */
static void describe_process(struct lx_export *export)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	char losses[512];
	size_t packet, track, process, lost = lx_export_losses(export->process, losses, sizeof(losses));

	state->described = true;
	begin_sequence(export, track_of_process(export));
	packet = lx_perfetto_begin(state);
	track = lx_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);
	lx_proto_uint(proto, TRACK_UUID, track_of_process(export));
	process = lx_proto_begin(proto, TRACK_PROCESS);
	lx_proto_uint(proto, PROCESS_PID, export->pid);
	add_command(proto, export->process);
	lx_proto_string(proto, PROCESS_NAME, lx_export_program(export));
	if (lost)
		lx_proto_text(proto, PROCESS_LABELS, losses, lost);
	lx_proto_end(proto, process);
	lx_proto_end(proto, track);
	lx_perfetto_end(export, packet);
	lx_export_moments(export, put_moment);
}

static void new_thread(struct lx_export *export)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	const struct lx_thread_info *info = export->thread;
	size_t packet, track, thread;
	uint64_t uuid;

	if (!state->described)
		describe_process(export);
	uuid = track_of_process(export) + info->number + 1;
	begin_sequence(export, uuid);
	packet = lx_perfetto_begin(state);
	track = lx_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);
	lx_proto_uint(proto, TRACK_UUID, uuid);
	lx_proto_uint(proto, TRACK_PARENT, track_of_process(export));
	thread = lx_proto_begin(proto, TRACK_THREAD);
	lx_proto_uint(proto, THREAD_PID, export->pid);
	lx_proto_uint(proto, THREAD_TID, export->tid);
	lx_proto_uint(proto, THREAD_SORT_INDEX, info->number);
	lx_proto_string(proto, THREAD_NAME, info->name);
	lx_proto_end(proto, thread);
	lx_proto_end(proto, track);
	lx_perfetto_end(export, packet);
}

static int new_process(struct lx_export *export)
{
	struct lx_perfetto *state = export->state;
	size_t count = export->process->lexgion_count;

	free(state->places);
	state->place_count = count > 0 ? (uint32_t)count : 1;
	state->places = calloc(state->place_count, sizeof(*state->places));
	state->described = false;
	state->lane_count = 0;
	return state->places ? 0 : -ENOMEM;
}

static int end_process(struct lx_export *export)
{
	struct lx_perfetto *state = export->state;

	if (!state->described && lx_export_moments(export, NULL) > 0)
		describe_process(export); /* all that was to be seen is lost */
	return export->error;
}

static void add_interned(struct lx_proto *proto, uint32_t field, uint32_t iid, const char *text, size_t size)
{
	size_t mark = lx_proto_begin(proto, field);

	lx_proto_uint(proto, INTERNED_IID, iid);
	lx_proto_text(proto, INTERNED_TEXT, text, size);
	lx_proto_end(proto, mark);
}

static size_t begin_interned(struct lx_perfetto *state, size_t *packet)
{
	*packet = lx_perfetto_begin(state);
	lx_proto_uint(&state->proto, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	return lx_proto_begin(&state->proto, PACKET_INTERNED_DATA);
}

/* A place's names become known to the current sequence. The ids follow from the lexgion's, so they stay the same. */
static void intern_place(struct lx_export *export, struct lx_perfetto_place *place)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	uint32_t id = (uint32_t)(place - state->places), iid = id + 1;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);
	unsigned category = lexgion->flags & LX_LEXGION_C ? CATEGORY_C
			    : lexgion->flags & LX_LEXGION_IMPORT ? CATEGORY_IMPORT
			    : lexgion->domain < LX_DOMAIN_COUNT ? lexgion->domain : CATEGORY_OTHER;
	size_t packet, interned = begin_interned(state, &packet), source;
	struct lx_export_label label;
	uint8_t *at = place->bytes;
	uint32_t category_iid = category + 1;

	lx_export_label(lexgion, &label);
	if (label.category == lexgion->name) {
		category_iid = CATEGORIES + iid; /* its own */
		add_interned(proto, INTERNED_CATEGORY, category_iid, label.category, label.category_size);
	} else if (!(state->interned & 1u << category)) {
		add_interned(proto, INTERNED_CATEGORY, category_iid, label.category, label.category_size);
		state->interned |= 1u << category;
	}
	add_interned(proto, INTERNED_NAME, iid, label.name, label.name_size);
	*at++ = TAG_VARINT(EVENT_CATEGORY_IID);
	at = lx_proto_varint(at, category_iid);
	*at++ = TAG_VARINT(EVENT_NAME_IID);
	at = lx_proto_varint(at, iid);
	if (lexgion->file_size > 0) {
		source = lx_proto_begin(proto, INTERNED_SOURCE);
		lx_proto_uint(proto, INTERNED_IID, iid);
		lx_proto_text(proto, SOURCE_FILE, lexgion->file, lexgion->file_size);
		if (lexgion->line > 0)
			lx_proto_uint(proto, SOURCE_LINE, lexgion->line);
		lx_proto_end(proto, source);
		at = lx_proto_varint(at, EVENT_SOURCE_IID << 3);
		at = lx_proto_varint(at, iid);
	}
	place->size = (uint8_t)(at - place->bytes);
	place->sequence = state->sequence;
	lx_proto_end(proto, interned);
	lx_perfetto_end(export, packet);
}

static void intern_ended(struct lx_export *export, enum lx_ended ended)
{
	struct lx_perfetto *state = export->state;
	size_t packet, interned = begin_interned(state, &packet);
	const char *word = lx_export_ended(ended);

	if (!(state->interned & ENDED_BIT(LX_ENDED_RETURN)))
		add_interned(&state->proto, INTERNED_KEY, IID_ENDED, "ended", strlen("ended"));
	add_interned(&state->proto, INTERNED_VALUE, ended, word, strlen(word));
	state->interned |= ENDED_BIT(LX_ENDED_RETURN) | ENDED_BIT(ended);
	lx_proto_end(&state->proto, interned);
	lx_perfetto_end(export, packet);
}

#define EVENT_SIZE_MAX 96

/* All of a packet before its TrackEvent's content; `at` has EVENT_SIZE_MAX bytes, the first two are for the end. */
static inline uint8_t *packet_head(struct lx_export *export, uint8_t *at, uint64_t ticks)
{
	struct lx_perfetto *state = export->state;
	uint64_t now = lx_export_ns(export, ticks), passed = now > state->now ? now - state->now : 0;

	state->now += passed;
	at += 2;
	*at++ = TAG_VARINT(PACKET_TIMESTAMP);
	at = lx_proto_varint(at, passed);
	memcpy(at, state->tail, sizeof(state->tail));
	at += state->tail_size;
	*at = TAG_BYTES(PACKET_TRACK_EVENT);
	return at + 2;
}

/* `event` is what packet_head() gave, `end` the event's end. Both lengths are below 128: one byte each. */
static inline void packet_end(struct lx_out *out, uint8_t *start, uint8_t *event, uint8_t *end)
{
	event[-1] = (uint8_t)(end - event);
	start[0] = TAG_BYTES(TRACE_PACKET);
	start[1] = (uint8_t)(end - start - 2);
	out->at = end;
}

static void enter(struct lx_export *export, struct lx_span *span)
{
	struct lx_perfetto *state = export->state;
	struct lx_perfetto_place *place = &state->places[span->lexgion < state->place_count ? span->lexgion : 0];

	if (__builtin_expect(place->sequence != state->sequence, 0))
		intern_place(export, place);
	uint8_t *start = lx_out_room(export->out, EVENT_SIZE_MAX);
	uint8_t *event = packet_head(export, start, span->begin), *at = event;

	*at++ = TAG_VARINT(EVENT_TYPE);
	*at++ = TYPE_BEGIN;
	memcpy(at, place->bytes, sizeof(place->bytes));
	packet_end(export->out, start, event, at + place->size);
}

/* The annotations of the end are added to the slice as those of the begin are. */
static void leave_annotated(struct lx_export *export, const struct lx_span *span, const char *comp)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;
	const char *ended = lx_export_ended(span->ended);
	size_t event, packet = lx_perfetto_begin_event(export, span->end, &event), mark;

	lx_proto_uint(proto, EVENT_TYPE, TYPE_END);
	if (ended) {
		mark = lx_proto_begin(proto, EVENT_ANNOTATION);
		lx_proto_uint(proto, ANNOTATION_NAME_IID, IID_ENDED);
		lx_proto_uint(proto, ANNOTATION_VALUE_IID, span->ended);
		lx_proto_end(proto, mark);
	}
	if (comp) {
		mark = lx_proto_begin(proto, EVENT_ANNOTATION);
		lx_proto_string(proto, ANNOTATION_NAME, "comp");
		lx_proto_string(proto, ANNOTATION_TEXT, comp);
		lx_proto_end(proto, mark);
	}
	lx_perfetto_arguments(export, span->arguments);
	lx_proto_end(proto, event);
	lx_perfetto_end(export, packet);
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	struct lx_perfetto *state = export->state;
	struct lx_export_label label;

	if (span->ended != LX_ENDED_RETURN && !(state->interned & ENDED_BIT(span->ended)))
		intern_ended(export, span->ended);
	if (__builtin_expect(span->arguments || LX_LEXGION_COMP(lx_lexgion(export->process, span->lexgion)->flags), 0)) {
		lx_export_label(lx_lexgion(export->process, span->lexgion), &label);
		leave_annotated(export, span, label.comp);
		return;
	}
	uint8_t *start = lx_out_room(export->out, EVENT_SIZE_MAX);
	uint8_t *event = packet_head(export, start, span->end), *at = event;

	*at++ = TAG_VARINT(EVENT_TYPE);
	*at++ = TYPE_END;
	if (span->ended != LX_ENDED_RETURN) {
		*at++ = TAG_BYTES(EVENT_ANNOTATION);
		*at++ = 5;
		*at++ = TAG_VARINT(ANNOTATION_NAME_IID);
		*at++ = IID_ENDED;
		at = lx_proto_varint(at, ANNOTATION_VALUE_IID << 3);
		*at++ = (uint8_t)span->ended;
	}
	packet_end(export->out, start, event, at);
}

static void release(struct lx_export *export)
{
	struct lx_perfetto *state = export->state;

	lx_proto_free(&state->proto);
	free(state->places);
	free(state->lanes);
}

const struct lx_export_format lx_export_perfetto = {
	.name = "perfetto",
	.extension = ".perfetto-trace",
	.extensions = ".perfetto-trace .pftrace .perfetto",
	.summary = "the Perfetto UI and trace_processor",
	.binary = true,
	.state_size = sizeof(struct lx_perfetto),
	.process = new_process,
	.thread = new_thread,
	.enter = enter,
	.leave = leave,
	.told = lx_perfetto_told,
	.process_end = end_process,
	.release = release,
};
