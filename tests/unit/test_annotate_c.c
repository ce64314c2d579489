/* The C API: what a program tells by it is in the trace, value by value. */
#include "maker.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define lextrace_begin begin_inline /* the library's functions of these names are called, too, see struct bare */
#define lextrace_end end_inline
#include "lextrace/dftracer.h"
#include "lextrace/lextrace.h"
#include "transform/trace.h"

static char run[64];

static int make_run(void **state)
{
	(void)state;
	strcpy(run, "/tmp/lextrace-annotate-XXXXXX");
	return mkdtemp(run) ? 0 : -1;
}

static int remove_run(void **state)
{
	char command[128];

	(void)state;
	lextrace_stop();
	snprintf(command, sizeof(command), "rm -rf %s", run);
	return system(command);
}

static struct lx_trace *open_run(void)
{
	struct lx_trace *trace;
	char message[512];

	assert_int_equal(lx_trace_open(run, &trace, message, sizeof(message)), 0);
	return trace;
}

/* One line an event, "KIND NAME VALUE", of all threads. malloc'd. */
static char *told(const struct lx_process *process)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct lx_cursor cursor;
	struct lx_event event;
	double real;

	for (size_t i = 0; i < process->stream_count; i++)
		for (size_t j = 0; j < process->streams[i].packet_count; j++) {
			lx_cursor_start(&cursor, &process->streams[i].packets[j]);
			while (lx_cursor_next(&cursor, &event)) {
				fprintf(out, "%s %s", strchr(lx_event_name(event.kind), ':') + 1,
					lx_lexgion(process, event.value)->name);
				if (event.kind == LX_EV_ARG_INT)
					fprintf(out, " %jd", (intmax_t)event.more[0]);
				if (event.kind == LX_EV_ARG_FLOAT || event.kind == LX_EV_COUNTER)
					fprintf(out, " %g", *(double *)memcpy(&real, event.more, sizeof(real)));
				if (event.kind == LX_EV_SPAN)
					fprintf(out, " %jd %jd %d", (intmax_t)event.more[0], (intmax_t)event.more[1],
						(int)event.more[2]);
				if (event.kind == LX_EV_POINT)
					fprintf(out, " %d", (int)event.more[0]);
				if (event.kind == LX_EV_ARG_TEXT || event.kind == LX_EV_METADATA)
					fprintf(out, " %u:%.*s", (unsigned)(event.more[0] & LX_TEXT_FORM),
						(int)((event.more[0] >> 32) - LX_TEXT_PADDING(event.more[0])),
						(const char *)&event.more[1]);
				putc('\n', out);
			}
		}
	fclose(out);
	return text;
}

static void assert_told(const char *wanted)
{
	struct lx_trace *trace = open_run();
	char *text = told(&trace->processes[0]);

	assert_string_equal(text, wanted);
	assert_int_equal(trace->processes[0].lost_total, 0);
	assert_int_equal(trace->processes[0].state.unmatched_ends, 0);
	free(text);
	lx_trace_close(trace);
}

static int scoped(int way)
{
	LEXTRACE_FUNCTION("Test");
	for (int i = 0; i < 2; i++) {
		LEXTRACE_SCOPE("IO", "slice", LEXTRACE_COMP_IO);
		if (way == i)
			return way;
		if (way == 2)
			break;
	}
	return 3;
}

static void scopes_end_however_they_are_left(void **state)
{
	(void)state;
	assert_int_equal(scoped(0), 0); /* nothing records yet */
	assert_int_equal(lextrace_start(run), 0);
	assert_int_equal(scoped(0), 0);
	assert_int_equal(scoped(1), 1);
	assert_int_equal(scoped(2), 3);
	lextrace_stop();
	assert_int_equal(scoped(1), 1);
	assert_told("region_begin Test/scoped\nregion_begin IO/slice\nregion_end IO/slice\nregion_end Test/scoped\n"
		    "region_begin Test/scoped\nregion_begin IO/slice\nregion_end IO/slice\nregion_begin IO/slice\n"
		    "region_end IO/slice\nregion_end Test/scoped\n"
		    "region_begin Test/scoped\nregion_begin IO/slice\nregion_end IO/slice\nregion_end Test/scoped\n");
	struct lx_trace *trace = open_run();
	const struct lx_lexgion *slice = lx_lexgion(&trace->processes[0], 2);

	assert_string_equal(slice->name, "IO/slice");
	assert_string_equal(slice->file, __FILE__);
	assert_true(slice->line > 50 && slice->line < 150);
	assert_int_equal(LX_LEXGION_COMP(slice->flags), LX_COMP_IO);
	assert_int_equal(LX_LEXGION_CATEGORY(slice->flags), 2);
	lx_trace_close(trace);
}

static void every_kind_of_value(void **state)
{
	static lextrace_region region = LEXTRACE_REGION("Test/values");
	const char *nothing = NULL;
	char word[] = "word";
	int calls = 0;

	(void)state;
	lextrace_arg("off", ++calls);
	assert_int_equal(lextrace_start(run), 0);
	lextrace_arg("outside", 1);
	lextrace_begin(&region);
	lextrace_arg("bool", (_Bool)1);
	lextrace_arg("char", (signed char)-7);
	lextrace_arg("short", (unsigned short)65535);
	lextrace_arg("int", INT_MIN);
	lextrace_arg("unsigned", UINT_MAX);
	lextrace_arg("long", LONG_MIN);
	lextrace_arg("size", sizeof(int));
	lextrace_arg("huge", ULLONG_MAX);
	lextrace_arg("float", 0.5f);
	lextrace_arg("double", ++calls + 0.25);
	lextrace_arg("text", "literal");
	lextrace_arg("word", word);
	lextrace_arg("null", nothing);
	lextrace_arg_int("i", -1);
	lextrace_arg_double("d", 1e300);
	lextrace_arg_string("s", "");
	lextrace_arg_string_n("n", "abcdef", 3);
	lextrace_arg_int(NULL, 1);
	lextrace_end(&region);
	lextrace_stop();
	assert_int_equal(calls, 2);
	assert_told("region_begin Test/values\narg_int bool 1\narg_int char -7\narg_int short 65535\narg_int int -2147483648\n"
		    "arg_int unsigned 4294967295\narg_int long -9223372036854775808\narg_int size 4\n"
		    "arg_text huge 1:18446744073709551615\narg_float float 0.5\narg_float double 2.25\n"
		    "arg_text text 0:literal\narg_text word 0:word\narg_text null 2:null\narg_int i -1\narg_float d 1e+300\n"
		    "arg_text s 0:\narg_text n 0:abc\nregion_end Test/values\n");
}

static void what_stands_alone(void **state)
{
	static lextrace_region span = LEXTRACE_REGION_IN("Test", "span"), point = LEXTRACE_REGION_IN("Test", "point"),
			       counter = LEXTRACE_REGION_IN("Test", "counter");
	lextrace_argument many[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		many[i] = lextrace_of("same", i);
	assert_int_equal(lextrace_start(run), 0);
	lextrace_span(&span, -5, 7, NULL, 0);
	lextrace_span(&span, 1796056093192963000, 1, (lextrace_argument[]){lextrace_of("a", 1), lextrace_of("b", "two")}, 2);
	lextrace_point(&point, many, 20);
	lextrace_counter(&counter, 2.5);
	lextrace_metadata_int("int", INT64_MIN);
	lextrace_metadata_double("double", 0.1);
	lextrace_metadata_double("inf", -1.0 / 0.0);
	lextrace_metadata_string("string", "one");
	lextrace_metadata_string_n("string", "twoo", 3);
	lextrace_stop();
	assert_told("span Test/span -5 7 0\nspan Test/span 1796056093192963000 1 2\narg_int a 1\narg_text b 0:two\n"
		    "point Test/point 20\narg_int same 0\narg_int same 1\narg_int same 2\narg_int same 3\narg_int same 4\n"
		    "arg_int same 5\narg_int same 6\narg_int same 7\narg_int same 8\narg_int same 9\narg_int same 10\n"
		    "arg_int same 11\narg_int same 12\narg_int same 13\narg_int same 14\narg_int same 15\narg_int same 16\n"
		    "arg_int same 17\narg_int same 18\narg_int same 19\ncounter Test/counter 2.5\n"
		    "metadata int 1:-9223372036854775808\nmetadata double 1:0.1\nmetadata inf 0:-inf\nmetadata string 0:one\n"
		    "metadata string 0:two\n");
}

static void another_session_knows_keys_anew(void **state)
{
	static lextrace_region region = LEXTRACE_REGION("Test/again");
	char first[64];

	(void)state;
	strcpy(first, run);
	for (int i = 0; i < 2; i++) {
		if (i == 1) {
			strcat(run, "/second");
			assert_int_equal(mkdir(run, 0777), 0);
		}
		assert_int_equal(lextrace_start(run), 0);
		if (i == 1)
			lextrace_metadata_int("shifts the numbers", 1);
		lextrace_begin(&region);
		for (int j = 0; j < 2; j++) {
			lextrace_arg("static", j);
			lextrace_arg_int("found", j);
		}
		lextrace_end(&region);
		lextrace_stop();
	}
	assert_told("metadata shifts the numbers 1:1\nregion_begin Test/again\narg_int static 0\narg_int found 0\n"
		    "arg_int static 1\narg_int found 1\nregion_end Test/again\n");
	strcpy(run, first);
}

/* What a program has that was compiled against the first header. */
struct bare {
	struct {
		const char *name;
		uint32_t word, generation, plan;
	} region;
	uint8_t behind[64]; /* of no concern to anybody */
};
void begin_before(void *region) __asm__("lextrace_begin");
void end_before(void *region) __asm__("lextrace_end");

static void programs_of_the_first_header_work(void **state)
{
	struct bare bare = {.region = {"Test/bare", 0, 0, 0}};

	(void)state;
	memset(&bare.behind, 0xff, sizeof(bare.behind));
	memset((char *)&bare.region.plan + 4, 0xff, 4); /* padding then */
	begin_before(&bare.region);
	assert_int_equal(lextrace_start(run), 0);
	begin_before(&bare.region);
	lextrace_arg("n", 1);
	end_before(&bare.region);
	lextrace_stop();
	assert_told("region_begin Test/bare\narg_int n 1\nregion_end Test/bare\n");
}

#define THREADS 4
#define ROUNDS 20000

static void *work(void *argument)
{
	char key[32];

	for (int i = 0; i < ROUNDS; i++) {
		LEXTRACE_SCOPE("Test", "work");
		lextrace_arg("i", i);
		snprintf(key, sizeof(key), "key %d", i % 100);
		lextrace_arg_int(key, *(int *)argument);
	}
	return NULL;
}

static void threads_share_keys(void **state)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	uint64_t kinds[LX_EV_COUNT] = {0}, sum = 0, wanted = 0;
	struct lx_cursor cursor;
	struct lx_event event;

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lextrace_stop();
	struct lx_trace *trace = open_run();
	const struct lx_process *process = &trace->processes[0];

	for (size_t i = 0; i < process->stream_count; i++)
		for (size_t j = 0; j < process->streams[i].packet_count; j++) {
			lx_cursor_start(&cursor, &process->streams[i].packets[j]);
			while (lx_cursor_next(&cursor, &event)) {
				kinds[event.kind]++;
				if (event.kind == LX_EV_ARG_INT && lx_lexgion(process, event.value)->name[0] == 'k')
					sum += event.more[0];
			}
		}
	for (int i = 0; i < THREADS; i++)
		wanted += (uint64_t)ROUNDS * (uint64_t)numbers[i];
	assert_int_equal(kinds[LX_EV_REGION_BEGIN], THREADS * ROUNDS);
	assert_int_equal(kinds[LX_EV_REGION_END], THREADS * ROUNDS);
	assert_int_equal(kinds[LX_EV_ARG_INT], 2 * THREADS * ROUNDS);
	assert_int_equal(sum, wanted);
	assert_int_equal(process->lexgion_count, 1 + 1 + 1 + 100);
	assert_int_equal(process->lost_total, 0);
	lx_trace_close(trace);
}

static void keys_that_a_program_makes_up(void **state)
{
	static lextrace_region region = LEXTRACE_REGION("Test/made up");
	enum { KEYS = 20000 };
	char key[32];

	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	lextrace_begin(&region);
	for (int i = 0; i < 2 * KEYS; i++) {
		snprintf(key, sizeof(key), "made up %d", i % KEYS);
		lextrace_arg_int(key, i);
	}
	lextrace_end(&region);
	lextrace_stop();
	struct lx_trace *trace = open_run();

	assert_int_equal(trace->processes[0].lexgion_count, 2 + KEYS);
	assert_int_equal(trace->processes[0].state.events, 2 + 2 * KEYS);
	lx_trace_close(trace);
}

static void a_killed_process_keeps_all(void **state)
{
	enum { REGIONS = 100000 };
	int status;

	(void)state;
	pid_t child = fork();

	if (child == 0) {
		if (lextrace_start(run) != 0)
			_exit(1);
		for (int i = 0; i < REGIONS; i++) {
			LEXTRACE_SCOPE("Test", "killed");
			lextrace_arg("i", i);
		}
		static lextrace_region open = LEXTRACE_REGION("Test/open");

		lextrace_begin(&open);
		lextrace_arg("last", "said");
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	struct lx_trace *trace = open_run();
	char *text = told(&trace->processes[0]);
	int ends = 0;

	assert_true(trace->processes[0].killed);
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		ends += strncmp(at, "region_end Test/killed\n", 23) == 0;
	assert_int_equal(ends, REGIONS);
	assert_true(strlen(text) > 1000);
	assert_non_null(strstr(text + strlen(text) - 200, "arg_int i 99999\nregion_end Test/killed\nregion_begin Test/open\narg_text last 0:said\n"));
	free(text);
	lx_trace_close(trace);
}

/* ---- dftracer/dftracer.h ---- */

static void updates_find_their_region(int depth)
{
	DFTRACER_C_FUNCTION_START();
	DFTRACER_C_FUNCTION_UPDATE_STR("comp", "io");
	DFTRACER_C_REGION_START(inner);
	DFTRACER_C_FUNCTION_UPDATE_INT("late", depth);
	DFTRACER_C_FUNCTION_UPDATE_STR_TYPE("typed", "t", 1);
	DFTRACER_C_REGION_UPDATE_INT(inner, "size", 4096);
	if (depth > 0)
		updates_find_their_region(depth - 1);
	DFTRACER_C_REGION_UPDATE_STR(inner, "done", "yes");
	DFTRACER_C_REGION_END(inner);
	DFTRACER_C_REGION_UPDATE_STR(inner, "ended", "not recorded");
	if (depth > 0)
		return; /* without its END */
	DFTRACER_C_FUNCTION_END();
}

static void dftracers_updates_find_their_region(void **state)
{
	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	DFTRACER_C_INIT(NULL, NULL, NULL); /* joins */
	updates_find_their_region(1);
	DFTRACER_C_METADATA(any, "k", "v");
	DFTRACER_C_APP_METADATA_INT("n", 1);
	DFTRACER_C_APP_METADATA_STR("s", "t");
	DFTRACER_C_FINI();
	assert_true(lextrace_on);
	lextrace_stop();
	assert_told("metadata used.C_APP 1:1\nregion_begin C_APP/updates_find_their_region\narg_text comp 0:io\n"
		    "region_begin C_APP/inner\narg_int size 4096\n"
		    "region_begin C_APP/updates_find_their_region\narg_text comp 0:io\nregion_begin C_APP/inner\n"
		    "arg_int size 4096\narg_text done 0:yes\nregion_end C_APP/inner\narg_int late 0\narg_text typed 0:t\n"
		    "region_end C_APP/updates_find_their_region\n"
		    "arg_text done 0:yes\nregion_end C_APP/inner\narg_int late 1\narg_text typed 0:t\n"
		    "region_end C_APP/updates_find_their_region\n"
		    "metadata k 0:v\nmetadata n 1:1\nmetadata s 0:t\n");
}

static void dftracers_regions_that_overlap_close_what_is_inside(void **state)
{
	(void)state;
	assert_int_equal(lextrace_start(run), 0);
	{
		DFTRACER_C_REGION_START(a);
		DFTRACER_C_REGION_START(b);
		DFTRACER_C_REGION_UPDATE_INT(a, "late", 1);
		DFTRACER_C_REGION_END(a);
	}
	lextrace_stop();
	struct lx_trace *trace = open_run();
	char *text = told(&trace->processes[0]);

	assert_string_equal(text, "region_begin C_APP/a\nregion_begin C_APP/b\nregion_unwind C_APP/b\narg_int late 1\n"
				  "region_end C_APP/a\n");
	assert_int_equal(trace->processes[0].state.unmatched_ends, 1);
	free(text);
	lx_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scopes_end_however_they_are_left, make_run, remove_run),
		cmocka_unit_test_setup_teardown(every_kind_of_value, make_run, remove_run),
		cmocka_unit_test_setup_teardown(what_stands_alone, make_run, remove_run),
		cmocka_unit_test_setup_teardown(another_session_knows_keys_anew, make_run, remove_run),
		cmocka_unit_test_setup_teardown(programs_of_the_first_header_work, make_run, remove_run),
		cmocka_unit_test_setup_teardown(threads_share_keys, make_run, remove_run),
		cmocka_unit_test_setup_teardown(keys_that_a_program_makes_up, make_run, remove_run),
		cmocka_unit_test_setup_teardown(a_killed_process_keeps_all, make_run, remove_run),
		cmocka_unit_test_setup_teardown(dftracers_updates_find_their_region, make_run, remove_run),
		cmocka_unit_test_setup_teardown(dftracers_regions_that_overlap_close_what_is_inside, make_run, remove_run),
	};

	unsetenv("PMI_RANK");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
