#include "maker.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "transform/trace.h"

static struct lx_trace *open_run(const char *path)
{
	struct lx_trace *trace;
	char message[512] = "";
	int error = lx_trace_open(path, &trace, message, sizeof(message));

	if (error)
		fail_msg("%d: %s", error, message);
	return trace;
}

static void fails(const char *path, int error, const char *part)
{
	struct lx_trace *trace = (void *)1;
	char message[512] = "";

	assert_int_equal(lx_trace_open(path, &trace, message, sizeof(message)), error);
	assert_null(trace);
	assert_non_null(strstr(message, part));
	assert_non_null(strstr(message, path));
	assert_null(strchr(message, '\n'));
}

static struct made calls(uint32_t thread)
{
	struct made made = {.thread = thread};

	made_packet(&made, START + 100 + thread);
	made_event(&made, 10, LX_EV_FUNCTION_BEGIN, 1);
	made_event(&made, 10, LX_EV_FUNCTION_END, 1);
	return made;
}

static void says_what_is_no_trace(void **state)
{
	char *run = made_folder(), *path;
	struct lx_state newer = made_state(1);

	(void)state;
	fails("/nonexistent/run", -ENOENT, "no such folder");
	fails(run, -EINVAL, "no trace");
	made_file(run, "file", "x", 1);
	path = path_in(run, "file");
	fails(path, -ENOTDIR, "not a folder");
	free(path);
	newer.version = LX_FORMAT_VERSION + 1;
	made_process(run, "p-1", &newer);
	path = path_in(run, "p-1");
	fails(path, -EINVAL, "later lextrace");
	free(path);
	fails(run, -EINVAL, "later lextrace");
	remove_folder(run);
}

static void reads_a_run(void **state)
{
	char *run = made_folder();
	struct lx_state first = made_state(1), second = made_state(0);
	struct made stream = calls(0), open = calls(1);
	char *path = path_in(run, "/");

	(void)state;
	second.start.realtime += 5;
	made_process(run, "a-2", &second);
	made_process(run, "b-1", &first);
	made_file(run, "b-1/stream-0", stream.data, stream.size);
	made_file(run, "b-1/stream-10", open.data, open.size);
	made_file(run, "b-1/stream-01", "not ours", 8);
	made_file(run, "b-1/stream-x", "not ours", 8);
	made_file(run, "a-2/stream-0", stream.data, stream.size);
	made_file(run, "a-2/lextrace/packet-1", open.data, open.size);
	made_file(run, "notes", "one\ntwo\n", 8);
	made_file(run, "other/file", "", 0);
	struct lx_trace *trace = open_run(path);

	free(path);
	assert_string_equal(trace->path, run);
	assert_string_equal(trace->notes, "one\ntwo\n");
	assert_int_equal(trace->process_count, 2);
	assert_int_equal(trace->first, START_REAL + 100);
	const struct lx_process *process = &trace->processes[0];

	assert_string_equal(process->name, "b-1");
	assert_false(process->killed);
	assert_int_equal(process->stream_count, 2);
	assert_int_equal(process->streams[1].number, 10);
	assert_int_equal(process->thread_count, 2);
	assert_string_equal(process->key[0], "nowhere");
	assert_memory_equal(process->key[3], "app.py\0--fast", 14);
	assert_int_equal(process->key_size[3], 13);
	assert_null(process->key[6]);
	process = &trace->processes[1];
	assert_true(process->killed);
	assert_false(process->running);
	assert_int_equal(process->stream_count, 2);
	assert_true(process->streams[1].packets[0].open);
	assert_string_equal(lx_lexgion(process, 1)->name, "f");
	lx_trace_close(trace);
	free(stream.data);
	free(open.data);
	remove_folder(run);
}

static void reads_what_is_left_of_a_folder(void **state)
{
	static const char *const files[] = {"lextrace/state", "lextrace/process", "lextrace/lexgions", "lextrace/packet-0"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (int cut = 0; cut < 2; cut++) {
			char *run = made_folder();
			struct lx_state made = made_state(1);
			struct made stream = calls(0), open = calls(0);

			made_process(run, "p-1", &made);
			made_file(run, "p-1/stream-0", stream.data, stream.size);
			made_file(run, "p-1/lextrace/packet-0", open.data, open.size);
			char *folder = path_in(run, "p-1"), *path = path_in(folder, files[i]);

			assert_int_equal(cut ? truncate(path, 13) : unlink(path), 0);
			free(folder);
			free(path);
			struct lx_trace *trace = open_run(run);

			assert_int_equal(trace->process_count, 1);
			assert_int_equal(trace->processes[0].streams[0].packet_count, 1);
			assert_true(trace->processes[0].state.clock_frequency > 0);
			lx_trace_close(trace);
			free(stream.data);
			free(open.data);
			remove_folder(run);
		}
	}
}

/* A process that died before its state was written is no part of the run's time. */
static void a_process_that_recorded_nothing(void **state)
{
	char *run = made_folder();
	struct lx_state made = made_state(1);
	struct made stream = calls(0);

	(void)state;
	made_file(run, "a-1/lextrace/state", "", 0);
	struct lx_trace *trace = open_run(run);

	assert_int_equal(trace->process_count, 1);
	assert_true(trace->processes[0].blank);
	lx_trace_close(trace);
	made_process(run, "b-1", &made);
	made_file(run, "b-1/stream-0", stream.data, stream.size);
	trace = open_run(run);
	assert_int_equal(trace->process_count, 2);
	assert_string_equal(trace->processes[0].name, "b-1");
	assert_false(trace->processes[0].blank);
	assert_true(trace->processes[1].blank);
	assert_int_equal(trace->first, START_REAL + 100);
	lx_trace_close(trace);
	free(stream.data);
	remove_folder(run);
}

static void a_pipe_in_place_of_a_file_does_not_block(void **state)
{
	char *run = made_folder();
	struct lx_state made = made_state(1);
	struct made stream = calls(0);
	char *path = path_in(run, "p-1/stream-1");

	(void)state;
	made_process(run, "p-1", &made);
	made_file(run, "p-1/stream-0", stream.data, stream.size);
	assert_int_equal(mkfifo(path, 0666), 0);
	free(path);
	struct lx_trace *trace = open_run(run);

	assert_int_equal(trace->processes[0].stream_count, 2);
	assert_int_equal(trace->processes[0].streams[1].packet_count, 0);
	lx_trace_close(trace);
	free(stream.data);
	remove_folder(run);
}

/* A child that maps the state file, as a recorder does, until the other end of `hold` is closed. */
static pid_t writer(const char *path, int ready, const int hold[2])
{
	char byte = 'x';
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(hold[1]);
	int fd = open(path, O_RDWR);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
	if (write(ready, &byte, 1) != 1 || read(hold[0], &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static void knows_a_running_process_from_a_dead_one(void **state)
{
	char *run = made_folder();
	struct lx_state made = made_state(0);
	struct made stream = calls(0);
	int ready[2], hold[2];
	char *path = path_in(run, "p-1/lextrace/state"), byte;
	struct lx_trace *trace;

	(void)state;
	made_process(run, "p-1", &made);
	made_file(run, "p-1/lextrace/process", "program app\n", 12);
	made_file(run, "p-1/stream-0", stream.data, stream.size);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(hold), 0);
	pid_t pid = writer(path, ready[1], hold);

	close(hold[0]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	for (int is_writer = 0; is_writer < 2; is_writer++) {
		/* This test lives, too, but does not map the file: its pid would be one that was given again. */
		FILE *file = fopen(path, "r+b");

		made.pid = (uint32_t)(is_writer ? pid : getpid());
		assert_int_equal(fwrite(&made, sizeof(made), 1, file), 1);
		fclose(file);
		trace = open_run(run);
		assert_int_equal(trace->processes[0].running, is_writer);
		assert_int_equal(trace->processes[0].killed, !is_writer);
		lx_trace_close(trace);
	}
	close(hold[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	trace = open_run(run);
	assert_true(trace->processes[0].killed);
	lx_trace_close(trace);
	free(path);
	close(ready[0]);
	close(ready[1]);
	free(stream.data);
	remove_folder(run);
}

static void names_every_kind(void **state)
{
	(void)state;
	assert_string_equal(lx_event_name(LX_EV_FUNCTION_BEGIN), "python:function_begin");
	assert_string_equal(lx_event_name(LX_EV_REGION_UNWIND), "user:region_unwind");
	assert_string_equal(lx_event_name(LX_EV_STACK_SWITCH), "lextrace:stack_switch");
	assert_string_equal(lx_event_name(LX_EV_COUNT), "?");
	assert_string_equal(lx_event_name(0xffffffff), "?");
	assert_int_equal(lx_event_role(LX_EV_C_CALL_RAISE), LX_ROLE_UNWIND);
	assert_int_equal(lx_event_role(99), LX_ROLE_OTHER);
	assert_true(lx_event_has_lexgion(LX_EV_REGION_END));
	assert_false(lx_event_has_lexgion(LX_EV_STACK_SWITCH));
	assert_false(lx_event_has_lexgion(99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_no_trace),
		cmocka_unit_test(reads_a_run),
		cmocka_unit_test(reads_what_is_left_of_a_folder),
		cmocka_unit_test(a_process_that_recorded_nothing),
		cmocka_unit_test(a_pipe_in_place_of_a_file_does_not_block),
		cmocka_unit_test(knows_a_running_process_from_a_dead_one),
		cmocka_unit_test(names_every_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
