#include "maker.h"

#include "view/counted.h"

struct told {
	char text[256];
};

static void tell(void *context, uint32_t thread, uint32_t lexgion, uint64_t ticks)
{
	struct told *told = context;
	size_t used = strlen(told->text);

	snprintf(told->text + used, sizeof(told->text) - used, "%u.%u=%u ", thread, lexgion, (unsigned)ticks);
}

/* A span that leaves, as lx_stats_run() tells of it. */
static void leave(struct lx_counted *counted, uint32_t thread, uint32_t depth, uint32_t lexgion, uint64_t begin, uint64_t end)
{
	struct lx_thread_info info = {.number = thread};
	struct lx_span parent = {0}, span = {.lexgion = lexgion, .depth = depth, .begin = begin, .end = end};

	span.parent = depth > 0 ? &parent : NULL;
	if (end > counted->from)
		lx_counted_leave(counted, &info, &span);
}

static void time_in_rows_is_taken_from_the_innermost_calls(void **state)
{
	struct lx_journal_line journal[] = {{100, "mode Python MONITORING by start"}, {200, "mode Python TRACING by api"},
					    {250, "mode User STANDBY by api"}, {300, "mode Python MONITORING by ctl"}};
	const struct lx_row rows[] = {{.thread = 0, .lexgion = 7, .calls = 3, .exclusive = 40},
				      {.thread = 0, .lexgion = 8, .calls = 1, .exclusive = 20},
				      {.thread = 1, .lexgion = 7, .calls = 1, .exclusive = 500}};
	const struct lx_process process = {
		.journal = journal, .journal_count = 4, .rows = rows, .row_count = 3, .thread_count = 2};
	struct lx_counted counted = {0};
	struct told told = {""};

	(void)state;
	assert_int_equal(lx_counted_init(&counted, &process), 0);
	assert_int_equal(counted.from, 100);
	/* f has MONITORING from 100 to 120 while g is open in it, and up to 200 by itself: 20 and 80 of the 60 that are known. */
	leave(&counted, 0, 1, 3, 10, 90);
	leave(&counted, 0, 1, 2, 95, 120);
	leave(&counted, 0, 0, 1, 5, 250);
	/* Thread 1 knows more than there is room for. */
	leave(&counted, 1, 0, 1, 290, 310);
	assert_int_equal(lx_counted_finish(&counted, &process, tell, &told), 0);
	assert_string_equal(told.text, "0.2=12 0.1=48 1.1=10 ");
	lx_counted_free(&counted);
}

static void without_rows_nothing_is_looked_at(void **state)
{
	struct lx_journal_line journal[] = {{100, "mode Python MONITORING by start"}};
	const struct lx_process process = {.journal = journal, .journal_count = 1};
	struct lx_counted counted = {0};

	(void)state;
	assert_int_equal(lx_counted_init(&counted, &process), 0);
	assert_true(counted.from == UINT64_MAX);
	lx_counted_free(&counted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_in_rows_is_taken_from_the_innermost_calls),
		cmocka_unit_test(without_rows_nothing_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
