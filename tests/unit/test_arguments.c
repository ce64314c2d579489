/* Arguments, runs, and what is told beside the calls. */
#include "maker.h"

#include "transform/parse.h"
#include "view/arguments.h"
#include "view/json_value.h"
#include "view/spans.h"

enum { A = 1, B = 2, KEY = 10, OTHER = 11 };

struct told {
	char text[4096];
	size_t size;
};

static void put(struct told *told, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	told->size += (size_t)vsnprintf(told->text + told->size, sizeof(told->text) - told->size, format, list);
	va_end(list);
	assert_true(told->size < sizeof(told->text));
}

static void put_arguments(struct told *told, const struct lx_arguments *arguments)
{
	for (uint32_t i = 0; arguments && i < arguments->count; i++) {
		const struct lx_argument *one = &arguments->list[i];

		put(told, " %u=", one->key);
		if (one->kind == LX_EV_ARG_INT)
			put(told, "%lld", (long long)one->integer);
		else if (one->kind == LX_EV_ARG_FLOAT)
			put(told, "%g", one->real);
		else if (one->size < 50)
			put(told, "'%.*s'%s", (int)one->size, one->text, one->form == LX_TEXT_JSON ? "j" : "");
		else
			put(told, "%u bytes", one->size);
	}
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	(void)process;
	(void)thread;
	put(context, "%s%u", span->run ? "slice " : "", span->lexgion);
	put_arguments(context, span->arguments);
	put(context, "; ");
}

static void aside(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		  const struct lx_told *told)
{
	(void)process;
	(void)thread;
	put(context, "%s %u", strchr(lx_event_name(told->kind), ':') + 1, told->lexgion);
	if (told->kind == LX_EV_SPAN)
		put(context, " %lld+%llu", (long long)told->begin, (unsigned long long)told->duration);
	if (told->kind == LX_EV_COUNTER)
		put(context, " %g", told->value);
	put_arguments(context, told->arguments);
	put(context, "; ");
}

static void run_end(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		    const struct lx_run *run)
{
	(void)process;
	(void)thread;
	put(context, "run %llu of %u: %u slices, %d-%d, %d%s", (unsigned long long)run->number, run->lexgion, run->slices,
	    (int)(run->begin - START), (int)(run->end - START), (int)run->running,
	    run->ended == LX_ENDED_YIELD ? " waits" : run->ended == LX_ENDED_UNWIND ? " raised" : "");
	put_arguments(context, run->arguments);
	put(context, "; ");
}

static void check(struct made *made, size_t count, const char *expected)
{
	static const struct lx_spans_ops ops = {.leave = leave, .told = aside, .run_end = run_end};
	struct lx_lexgion lexgions[16] = {{0}};
	struct lx_stream streams[2] = {{0}};
	struct lx_process process = {.streams = streams, .stream_count = count, .lexgions = lexgions, .lexgion_count = 16};
	struct lx_state state = made_state(0);
	struct lx_spans_totals totals = {0};
	struct lx_store store = {NULL};
	struct told told = {.size = 0};

	for (size_t i = 0; i < 16; i++)
		lexgions[i].domain = LX_DOMAIN_USER;
	lx_parse_state(&process, &state, sizeof(state));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(lx_parse_stream(&store, &streams[i], made[i].data, made[i].size, NULL, 0), 0);
	assert_int_equal(lx_parse_finish(&process, &store), 0);
	assert_int_equal(lx_spans_run(&process, &ops, &told, &totals), 0);
	assert_string_equal(told.text, expected);
	lx_store_free(&store);
	for (size_t i = 0; i < count; i++)
		free(made[i].data);
}

static void named(struct made *made, uint32_t kind, uint32_t lexgion, uint64_t number)
{
	made_event(made, 10, kind, lexgion);
	made_long(made, 0, LX_EV_REGION_RUN, lexgion, &number, 1);
}

static void a_call_has_its_arguments(void **state)
{
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	made_int(&made, 1, KEY, 7); /* of nothing */
	made_event(&made, 10, LX_EV_REGION_BEGIN, A);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, LX_TEXT_STRING, "long before", 11);
	made_event(&made, 10, LX_EV_REGION_BEGIN, B);
	made_float(&made, 0, LX_EV_ARG_FLOAT, KEY, 0.5);
	made_event(&made, 10, LX_EV_REGION_END, B);
	made_packet(&made, made.ticks + 5);
	made_int(&made, 0, OTHER, -1);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, LX_TEXT_JSON, "[]", 2);
	made_event(&made, 10, LX_EV_REGION_END, A);
	made_event(&made, 10, LX_EV_REGION_BEGIN, B);
	made_event(&made, 10, LX_EV_REGION_END, B);
	check(&made, 1, "2 10=0.5; 1 10='[]'j 11=-1; 2; ");
}

static void a_text_comes_in_parts(void **state)
{
	static char part[LX_TEXT_PART_MAX];
	struct made made = {0};

	(void)state;
	memset(part, 'x', sizeof(part));
	made_packet(&made, START);
	made_event(&made, 10, LX_EV_REGION_BEGIN, A);
	for (int i = 0; i < 30; i++)
		made_text(&made, 0, LX_EV_ARG_TEXT, KEY, LX_TEXT_MORE, part, sizeof(part));
	made_packet(&made, made.ticks);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, 0, part, 3);
	made_text(&made, 0, LX_EV_ARG_TEXT, OTHER, LX_TEXT_MORE, "a", 1);
	made_event(&made, 10, LX_EV_REGION_END, A); /* its end never came */
	made_event(&made, 10, LX_EV_REGION_BEGIN, B);
	made_text(&made, 0, LX_EV_ARG_TEXT, OTHER, 0, "lost", 4);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, 0, "new", 3);
	made_event(&made, 10, LX_EV_REGION_END, B);
	check(&made, 1, "1 10=122883 bytes 11='a'; 2 10='new'; ");
}

static void told_beside_the_calls(void **state)
{
	const uint64_t span[] = {(uint64_t)-5, 9, 2}, point[] = {1}, none[] = {0};
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	made_event(&made, 10, LX_EV_REGION_BEGIN, A);
	made_long(&made, 1, LX_EV_SPAN, B, span, 3);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, LX_TEXT_MORE, "ab", 2);
	made_text(&made, 0, LX_EV_ARG_TEXT, KEY, 0, "cd", 2);
	made_int(&made, 0, OTHER, 1);
	made_int(&made, 0, KEY, 2); /* the region's */
	made_long(&made, 1, LX_EV_POINT, B, point, 1);
	made_int(&made, 0, KEY, 3);
	made_long(&made, 1, LX_EV_POINT, B, none, 1);
	made_float(&made, 1, LX_EV_COUNTER, B, 2.5);
	made_text(&made, 0, LX_EV_METADATA, KEY, LX_TEXT_MORE, "me", 2);
	made_text(&made, 0, LX_EV_METADATA, KEY, 0, "ta", 2);
	made_long(&made, 1, LX_EV_SPAN, B, span, 3);
	made_int(&made, 0, KEY, 4);
	made_event(&made, 10, LX_EV_REGION_END, A);
	made_int(&made, 0, KEY, 5);
	check(&made, 1, "span 2 -5+9 10='abcd' 11=1; point 2 10=3; point 2; counter 2 2.5; metadata 10 10='meta'; "
			"span 2 -5+9 10=4; 1 10=2; ");
}

static void runs_take_turns(void **state)
{
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	named(&made, LX_EV_REGION_BEGIN, A, 1);
	made_int(&made, 0, KEY, 1);
	made_event(&made, 10, LX_EV_REGION_SUSPEND, A);
	named(&made, LX_EV_REGION_BEGIN, A, 2);
	made_event(&made, 10, LX_EV_REGION_SUSPEND, A);
	named(&made, LX_EV_REGION_RESUME, A, 1);
	made_event(&made, 10, LX_EV_REGION_UNWIND, A);
	check(&made, 1, "slice 1 10=1; slice 1; slice 1 10=1; run 1 of 1: 2 slices, 10-60, 20 raised 10=1; "
			"run 2 of 1: 1 slices, 30-40, 10 waits; ");
}

/* A generator that another thread ends. */
static void a_run_goes_to_another_thread(void **state)
{
	struct made made[2] = {{0}, {.thread = 1}};

	(void)state;
	made_packet(&made[0], START);
	named(&made[0], LX_EV_REGION_BEGIN, A, 1);
	made_int(&made[0], 0, KEY, 1);
	made_event(&made[0], 10, LX_EV_REGION_SUSPEND, A);
	made_packet(&made[1], START + 100);
	named(&made[1], LX_EV_REGION_RESUME, A, 1);
	made_event(&made[1], 10, LX_EV_REGION_END, A);
	check(made, 2, "slice 1 10=1; slice 1 10=1; run 1 of 1: 2 slices, 10-120, 20 10=1; ");
}

static void what_a_mode_ends(void **state)
{
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	named(&made, LX_EV_REGION_BEGIN, A, 1);
	made_event(&made, 10, LX_EV_REGION_BEGIN, B);
	made_int(&made, 0, KEY, 1);
	made_event(&made, 10, LX_EV_MODE, LX_MODE_WORD(LX_DOMAIN_USER, LX_MODE_STANDBY));
	made_int(&made, 10, KEY, 2);
	check(&made, 1, "2 10=1; slice 1; run 1 of 1: 1 slices, 10-30, 20; ");
}

static void json_is_told_from_text(void **state)
{
	static const char *const good[] = {"0", "-1.5e+10", "\"\\u00e9\\ud83d\\udc0d\"", " [ ] ", "{\"a\":{\"b\":[null,true]}}"};
	static const char *const bad[] = {"", "-", "+1", "1.", ".5", "1e", "NaN", "'a'", "[1 2]", "{\"a\"}", "\"\\ud83d\"", "\"\t\"", "nul"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(lx_json_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(lx_json_valid(bad[i], strlen(bad[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_its_arguments),
		cmocka_unit_test(a_text_comes_in_parts),
		cmocka_unit_test(told_beside_the_calls),
		cmocka_unit_test(runs_take_turns),
		cmocka_unit_test(a_run_goes_to_another_thread),
		cmocka_unit_test(what_a_mode_ends),
		cmocka_unit_test(json_is_told_from_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
