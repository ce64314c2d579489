#include "maker.h"

#include "transform/parse.h"
#include "transform/trace.h"

static struct lx_row row(uint32_t thread, uint32_t lexgion, uint64_t calls, uint64_t exclusive)
{
	return (struct lx_row){.thread = thread, .lexgion = lexgion, .calls = calls, .inclusive = 2 * exclusive, .exclusive = exclusive};
}

static struct lx_trace *open_run(const char *path)
{
	struct lx_trace *trace;
	char message[512] = "";

	if (lx_trace_open(path, &trace, message, sizeof(message)) < 0)
		fail_msg("%s", message);
	return trace;
}

static void rows_without_a_packet_make_threads(void **state)
{
	const struct lx_row rows[] = {row(0, 1, 5, 100), {.lexgion = 0}, row(3, 2, 7, 50), row(3, 999, 1, 1)};
	static const char threads[] = "0 5000000 Main\\x0AThread\n3 5000003 Worker \\xFF\nx\n3 1 late\n9 1 far\n1 7";
	char *run = made_folder();
	struct lx_state made = made_state(0);
	struct lx_trace *trace;

	(void)state;
	made_process(run, "p-1", &made);
	made_file(run, "p-1/lextrace/rows", rows, sizeof(rows));
	made_file(run, "p-1/lextrace/threads", threads, sizeof(threads) - 1);
	trace = open_run(run);
	const struct lx_process *process = &trace->processes[0];

	assert_false(process->blank);
	assert_int_equal(process->row_count, 3);
	assert_int_equal(process->rows[1].calls, 7);
	assert_int_equal(process->rows[2].lexgion, 999);
	assert_string_equal(lx_lexgion(process, 999)->name, "<unknown>");
	assert_int_equal(process->thread_count, 4);
	assert_int_equal(process->threads[0].tid, 5000000);
	assert_string_equal(process->threads[0].name, "Main\nThread");
	assert_int_equal(process->threads[1].tid, 0);
	assert_int_equal(process->threads[3].tid, 5000003);
	assert_string_equal(process->threads[3].name, "Worker ?");
	lx_trace_close(trace);
	remove_folder(run);
}

static void packets_name_their_threads(void **state)
{
	const struct lx_row rows[] = {row(1, 1, 5, 100)};
	struct made made = {.thread = 1};
	struct lx_state ended = made_state(1);
	char *run = made_folder();
	struct lx_trace *trace;

	(void)state;
	made_packet(&made, START);
	made_event(&made, 10, LX_EV_FUNCTION_BEGIN, 1);
	made_process(run, "p-1", &ended);
	made_file(run, "p-1/stream-0", made.data, made.size);
	made_file(run, "p-1/lextrace/rows", rows, sizeof(rows));
	made_file(run, "p-1/lextrace/threads", "1 77 other\n", 11);
	trace = open_run(run);
	assert_int_equal(trace->processes[0].threads[1].tid, 101);
	assert_string_equal(trace->processes[0].threads[1].name, "Thread-1");
	lx_trace_close(trace);
	free(made.data);
	remove_folder(run);
}

static void absurd_rows_are_left_out(void **state)
{
	struct lx_row rows[3] = {row(4000000000u, 1, 1, 1), row(LX_THREADS_PLENTY - 1, 1, 1, 1), row(2, 1, UINT64_MAX, UINT64_MAX)};
	struct lx_process process = {0};

	(void)state;
	lx_parse_rows(&process, rows, sizeof(rows) - 1); /* the last one is not whole */
	assert_int_equal(process.row_count, 1);
	assert_int_equal(process.rows[0].thread, LX_THREADS_PLENTY - 1);
}

static void journals_are_read_line_by_line(void **state)
{
	static const char text[] = "1000 mode Python STANDBY by /a/trace.conf:7\nnonsense\n 5 x\n2000 reload \x1b[1m\n3000 half";
	struct lx_process process = {0};
	struct lx_store store = {NULL};

	(void)state;
	assert_int_equal(lx_parse_journal(&process, &store, text, sizeof(text) - 1), 0);
	assert_int_equal(process.journal_count, 2);
	assert_int_equal(process.journal[0].ticks, 1000);
	assert_string_equal(process.journal[0].text, "mode Python STANDBY by /a/trace.conf:7");
	assert_string_equal(process.journal[1].text, "reload \\x1B[1m");
	lx_store_free(&store);
}

static void the_configuration_has_a_path(void **state)
{
	char named[] = "/tmp/a\\x0Ab.conf\n[Python.default]\n", none[] = "-\n", cut[] = "/tmp/a";
	struct lx_config config = {0};

	(void)state;
	lx_parse_config(&config, cut, sizeof(cut) - 1);
	assert_null(config.text);
	lx_parse_config(&config, named, sizeof(named) - 1);
	assert_string_equal(config.path, "/tmp/a\nb.conf");
	assert_string_equal(config.text, "[Python.default]\n");
	assert_int_equal(config.size, 17);
	lx_parse_config(&config, none, sizeof(none) - 1);
	assert_null(config.path);
	assert_int_equal(config.size, 0);
}

static void chunks_are_runs_of_their_own(void **state)
{
	char *run = made_folder(), *chunk;
	struct lx_state ended = made_state(2);
	struct made made = {0};
	struct lx_trace *trace;

	(void)state;
	made_packet(&made, START);
	made_event(&made, 10, LX_EV_FUNCTION_BEGIN, 1);
	made_process(run, "p-1", &ended);
	chunk = path_in(run, "p-1/lextrace/chunks");
	assert_int_equal(mkdir(chunk, 0777), 0);
	made_process(chunk, "1", &ended);
	made_file(chunk, "1/stream-0", made.data, made.size);
	trace = open_run(run);
	assert_int_equal(trace->process_count, 1);
	assert_string_equal(trace->processes[0].name, "p-1");
	assert_int_equal(trace->processes[0].stream_count, 0);
	lx_trace_close(trace);
	free(chunk);
	chunk = path_in(run, "p-1/lextrace/chunks/1");
	trace = open_run(chunk);
	assert_int_equal(trace->process_count, 1);
	assert_int_equal(trace->processes[0].stream_count, 1);
	lx_trace_close(trace);
	free(chunk);
	free(made.data);
	remove_folder(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_without_a_packet_make_threads),
		cmocka_unit_test(packets_name_their_threads),
		cmocka_unit_test(absurd_rows_are_left_out),
		cmocka_unit_test(journals_are_read_line_by_line),
		cmocka_unit_test(the_configuration_has_a_path),
		cmocka_unit_test(chunks_are_runs_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
