/* Arguments, and what is told beside the slices: spans of the past, moments, counters, metadata. */
#include <errno.h>
#include <stdlib.h>

#include "view/export_perfetto.h"
#include "view/export_pairs.h"
#include "view/json_value.h"

#define LANES_MAX 64 /* spans that overlap more than so many times share a track */

void lx_perfetto_arguments(struct lx_export *export, const struct lx_arguments *arguments)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;

	for (uint32_t i = 0; arguments && i < arguments->count; i++) {
		const struct lx_argument *argument = &arguments->list[i];
		const struct lx_lexgion *key = lx_lexgion(export->process, argument->key);
		size_t mark = lx_proto_begin(proto, EVENT_ANNOTATION);

		lx_proto_text(proto, ANNOTATION_NAME, key->name, key->name_size);
		if (argument->kind == LX_EV_ARG_INT)
			lx_proto_uint(proto, ANNOTATION_INT, (uint64_t)argument->integer);
		else if (argument->kind == LX_EV_ARG_FLOAT)
			lx_proto_double(proto, ANNOTATION_DOUBLE, argument->real);
		else if (argument->form == LX_TEXT_JSON && lx_json_valid(argument->text, argument->size))
			lx_proto_text(proto, ANNOTATION_JSON, argument->text, argument->size);
		else
			lx_proto_text(proto, ANNOTATION_TEXT, argument->text ? argument->text : "", argument->size);
		lx_proto_end(proto, mark);
	}
}

/* A track below the process's: of a counter, or a lane for spans. */
static void describe_track(struct lx_export *export, uint32_t number, const char *name, size_t size, bool counter)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	size_t packet = lx_perfetto_begin(state), track = lx_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);

	lx_proto_uint(proto, TRACK_UUID, lx_perfetto_track(export, number));
	lx_proto_text(proto, TRACK_NAME, name, size);
	lx_proto_uint(proto, TRACK_PARENT, lx_perfetto_track(export, 0));
	if (counter)
		lx_proto_end(proto, lx_proto_begin(proto, TRACK_COUNTER));
	lx_proto_end(proto, track);
	lx_perfetto_end(export, packet);
}

/* The number of a lane that is free from `begin` on; it is taken until `end`. */
static uint32_t take_lane(struct lx_export *export, uint64_t begin, uint64_t end)
{
	static const char name[] = "told afterwards";
	struct lx_perfetto *state = export->state;
	uint32_t lane = 0;
	uint64_t *lanes;

	while (lane < state->lane_count && state->lanes[lane] > begin)
		lane++;
	if (lane == LANES_MAX)
		lane = 0;
	if (lane == state->lane_count) {
		lanes = lx_items_reserve(state->lanes, &state->lane_room, lane + 1, sizeof(*lanes));
		if (!lanes) {
			export->error = -ENOMEM;
			return 0;
		}
		state->lanes = lanes;
		state->lanes[state->lane_count++] = 0;
		describe_track(export, LX_PERFETTO_LANES + lane, name, sizeof(name) - 1, false);
	}
	if (end > state->lanes[lane])
		state->lanes[lane] = end;
	return LX_PERFETTO_LANES + lane;
}

static void put_name(struct lx_export *export, uint32_t lexgion, struct lx_export_label *label)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;

	lx_export_label(lx_lexgion(export->process, lexgion), label);
	lx_proto_text(proto, EVENT_NAME, label->name, label->name_size);
	lx_proto_text(proto, EVENT_CATEGORY, label->category, label->category_size);
	if (label->comp) {
		size_t mark = lx_proto_begin(proto, EVENT_ANNOTATION);

		lx_proto_string(proto, ANNOTATION_NAME, "comp");
		lx_proto_string(proto, ANNOTATION_TEXT, label->comp);
		lx_proto_end(proto, mark);
	}
}

/* Its times are of the past, so they do not come from the sequence's clock. */
static void put_span(struct lx_export *export, const struct lx_told *told)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	struct lx_export_label label;
	uint64_t times[2] = { told->begin > 0 ? (uint64_t)told->begin : 0, 0 };
	uint32_t lane;

	times[1] = times[0] + (told->duration < INT64_MAX ? told->duration : INT64_MAX);
	lane = take_lane(export, times[0], times[1]);
	for (int half = 0; half < 2; half++) {
		size_t packet = lx_perfetto_begin(state), event;

		lx_proto_uint(proto, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
		lx_proto_uint(proto, PACKET_TIMESTAMP, times[half]);
		lx_proto_uint(proto, PACKET_TIMESTAMP_CLOCK_ID, REALTIME);
		event = lx_proto_begin(proto, PACKET_TRACK_EVENT);
		lx_proto_uint(proto, EVENT_TYPE, half ? TYPE_END : TYPE_BEGIN);
		lx_proto_uint(proto, EVENT_TRACK_UUID, lx_perfetto_track(export, lane));
		if (!half) {
			put_name(export, told->lexgion, &label);
			lx_perfetto_arguments(export, told->arguments);
		}
		lx_proto_end(proto, event);
		lx_perfetto_end(export, packet);
	}
}

static void put_counter(struct lx_export *export, const struct lx_told *told)
{
	struct lx_perfetto *state = export->state;
	struct lx_proto *proto = &state->proto;
	uint32_t id = told->lexgion < state->place_count ? told->lexgion : 0, number = LX_PERFETTO_COUNTERS + id;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);
	size_t packet, event;

	if (!state->places[id].counted)
		describe_track(export, number, lexgion->name, lexgion->name_size, true);
	state->places[id].counted = true;
	packet = lx_perfetto_begin_event(export, told->ticks, &event);
	lx_proto_uint(proto, EVENT_TYPE, TYPE_COUNTER);
	lx_proto_uint(proto, EVENT_TRACK_UUID, lx_perfetto_track(export, number));
	lx_proto_double(proto, EVENT_DOUBLE_COUNTER, told->value);
	lx_proto_end(proto, event);
	lx_perfetto_end(export, packet);
}

/* A moment of the thread; a metadata entry is one of the process. */
static void put_instant(struct lx_export *export, const struct lx_told *told)
{
	struct lx_proto *proto = &((struct lx_perfetto *)export->state)->proto;
	struct lx_export_label label;
	size_t event, packet = lx_perfetto_begin_event(export, told->ticks, &event);

	lx_proto_uint(proto, EVENT_TYPE, TYPE_INSTANT);
	if (told->kind == LX_EV_METADATA) {
		lx_proto_uint(proto, EVENT_TRACK_UUID, lx_perfetto_track(export, 0));
		lx_proto_string(proto, EVENT_NAME, "metadata");
	} else {
		put_name(export, told->lexgion, &label);
	}
	lx_perfetto_arguments(export, told->arguments);
	lx_proto_end(proto, event);
	lx_perfetto_end(export, packet);
}

void lx_perfetto_told(struct lx_export *export, const struct lx_told *told)
{
	if (told->kind == LX_EV_SPAN)
		put_span(export, told);
	else if (told->kind == LX_EV_COUNTER)
		put_counter(export, told);
	else
		put_instant(export, told);
}
