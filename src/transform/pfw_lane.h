/*
 * Lanes: the native events of one thread's spans. Spans that overlap without nesting, as those of concurrent tasks do, can't
 * stand on one stack; each goes to the first lane whose open spans it fits into. A lane is a stream and a thread of its own.
 */
#ifndef LX_TRANSFORM_PFW_LANE_H
#define LX_TRANSFORM_PFW_LANE_H

#include "transform/pfw.h"

struct lx_pfw_open {
	uint64_t end;       /* ticks */
	uint64_t order;     /* in the file */
	uint32_t lexgion;
	uint32_t kind;      /* of the event that ends it */
};

struct lx_pfw_lane {
	struct lx_packet_ref *packets;
	size_t packet_count, packet_room;
	struct lx_packet *packet; /* the last one */
	uint64_t *at, *end;
	uint64_t ticks;     /* of the last event */
	size_t next_size;   /* bytes of the next packet */
	struct lx_pfw_open *stack;
	uint32_t depth, room;
	uint32_t events;    /* in the packet */
};

struct lx_pfw_lanes {
	struct lx_pfw *pfw;
	struct lx_pfw_lane *list;
	size_t count, room;
	uint32_t first_number; /* thread number of the first lane */
	uint32_t tid;
};

/*
 * Lays the spans of a sorted track out, after `metadata` at `start`, and frees what the track holds. Packets lie in the store; all
 * else is the caller's to free with lx_pfw_lanes_free(). 0 or -ENOMEM.
 */
int lx_pfw_lay_out(struct lx_pfw_lanes *lanes, struct lx_pfw_track *track, uint64_t start);
void lx_pfw_lanes_free(struct lx_pfw_lanes *lanes);

#endif
