/* Round trips in C: the real recorder writes, the real reader reads. */
#include "maker.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lextrace/lextrace.h"
#include "record/record.h"
#include "transform/trace.h"
#include "view/spans.h"

static char run[64];

static int make_run(void **state)
{
	(void)state;
	strcpy(run, "/tmp/lextrace-record-XXXXXX");
	return mkdtemp(run) ? 0 : -1;
}

static int remove_run(void **state)
{
	char command[128];

	(void)state;
	lextrace_stop();
	snprintf(command, sizeof command, "rm -rf %s", run);
	return system(command);
}

static struct lx_trace *open_run(void)
{
	struct lx_trace *trace;
	char message[512];
	int error = lx_trace_open(run, &trace, message, sizeof message);

	if (error)
		print_message("%s\n", message);
	assert_int_equal(error, 0);
	return trace;
}

static struct lx_spans_totals totals_of(const struct lx_process *process)
{
	static const struct lx_spans_ops nothing = {.leave = NULL};
	struct lx_spans_totals totals = {0};

	assert_int_equal(lx_spans_run(process, &nothing, NULL, &totals), 0);
	return totals;
}

#define ROUNDS 30000u /* three regions each: more than one packet of the large size */

static void *work(void *unused)
{
	static lextrace_region outer = LEXTRACE_REGION("Test/outer"), inner = LEXTRACE_REGION("Test/inner");

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		lextrace_begin(&outer);
		lextrace_begin(&inner);
		lextrace_begin(&inner);
		lextrace_end(&inner);
		lextrace_end(&inner);
		lextrace_end(&outer);
	}
	return NULL;
}

static void threads_record_all(void **state)
{
	pthread_t threads[4];

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	work(NULL);
	lextrace_stop();

	struct lx_trace *trace = open_run();
	const struct lx_process *process = &trace->processes[0];
	struct lx_spans_totals totals = totals_of(process);

	assert_int_equal(trace->process_count, 1);
	assert_int_equal(totals.begins, 5 * 3 * ROUNDS);
	assert_int_equal(totals.events, 5 * 6 * ROUNDS);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
	assert_int_equal(process->lost_total, 0);
	assert_int_equal(process->state.events, totals.events);
	assert_int_equal(process->state.ended, 2);
	assert_int_equal(process->state.threads, 5);
	assert_true(process->stream_count <= 5);
	assert_string_equal(lx_lexgion(process, 1)->name + 5, lx_lexgion(process, 1)->name[5] == 'o' ? "outer" : "inner");
	lx_trace_close(trace);
}

static void *one_region(void *unused)
{
	static lextrace_region region = LEXTRACE_REGION("Test/short");

	(void)unused;
	lextrace_begin(&region);
	lextrace_end(&region);
	return NULL;
}

static void ended_threads_pass_their_stream_on(void **state)
{
	enum { COUNT = 500 };

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	for (int i = 0; i < COUNT; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, one_region, NULL), 0);
		pthread_join(thread, NULL);
	}
	lextrace_stop();
	struct lx_trace *trace = open_run();

	assert_int_equal(trace->processes[0].stream_count, 1);
	assert_int_equal(totals_of(&trace->processes[0]).begins, COUNT);
	assert_int_equal(trace->processes[0].state.threads, COUNT);
	lx_trace_close(trace);
}

static void a_killed_process_keeps_all(void **state)
{
	(void)state;
	pid_t child = fork();

	if (child == 0) {
		static lextrace_region region = LEXTRACE_REGION("Test/killed");

		if (lextrace_start(run) != 0)
			_exit(1);
		for (int i = 0; i < 100000; i++) {
			lextrace_begin(&region);
			lextrace_end(&region);
		}
		lextrace_begin(&region);
		kill(getpid(), SIGKILL);
	}
	int status;

	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	struct lx_trace *trace = open_run();
	struct lx_spans_totals totals = totals_of(&trace->processes[0]);

	assert_true(trace->processes[0].killed);
	assert_int_equal(totals.begins, 100001);
	assert_int_equal(totals.closed_open, 1);
	assert_int_equal(totals.dropped_ends, 0);
	lx_trace_close(trace);
}

static void a_forked_child_has_its_own_folder(void **state)
{
	static lextrace_region before = LEXTRACE_REGION("Test/before"), in_child = LEXTRACE_REGION("Test/child");

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	lextrace_begin(&before);
	pid_t child = fork();

	if (child == 0) {
		lextrace_end(&before); /* began in the parent: no event of the child's trace */
		lextrace_begin(&before);
		lextrace_begin(&in_child);
		lextrace_end(&in_child);
		_exit(0);
	}
	int status;

	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	lextrace_end(&before);
	lextrace_stop();

	struct lx_trace *trace = open_run();

	assert_int_equal(trace->process_count, 2);
	for (int i = 0; i < 2; i++) {
		const struct lx_process *process = &trace->processes[i];
		struct lx_spans_totals totals = totals_of(process);
		bool is_child = process->state.pid == (uint32_t)child;

		assert_int_equal(totals.begins, is_child ? 2 : 1);
		assert_int_equal(totals.closed_open, is_child ? 1 : 0);
		assert_int_equal(totals.dropped_ends, 0);
		assert_string_equal(lx_lexgion(process, 1)->name, "Test/before");
	}
	lx_trace_close(trace);
}

static void sessions_follow_each_other(void **state)
{
	static lextrace_region region = LEXTRACE_REGION("Test/again"), other = LEXTRACE_REGION("Test/other");

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(lextrace_start(run), 0);
		assert_int_equal(lextrace_start(run), -EBUSY);
		if (i % 2)
			lextrace_begin(&other); /* stays open: must not reach the next session */
		lextrace_begin(&region);
		lextrace_end(&region);
		lextrace_stop();
		lextrace_begin(&region);
		lextrace_end(&other);
	}
	struct lx_trace *trace = open_run();

	assert_int_equal(trace->process_count, 20);
	for (size_t i = 0; i < 20; i++) {
		struct lx_spans_totals totals = totals_of(&trace->processes[i]);

		assert_int_equal(totals.begins, 1 + totals.closed_open);
		assert_true(totals.closed_open <= 1);
		assert_int_equal(totals.dropped_ends, 0);
		assert_int_equal(trace->processes[i].state.unmatched_ends, 0);
	}
	lx_trace_close(trace);
}

static void a_file_limit_is_counted_and_kills_nobody(void **state)
{
	(void)state;
	pid_t child = fork();

	if (child == 0) {
		struct rlimit limit = {200000, 200000};

		if (lextrace_start(run) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(1);
		for (int i = 0; i < 5; i++)
			work(NULL);
		lextrace_stop();
		_exit(0);
	}
	int status;

	waitpid(child, &status, 0);
	assert_int_equal(status, 0); /* and not SIGXFSZ */
	struct lx_trace *trace = open_run();
	const struct lx_process *process = &trace->processes[0];
	struct lx_spans_totals totals = totals_of(process);

	assert_true(process->lost[LX_LOSS_FILE_LIMIT] > 0);
	assert_int_equal(process->lost_total, process->lost[LX_LOSS_FILE_LIMIT]);
	assert_int_equal(totals.events + process->lost_total, 5 * 6 * ROUNDS); /* kept and lost make all */
	lx_trace_close(trace);
}

static void long_gaps_take_the_extended_header(void **state)
{
	static lextrace_region region = LEXTRACE_REGION("Test/gap");
	struct timespec pause = {0, 130000000}; /* more than 2^27 ticks of a clock from 1.04 GHz up, or of nanoseconds */

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	lextrace_begin(&region);
	nanosleep(&pause, NULL);
	lextrace_end(&region);
	lextrace_stop();
	struct lx_trace *trace = open_run();
	const struct lx_process *process = &trace->processes[0];
	const struct lx_packet_ref *packet = &process->streams[0].packets[0];
	struct lx_cursor cursor;
	struct lx_event begin, end, more;

	assert_int_equal(packet->header->events, 2);
	lx_cursor_start(&cursor, packet);
	assert_true(lx_cursor_next(&cursor, &begin));
	assert_true(lx_cursor_next(&cursor, &end));
	assert_false(lx_cursor_next(&cursor, &more));
	assert_int_equal(begin.value, end.value);
	assert_true((end.ticks - begin.ticks) >> LX_TIMESTAMP_BITS != 0);
	assert_true(lx_real_ns(process, end.ticks) - lx_real_ns(process, begin.ticks) >= 129000000u);
	lx_trace_close(trace);
}

int main(void)
{
#define ROUND_TRIP(test) cmocka_unit_test_setup_teardown(test, make_run, remove_run)
	const struct CMUnitTest tests[] = {
		ROUND_TRIP(threads_record_all),
		ROUND_TRIP(ended_threads_pass_their_stream_on),
		ROUND_TRIP(a_killed_process_keeps_all),
		ROUND_TRIP(a_forked_child_has_its_own_folder),
		ROUND_TRIP(sessions_follow_each_other),
		ROUND_TRIP(a_file_limit_is_counted_and_kills_nobody),
		ROUND_TRIP(long_gaps_take_the_extended_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
