#include "maker.h"

#include <math.h>

#include "transform/parse.h"

/* ns per tick as read with these packets (ticks and CLOCK_MONOTONIC of each; the last is zeros). */
static double rate(const struct lx_state *state, const struct lx_clock_sample *packets)
{
	struct lx_process process = {0};
	struct lx_stream stream = {0};
	struct lx_packet_ref refs[8] = {{0}};
	struct lx_packet headers[8] = {{0}};

	for (; packets->ticks; packets++) {
		struct lx_packet *header = &headers[stream.packet_count];

		header->timestamp_begin = packets->ticks;
		header->clock_monotonic = packets->monotonic;
		header->clock_realtime = packets->realtime;
		refs[stream.packet_count++].header = header;
	}
	stream.packets = refs;
	process.streams = &stream;
	process.stream_count = 1;
	lx_parse_state(&process, state, state ? sizeof(*state) : 0);
	lx_parse_clock(&process);
	return process.ns_per_tick;
}

static const struct lx_clock_sample none[] = {{0, 0, 0}};

static bool near(double a, double b, double relative)
{
	return fabs(a / b - 1) < relative;
}

static void an_ended_trace_has_its_rate_from_its_samples(void **state)
{
	struct lx_state made = made_state(1);

	(void)state;
	made.clock_frequency = 1000100000; /* an estimate that is 100 ppm off */
	made.end = (struct lx_clock_sample){START + 500000000, 7000 + 500000000, START_REAL + 500000000};
	assert_true(near(rate(&made, none), 1.0, 1e-9));
	made.end.ticks = START + 10; /* nonsense: 10 ticks in half a second */
	assert_true(near(rate(&made, none), 1e9 / 1000100000, 1e-9));
	made.end.ticks = START - 10;
	assert_true(near(rate(&made, none), 1e9 / 1000100000, 1e-9));
}

static void a_killed_trace_has_its_rate_from_its_packets(void **state)
{
	struct lx_state made = made_state(0);
	const uint64_t s = 1000000000;
	/* Each packet's clocks were read some time after its timestamp: 100, 9 and 50 us. */
	const struct lx_clock_sample packets[] = {{START + 20 * s, 7000 + 20 * s + 100000, START_REAL},
						  {START + 30 * s, 7000 + 30 * s + 9000, START_REAL},
						  {START + 40 * s, 7000 + 40 * s + 50000, START_REAL},
						  {0, 0, 0}};
	const struct lx_clock_sample early[] = {{START + 20000000, 7000 + 20100000, START_REAL}, {0, 0, 0}};

	(void)state;
	made.clock_frequency = 1000100000;
	assert_true(near(rate(&made, packets), 1.0, 1e-6));
	assert_true(near(rate(&made, early), 1e9 / 1000100000, 1e-9)); /* too early to tell: the estimate */
}

static void the_monotonic_clock_ticks_in_ns(void **state)
{
	struct lx_state made = made_state(1);

	(void)state;
	made.clock_kind = LX_CLOCK_MONOTONIC;
	made.clock_frequency = 5;
	assert_true(rate(&made, none) == 1.0);
}

static void without_a_state_packets_tell(void **state)
{
	const struct lx_clock_sample packets[] = {{START, 7000, START_REAL},
						  {START + 2600000000, 7000 + 1000000000, START_REAL + 1000000000},
						  {0, 0, 0}};

	(void)state;
	assert_true(near(rate(NULL, packets), 1 / 2.6, 1e-9));
	assert_true(near(rate(NULL, none), 1.0, 1e-9));
}

static void real_time_rises_with_ticks_whatever_they_are(void **state)
{
	struct lx_process process = {.clock_ticks = START, .clock_real = START_REAL, .ns_per_tick = 0.5};
	const uint64_t far[] = {0, START, START + (1ull << 40), START + (1ull << 62)};

	(void)state;
	assert_int_equal(lx_real_ns(&process, START), START_REAL);
	assert_int_equal(lx_real_ns(&process, START + 2000), START_REAL + 1000);
	assert_int_equal(lx_real_ns(&process, START - 2000), START_REAL - 1000);
	for (size_t i = 1; i < sizeof(far) / sizeof(far[0]); i++)
		assert_true(lx_real_ns(&process, far[i]) > lx_real_ns(&process, far[i - 1]));
	process.ns_per_tick = 1e9;
	assert_true(lx_real_ns(&process, START + (1ull << 62)) > START_REAL);
	assert_int_equal(lx_real_ns(&process, START - (1ull << 62)), 0);
}

static void a_start_far_off_is_no_danger(void **state)
{
	struct lx_process process = {0};
	struct lx_state made = made_state(1);

	(void)state;
	made.start.realtime = UINT64_MAX;
	made.clock_frequency = 1;
	lx_parse_state(&process, &made, sizeof(made));
	lx_parse_clock(&process);
	assert_int_equal(lx_real_ns(&process, START - 20000000000), 0);
	assert_true(lx_real_ns(&process, START + 20000000000) > lx_real_ns(&process, START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ended_trace_has_its_rate_from_its_samples),
		cmocka_unit_test(a_killed_trace_has_its_rate_from_its_packets),
		cmocka_unit_test(the_monotonic_clock_ticks_in_ns),
		cmocka_unit_test(without_a_state_packets_tell),
		cmocka_unit_test(real_time_rises_with_ticks_whatever_they_are),
		cmocka_unit_test(a_start_far_off_is_no_danger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
