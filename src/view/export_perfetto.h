/* What the parts of the Perfetto export share: export_perfetto.c has the slices, export_perfetto_told.c what stands beside. */
#ifndef LX_VIEW_EXPORT_PERFETTO_H
#define LX_VIEW_EXPORT_PERFETTO_H

#include "view/export.h"
#include "view/export_proto.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, DEFAULTS_TRACK_UUID = 11 };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };
enum { REALTIME = 1, SEQUENCE_CLOCK = 64 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_COUNTER = 8, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 2, PROCESS_NAME = 6, PROCESS_LABELS = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT_INDEX = 3, THREAD_NAME = 5 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_SOURCE = 4, INTERNED_VALUE = 29 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2, SOURCE_FILE = 2, SOURCE_LINE = 4 };
enum {
	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_SOURCE_IID = 34,
	EVENT_DOUBLE_COUNTER = 44,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_JSON = 9,
	ANNOTATION_NAME = 10,
	ANNOTATION_VALUE_IID = 17,
};
enum { IID_ENDED = 1 };

#define TAG_VARINT(field) ((uint8_t)((field) << 3))
#define TAG_BYTES(field) ((uint8_t)((field) << 3 | 2))

/* The part of a begin's TrackEvent that says what begins. */
struct lx_perfetto_place {
	uint32_t sequence; /* in which its names were interned last */
	uint8_t size;
	uint8_t bytes[16];
	bool counted;      /* it has a counter's track */
};

struct lx_perfetto {
	struct lx_proto proto;
	struct lx_perfetto_place *places;      /* by lexgion */
	uint32_t place_count;
	uint32_t sequence;         /* the current one */
	uint64_t now;              /* ns since the run's start of the sequence's last packet */
	uint32_t interned;         /* bits: categories, then reasons of ends */
	uint8_t tail[16];          /* of each packet: sequence id and flags */
	uint8_t tail_size;
	bool described;            /* the process has its descriptor */
	uint64_t *lanes;           /* realtime ns at which the last span told of afterwards ends, by track */
	uint32_t lane_count, lane_room;
};

/* Tracks of a process: its own, those of threads by number + 1, then lanes, then counters by lexgion. */
static inline uint64_t lx_perfetto_track(const struct lx_export *export, uint32_t number)
{
	return ((uint64_t)(export->process_index + 1) << 32) + number;
}

#define LX_PERFETTO_LANES 0x80000000u
#define LX_PERFETTO_COUNTERS 0xc0000000u

/* A packet of the current sequence, in state->proto. `mark` comes from its begin. */
size_t lx_perfetto_begin(struct lx_perfetto *state);
void lx_perfetto_end(struct lx_export *export, size_t mark);

/* The same with a TrackEvent in it, at a time of the sequence's clock; *event is its mark. */
size_t lx_perfetto_begin_event(struct lx_export *export, uint64_t ticks, size_t *event);

/* "args" of an event under way. */
void lx_perfetto_arguments(struct lx_export *export, const struct lx_arguments *arguments);

void lx_perfetto_told(struct lx_export *export, const struct lx_told *told);

#endif
