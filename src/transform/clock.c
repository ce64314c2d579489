#include "transform/parse.h"

#define NS 1000000000.0
#define LATEST 9000000000000000000u /* ns, in 2255; later times, of damaged traces, are all one */
#define TOLERANCE 0.01          /* a measurement further than this from the estimate tells of a suspend or of damage */
#define SHORT_SAMPLES 1000000u  /* ns; two samples this far apart are good to some 100 ppm, as the estimate is */
#define SHORT_PACKETS 10000000000u /* ns; a packet's clocks are read up to some 100 us after its timestamp */

/* ns per tick between two samples; 0 if they are nearer than `shortest` ns. */
static double measure(const struct lx_clock_sample *from, const struct lx_clock_sample *to, uint64_t shortest)
{
	if (to->ticks <= from->ticks || to->monotonic < from->monotonic || to->monotonic - from->monotonic < shortest)
		return 0;
	return (double)(to->monotonic - from->monotonic) / (double)(to->ticks - from->ticks);
}

static bool plausible(double measured, double estimate)
{
	return measured > estimate * (1 - TOLERANCE) && measured < estimate * (1 + TOLERANCE);
}

static struct lx_clock_sample sample_of(const struct lx_packet *packet)
{
	return (struct lx_clock_sample){packet->timestamp_begin, packet->clock_monotonic, packet->clock_realtime};
}

/* The earliest packet's sample; all zeros without packets. */
static struct lx_clock_sample first_sample(const struct lx_process *process)
{
	struct lx_clock_sample first = {0};

	for (size_t i = 0; i < process->stream_count; i++) {
		const struct lx_stream *stream = &process->streams[i];

		if (stream->packet_count == 0)
			continue;
		struct lx_clock_sample sample = sample_of(stream->packets[0].header);

		if (first.realtime == 0 || sample.ticks < first.ticks)
			first = sample;
	}
	return first;
}

/* A packet's clocks are never read before its timestamp, so the least of these rates is the nearest to the true one. */
static double measure_packets(const struct lx_process *process, const struct lx_clock_sample *start, double estimate)
{
	double least = 0;

	for (size_t i = 0; i < process->stream_count; i++) {
		for (size_t k = 0; k < process->streams[i].packet_count; k++) {
			struct lx_clock_sample sample = sample_of(process->streams[i].packets[k].header);
			double rate = measure(start, &sample, SHORT_PACKETS);

			if (plausible(rate, estimate) && (least == 0 || rate < least))
				least = rate;
		}
	}
	return least;
}

/* Without a state the packets are all there is: the last one of the stream that goes on longest. */
static double measure_alone(const struct lx_process *process, const struct lx_clock_sample *start, double fallback)
{
	struct lx_clock_sample last = *start;
	double measured;

	for (size_t i = 0; i < process->stream_count; i++) {
		const struct lx_stream *stream = &process->streams[i];

		if (stream->packet_count > 0 && stream->packets[stream->packet_count - 1].header->timestamp_begin > last.ticks)
			last = sample_of(stream->packets[stream->packet_count - 1].header);
	}
	measured = measure(start, &last, SHORT_SAMPLES);
	return measured > 0 ? measured : fallback;
}

void lx_parse_clock(struct lx_process *process)
{
	const struct lx_state *state = &process->state;
	struct lx_clock_sample start = state->start;
	double estimate = NS / (double)state->clock_frequency, measured;

	if (start.realtime == 0)
		start = first_sample(process);
	process->clock_ticks = start.ticks;
	process->clock_real = start.realtime < LATEST ? start.realtime : LATEST;
	process->ns_per_tick = estimate;
	if (state->magic == LX_STATE_MAGIC && state->clock_kind == LX_CLOCK_MONOTONIC) {
		process->ns_per_tick = 1;
		return;
	}
	if (state->magic != LX_STATE_MAGIC) {
		process->ns_per_tick = measure_alone(process, &start, estimate);
		return;
	}
	measured = measure(&start, &state->end, SHORT_SAMPLES);
	if (!plausible(measured, estimate))
		measured = measure_packets(process, &start, estimate);
	if (measured > 0)
		process->ns_per_tick = measured;
}

uint64_t lx_real_ns(const struct lx_process *process, uint64_t ticks)
{
	double distance = (double)(int64_t)(ticks - process->clock_ticks) * process->ns_per_tick;

	if (distance > (double)LATEST)
		distance = (double)LATEST;
	if (distance <= -(double)process->clock_real)
		return 0;
	return process->clock_real + (uint64_t)(int64_t)distance;
}
