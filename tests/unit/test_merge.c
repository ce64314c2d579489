#include "maker.h"

#include "transform/trace.h"

struct run {
	char *path;
	struct lx_trace *trace;
};

/* Two processes, the second 1000 ns later and with half as many ticks a second; two streams in the first. */
static struct run two_processes(void)
{
	struct run run = {.path = made_folder()};
	struct lx_state fast = made_state(1), slow = made_state(1);
	struct made stream = {0}, other = {.thread = 1}, late = {0};
	char message[512] = "";

	slow.clock_frequency = 500000000;
	slow.start.realtime += 1000;
	made_process(run.path, "a-1", &fast);
	made_process(run.path, "b-2", &slow);
	made_packet(&stream, START);
	made_event(&stream, 100, LX_EV_FUNCTION_BEGIN, 1);  /* 100 ns */
	made_event(&stream, 1000, LX_EV_FUNCTION_END, 1);   /* 1100 */
	made_packet(&stream, START + 3000);
	made_event(&stream, 0, LX_EV_FUNCTION_BEGIN, 2);    /* 3000 */
	made_packet(&other, START);
	made_event(&other, 1100, LX_EV_FUNCTION_BEGIN, 3);  /* 1100, after the first stream's */
	made_packet(&late, START);
	made_packet(&late, START);
	made_event(&late, 100, LX_EV_FUNCTION_BEGIN, 4);    /* 1200 */
	made_event(&late, 1000, LX_EV_FUNCTION_END, 4);     /* 3200 */
	made_file(run.path, "a-1/stream-0", stream.data, stream.size);
	made_file(run.path, "a-1/stream-1", other.data, other.size);
	made_file(run.path, "b-2/stream-0", late.data, late.size);
	free(stream.data);
	free(other.data);
	free(late.data);
	assert_int_equal(lx_trace_open(run.path, &run.trace, message, sizeof(message)), 0);
	return run;
}

static void close_run(struct run *run)
{
	lx_trace_close(run->trace);
	remove_folder(run->path);
}

static void merges_by_real_time(void **state)
{
	const struct {
		uint64_t ns;
		uint32_t value, thread;
		size_t process;
		bool packet_start;
	} expected[] = {{100, 1, 0, 0, true},  {1100, 1, 0, 0, false}, {1100, 3, 1, 0, true},
			{1200, 4, 0, 1, true}, {3000, 2, 0, 0, true},  {3200, 4, 0, 1, false}};
	struct run run = two_processes();
	struct lx_merge *merge;
	struct lx_merged event;

	(void)state;
	assert_int_equal(lx_merge_open(run.trace, NULL, &merge), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(lx_merge_next(merge, &event));
		assert_int_equal(event.real_ns, START_REAL + expected[i].ns);
		assert_int_equal(event.event.value, expected[i].value);
		assert_int_equal(event.thread->number, expected[i].thread);
		assert_ptr_equal(event.process, &run.trace->processes[expected[i].process]);
		assert_int_equal(event.packet_start, expected[i].packet_start);
	}
	assert_false(lx_merge_next(merge, &event));
	assert_false(lx_merge_next(merge, &event));
	lx_merge_close(merge);
	close_run(&run);
}

static void merges_one_process_alone(void **state)
{
	struct run run = two_processes();
	struct lx_merge *merge;
	struct lx_merged event;
	unsigned count = 0;

	(void)state;
	assert_int_equal(lx_merge_open(run.trace, &run.trace->processes[1], &merge), 0);
	while (lx_merge_next(merge, &event)) {
		assert_ptr_equal(event.process, &run.trace->processes[1]);
		count++;
	}
	assert_int_equal(count, 2);
	lx_merge_close(merge);
	close_run(&run);
}

static void merges_many_streams_in_order(void **state)
{
	struct lx_state made = made_state(1);
	struct lx_merged event;
	struct lx_merge *merge;
	struct run run = {.path = made_folder()};
	char message[512] = "", name[40];
	uint64_t last = 0;
	unsigned count = 0;

	(void)state;
	srand(1);
	made_process(run.path, "p-1", &made);
	for (uint32_t i = 0; i < 37; i++) {
		struct made stream = {.thread = i};

		made_packet(&stream, START + (uint64_t)rand() % 100);
		for (uint32_t k = 0; k < i; k++)
			made_event(&stream, (uint64_t)rand() % 1000, LX_EV_FUNCTION_BEGIN, i);
		snprintf(name, sizeof(name), "p-1/stream-%u", i);
		made_file(run.path, name, stream.data, stream.size);
		free(stream.data);
	}
	assert_int_equal(lx_trace_open(run.path, &run.trace, message, sizeof(message)), 0);
	assert_int_equal(lx_merge_open(run.trace, NULL, &merge), 0);
	while (lx_merge_next(merge, &event)) {
		assert_true(event.real_ns >= last);
		last = event.real_ns;
		count++;
	}
	assert_int_equal(count, 37 * 36 / 2);
	lx_merge_close(merge);
	close_run(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_by_real_time),
		cmocka_unit_test(merges_one_process_alone),
		cmocka_unit_test(merges_many_streams_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
