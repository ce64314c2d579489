/* Spans of .pfw files in the order of their begins: against the C library's sort, and what stands on which stack. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transform/pfw.h"
#include "transform/pfw_open.h"
#include "view/spans.h"

static uint32_t seed = 1;

static uint32_t random_number(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static int reference(const void *a, const void *b)
{
	const struct lx_pfw_span *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->duration != y->duration)
		return x->duration > y->duration ? -1 : 1;
	return lx_pfw_order(x) > lx_pfw_order(y) ? -1 : lx_pfw_order(x) < lx_pfw_order(y);
}

/* `reach`: how far begins lie from their place in the file; `step`: between neighbours. */
static void check_sorted(size_t count, uint64_t reach, uint64_t step)
{
	struct lx_pfw_track track = { 0 };
	struct lx_pfw_span *wanted;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(lx_pfw_add(&track, 1000000000000 + i * step + random_number() % reach, random_number() % 50, 1, 0), 0);
	wanted = malloc(count * sizeof(*wanted));
	assert_non_null(wanted);
	memcpy(wanted, track.spans, count * sizeof(*wanted));
	qsort(wanted, count, sizeof(*wanted), reference);
	lx_pfw_sort(&track);
	assert_memory_equal(wanted, track.spans, count * sizeof(*wanted));
	free(wanted);
	free(track.spans);
	free(track.words.at);
}

static void test_sort(void **state)
{
	(void)state;
	check_sorted(1, 1, 1);
	check_sorted(100, 1, 0);       /* one begin */
	check_sorted(70000, 3, 0);     /* few begins: order in the file decides past 15 bits */
	check_sorted(50000, 1000, 10);
	check_sorted(50000, 1u << 23, 0);
	check_sorted(50000, 5, 1u << 30);
}

static void test_far_times_are_refused(void **state)
{
	struct lx_pfw_track track = { 0 };

	(void)state;
	assert_int_equal(lx_pfw_add(&track, 1u << 30, 5, 1, 0), 0);
	assert_int_equal(lx_pfw_add(&track, 1ull << 60, 5, 1, 0), -ERANGE);
	assert_int_equal(lx_pfw_add(&track, 1u << 30, 1ull << 60, 1, 0), -ERANGE);
	assert_int_equal(track.count, 1);
	free(track.spans);
}

/* "outer>inner " for each span, as it begins. */
static char seen[1024];

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	size_t used = strlen(seen);

	(void)context;
	snprintf(seen + used, sizeof(seen) - used, "%u:%s>%s ", thread->number,
		 span->parent ? lx_lexgion(process, span->parent->lexgion)->name : "",
		 lx_lexgion(process, span->lexgion)->name);
}

/* Each is "name begin duration", in the order of the file. */
static void check_stacks(const char *const *spans, const char *wanted)
{
	static const struct lx_spans_ops ops = { .enter = enter };
	struct lx_spans_totals totals = { 0 };
	struct lx_store store = { NULL };
	struct lx_trace trace = { 0 };
	char text[2048] = "";

	for (; *spans; spans++) {
		char name[16];
		int begin, duration;

		assert_int_equal(sscanf(*spans, "%15s %d %d", name, &begin, &duration), 3);
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "{\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d,\"ph\":1}\n", name,
			 begin, duration);
	}
	size_t size = strlen(text);

	memset(text + size, '\n', LX_PFW_PADDING);
	assert_int_equal(lx_pfw_load_text(text, size, &trace, &store), 0);
	assert_int_equal(trace.process_count, 1);
	seen[0] = '\0';
	assert_int_equal(lx_spans_run(&trace.processes[0], &ops, NULL, &totals), 0);
	assert_string_equal(seen, wanted);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
	free(trace.processes);
	lx_store_free(&store);
}

static void test_stacks(void **state)
{
	(void)state;
	check_stacks((const char *[]){ "in 12 3", "out 10 10", NULL }, "0:>out 0:out>in ");
	check_stacks((const char *[]){ "a 10 5", "b 15 5", NULL }, "0:>a 0:>b ");
	/* Times are cut to whole units: what was written first has ended first. */
	check_stacks((const char *[]){ "in 10 5", "out 10 5", NULL }, "0:>out 0:out>in ");
	check_stacks((const char *[]){ "in 20 0", "out 10 10", NULL }, "0:>out 0:out>in ");
	check_stacks((const char *[]){ "out 10 10", "next 20 0", NULL }, "0:>out 0:>next ");
	check_stacks((const char *[]){ "in 10 0", "mid 10 0", "out 10 0", NULL }, "0:>out 0:out>mid 0:mid>in ");
	/* Neither is in the other: the second lane is a thread of its own. */
	check_stacks((const char *[]){ "a 10 10", "b 15 10", "in 16 2", "c 30 1", NULL }, "0:>a 0:a>in 0:>c 1:>b ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_far_times_are_refused),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
