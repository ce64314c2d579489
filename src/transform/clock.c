#include "transform/parse.h"

#define NS 1000000000.0
#define SHORT_NS 1000000u  /* over less than this, the jitter of reading two clocks is too much */
#define TOLERANCE 0.05     /* a measurement further than this from the estimate tells of a suspend or of damage */

/* ns per tick between two samples; 0 if they do not tell. */
static double measure(const struct lx_clock_sample *from, const struct lx_clock_sample *to)
{
	if (to->ticks <= from->ticks || to->monotonic < from->monotonic + SHORT_NS || to->monotonic < from->monotonic)
		return 0;
	return (double)(to->monotonic - from->monotonic) / (double)(to->ticks - from->ticks);
}

static struct lx_clock_sample sample_of(const struct lx_packet *packet)
{
	return (struct lx_clock_sample){packet->timestamp_begin, packet->clock_monotonic, packet->clock_realtime};
}

/* The earliest and the latest packet's samples. */
static bool packet_samples(const struct lx_process *process, struct lx_clock_sample *first, struct lx_clock_sample *last)
{
	bool found = false;

	for (size_t i = 0; i < process->stream_count; i++) {
		const struct lx_stream *stream = &process->streams[i];

		if (stream->packet_count == 0)
			continue;
		struct lx_clock_sample begin = sample_of(stream->packets[0].header);
		struct lx_clock_sample end = sample_of(stream->packets[stream->packet_count - 1].header);

		if (!found || begin.ticks < first->ticks)
			*first = begin;
		if (!found || end.ticks > last->ticks)
			*last = end;
		found = true;
	}
	return found;
}

void lx_parse_clock(struct lx_process *process)
{
	struct lx_clock_sample start = process->state.start, end = process->state.end;
	struct lx_clock_sample first = {0}, last = {0};
	double estimate = NS / (double)process->state.clock_frequency, measured;
	bool packets = packet_samples(process, &first, &last);

	if (start.realtime == 0 && packets)
		start = first;
	process->clock_ticks = start.ticks;
	process->clock_real = start.realtime;
	process->ns_per_tick = estimate;
	if (process->state.clock_kind == LX_CLOCK_MONOTONIC && process->state.magic == LX_STATE_MAGIC) {
		process->ns_per_tick = 1;
		return;
	}
	measured = measure(&start, &end);
	if (measured == 0 && packets)
		measured = measure(&start, &last);
	/* Without a state, the estimate is a mere default. */
	if (measured > 0 && (process->state.magic != LX_STATE_MAGIC ||
			     (measured > estimate * (1 - TOLERANCE) && measured < estimate * (1 + TOLERANCE))))
		process->ns_per_tick = measured;
}

uint64_t lx_real_ns(const struct lx_process *process, uint64_t ticks)
{
	const double most = 9e18; /* ns; later times, of damaged traces, are all one */
	double distance = (double)(int64_t)(ticks - process->clock_ticks) * process->ns_per_tick;

	if (distance > most)
		distance = most;
	if (distance < 0 && -distance >= (double)process->clock_real)
		return 0;
	return process->clock_real + (uint64_t)(int64_t)distance;
}
