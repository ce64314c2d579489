#include "maker.h"

#include <sys/mman.h>

#include "transform/repair.h"
#include "transform/trace.h"
#include "view/spans.h"

/* A folder as a kill leaves it: two packets and a torn one in stream-0, an open packet, one more in a stream to come. */
static char *killed_run(void)
{
	char *run = made_folder();
	struct lx_state state = made_state(0);
	struct made stream = {0}, open = {.sequence = 2}, other = {.thread = 1};

	made_process(run, "p-1", &state);
	for (uint32_t packet = 0; packet < 2; packet++) {
		made_packet(&stream, START + 1000 * packet);
		made_event(&stream, 10, LX_EV_FUNCTION_BEGIN, 1 + packet);
		made_event(&stream, 10, LX_EV_FUNCTION_END, 1 + packet);
	}
	made_packet(&stream, START + 2000);
	stream.size -= 116; /* 100 bytes of a packet */
	made_packet(&open, START + 2000);
	made_event(&open, 10, LX_EV_FUNCTION_BEGIN, 3);
	made_header(&open)->events = 0;
	made_header(&open)->packet_size = 8 * 512;
	open.data = realloc(open.data, 512);
	memset(open.data + open.size, 0, 512 - open.size);
	made_packet(&other, START + 2500);
	made_event(&other, 10, LX_EV_FUNCTION_BEGIN, 4);
	made_file(run, "p-1/stream-0", stream.data, stream.size);
	made_file(run, "p-1/lextrace/packet-0", open.data, 512);
	made_file(run, "p-1/lextrace/packet-1", other.data, other.size);
	free(stream.data);
	free(open.data);
	free(other.data);
	return run;
}

/* All events of a run, one a line. */
static char *events_of(const char *path)
{
	struct lx_trace *trace;
	struct lx_merge *merge;
	struct lx_merged event;
	char message[512] = "", *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(lx_trace_open(path, &trace, message, sizeof(message)), 0);
	assert_int_equal(lx_merge_open(trace, NULL, &merge), 0);
	while (lx_merge_next(merge, &event))
		fprintf(out, "%s %u %llu %s %u\n", event.process->name, event.thread->number,
			(unsigned long long)event.event.ticks, lx_event_name(event.event.kind), event.event.value);
	lx_merge_close(merge);
	lx_trace_close(trace);
	fclose(out);
	return text;
}

static struct lx_repair_result repair(const char *path)
{
	struct lx_repair_result result;
	char message[512] = "";
	int error = lx_repair(path, &result, message, sizeof(message));

	if (error)
		fail_msg("%d: %s", error, message);
	return result;
}

/* Size of a file, or -1. */
static long size_of(const char *folder, const char *name)
{
	char *path = path_in(folder, name);
	struct stat status;
	long size = stat(path, &status) == 0 ? (long)status.st_size : -1;

	free(path);
	return size;
}

static void keeps_every_event_and_is_done_once(void **state)
{
	char *run = killed_run(), *before = events_of(run), *after;
	struct lx_repair_result result = repair(run);

	(void)state;
	assert_int_equal(result.count, 1);
	assert_string_equal(result.processes[0].name, "p-1");
	assert_int_equal(result.processes[0].packets, 2);
	assert_int_equal(result.processes[0].events, 2);
	assert_int_equal(result.processes[0].cut, 100);
	assert_true(result.processes[0].metadata);
	assert_false(result.processes[0].running);
	lx_repair_free(&result);
	assert_false(has_file(run, "p-1/lextrace/packet-0"));
	assert_false(has_file(run, "p-1/lextrace/packet-1"));
	assert_int_equal(size_of(run, "p-1/stream-0"), 3 * sizeof(struct lx_packet) + 5 * 8);
	after = events_of(run);
	assert_string_equal(before, after);
	assert_non_null(strstr(after, "p-1 1 1002510 python:function_begin 4\n"));
	result = repair(run);
	assert_int_equal(result.processes[0].packets + result.processes[0].cut + result.processes[0].metadata, 0);
	lx_repair_free(&result);
	free(before);
	free(after);
	remove_folder(run);
}

/* A repair that was killed after it appended and before it removed the packet file, or within the append. */
static void goes_on_after_its_own_kill(void **state)
{
	(void)state;
	for (int half = 0; half < 2; half++) {
		char *run = killed_run(), *before = events_of(run), *after;
		char *stream = path_in(run, "p-1/stream-0"), *command;

		assert_true(asprintf(&command, "cp '%s/p-1/lextrace/packet-0' '%s/saved'", run, run) > 0);
		assert_int_equal(system(command), 0);
		struct lx_repair_result result = repair(run);

		lx_repair_free(&result);
		free(command);
		assert_true(asprintf(&command, "mv '%s/saved' '%s/p-1/lextrace/packet-0'", run, run) > 0);
		assert_int_equal(system(command), 0);
		if (half)
			assert_int_equal(truncate(stream, size_of(run, "p-1/stream-0") - 5), 0);
		result = repair(run);
		assert_int_equal(result.processes[0].packets, half);
		lx_repair_free(&result);
		after = events_of(run);
		assert_string_equal(before, after);
		assert_false(has_file(run, "p-1/lextrace/packet-0"));
		free(before);
		free(after);
		free(command);
		free(stream);
		remove_folder(run);
	}
}

static void leaves_a_running_process_alone(void **state)
{
	char *run = killed_run();
	struct lx_state made = made_state(0);
	char *path = path_in(run, "p-1/lextrace/state");

	(void)state;
	made.pid = (uint32_t)getpid();
	made_file(run, "p-1/lextrace/state", &made, sizeof(made));
	made_file(run, "p-1/lextrace/process", "program app\n", 12);
	int fd = open(path, O_RDWR);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(map != MAP_FAILED);
	struct lx_repair_result result = repair(run);

	assert_true(result.processes[0].running);
	assert_true(has_file(run, "p-1/lextrace/packet-0"));
	assert_false(has_file(run, "p-1/metadata"));
	lx_repair_free(&result);
	munmap(map, 4096);
	close(fd);
	result = repair(run);
	assert_false(result.processes[0].running);
	assert_int_equal(result.processes[0].packets, 2);
	lx_repair_free(&result);
	free(path);
	remove_folder(run);
}

static void a_damaged_state_costs_no_packets(void **state)
{
	char *run = killed_run(), *before = events_of(run), *after;
	struct lx_state damaged = made_state(0);

	(void)state;
	damaged.uuid[5]++;
	made_file(run, "p-1/lextrace/state", &damaged, sizeof(damaged));
	struct lx_repair_result result = repair(run);

	after = events_of(run);
	assert_string_equal(before, after);
	assert_int_equal(result.processes[0].cut, 100);
	lx_repair_free(&result);
	free(before);
	free(after);
	remove_folder(run);
}

static void removes_a_half_written_metadata(void **state)
{
	char *run = killed_run();

	(void)state;
	made_file(run, "p-1/lextrace/metadata.new", "/* CTF", 6);
	made_file(run, "p-1/metadata", "/* CTF 1.8 */ old", 17);
	struct lx_repair_result result = repair(run);

	assert_true(result.processes[0].metadata);
	assert_false(has_file(run, "p-1/lextrace/metadata.new"));
	assert_true(size_of(run, "p-1/metadata") > 1000);
	lx_repair_free(&result);
	remove_folder(run);
}

static void says_why_it_can_not(void **state)
{
	struct lx_repair_result result;
	char message[512] = "";
	char *run = killed_run(), *folder = path_in(run, "p-1");

	(void)state;
	assert_int_equal(lx_repair("/nonexistent", &result, message, sizeof(message)), -ENOENT);
	assert_int_equal(result.count, 0);
	lx_repair_free(&result);
	if (geteuid() != 0) { /* root may write anywhere */
		chmod(folder, 0555);
		assert_int_equal(lx_repair(run, &result, message, sizeof(message)), -EACCES);
		assert_non_null(strstr(message, "can't write"));
		lx_repair_free(&result);
		chmod(folder, 0777);
	}
	free(folder);
	remove_folder(run);
}

/* Bytes changed, cut and added at random: nothing crashes, and a second repair finds all in order. */
static void survives_any_damage(void **state)
{
	static const char *const files[] = {"p-1/lextrace/state", "p-1/stream-0", "p-1/lextrace/packet-0",
					    "p-1/lextrace/packet-1", "p-1/lextrace/lexgions", "p-1/lextrace/process"};

	(void)state;
	srand(7);
	for (int round = 0; round < 150; round++) {
		char *run = killed_run();
		int target = rand() % 6;
		char *path = path_in(run, files[target]);
		long first = target == 0 ? 8 : 0; /* a version of the future is not damage */
		FILE *file = fopen(path, "r+b");

		fseek(file, 0, SEEK_END);
		long size = ftell(file);

		for (int i = rand() % 8; i >= 0; i--) {
			fseek(file, first + rand() % (size - first), SEEK_SET);
			fputc(rand() % 3 ? rand() : 255, file);
		}
		fclose(file);
		if (rand() % 3 == 0)
			assert_int_equal(truncate(path, rand() % (size + 20)), 0);
		char *before = events_of(run);
		struct lx_repair_result result = repair(run);

		lx_repair_free(&result);
		char *after = events_of(run);

		assert_string_equal(before, after);
		result = repair(run);
		assert_int_equal(result.processes[0].packets + result.processes[0].cut + result.processes[0].metadata, 0);
		lx_repair_free(&result);
		free(before);
		free(after);
		free(path);
		remove_folder(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_every_event_and_is_done_once),
		cmocka_unit_test(goes_on_after_its_own_kill),
		cmocka_unit_test(leaves_a_running_process_alone),
		cmocka_unit_test(a_damaged_state_costs_no_packets),
		cmocka_unit_test(removes_a_half_written_metadata),
		cmocka_unit_test(says_why_it_can_not),
		cmocka_unit_test(survives_any_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
