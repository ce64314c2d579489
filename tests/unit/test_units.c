/* Numbers and cut text for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/output.h"

static char out[200];

static void counts(void **state)
{
	(void)state;
	assert_string_equal(lx_format_count(out, sizeof(out), 0), "0");
	assert_string_equal(lx_format_count(out, sizeof(out), 999), "999");
	assert_string_equal(lx_format_count(out, sizeof(out), 1000), "1,000");
	assert_string_equal(lx_format_count(out, sizeof(out), UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(lx_format_plural(out, sizeof(out), 1, "process"), "1 process");
	assert_string_equal(lx_format_plural(out, sizeof(out), 1200, "process"), "1,200 processes");
	assert_string_equal(lx_format_plural(out, sizeof(out), 0, "call"), "0 calls");
}

static void durations(void **state)
{
	(void)state;
	assert_string_equal(lx_format_duration(out, sizeof(out), 0), "0 ns");
	assert_string_equal(lx_format_duration(out, sizeof(out), 880), "880 ns");
	assert_string_equal(lx_format_duration(out, sizeof(out), 999.4), "999 ns");
	assert_string_equal(lx_format_duration(out, sizeof(out), 999.6), "1.00 us");
	assert_string_equal(lx_format_duration(out, sizeof(out), 9994), "9.99 us");
	assert_string_equal(lx_format_duration(out, sizeof(out), 9996), "10.0 us");
	assert_string_equal(lx_format_duration(out, sizeof(out), 99960), "100 us");
	assert_string_equal(lx_format_duration(out, sizeof(out), 999600), "1.00 ms");
	assert_string_equal(lx_format_duration(out, sizeof(out), 5.26e9), "5.26  s");
	assert_string_equal(lx_format_duration(out, sizeof(out), 86400e9), "86400  s");
	assert_string_equal(lx_format_seconds(out, sizeof(out), 5.56e9), "5.56 s");
	assert_string_equal(lx_format_seconds(out, sizeof(out), 412e6), "0.412 s");
	assert_string_equal(lx_format_seconds(out, sizeof(out), 2.5e6), "2.50 ms");
}

static void bytes(void **state)
{
	(void)state;
	assert_string_equal(lx_format_bytes(out, sizeof(out), 12), "12 bytes");
	assert_string_equal(lx_format_bytes(out, sizeof(out), 98310000), "98.3 MB");
	assert_string_equal(lx_format_bytes(out, sizeof(out), 999600), "1.00 MB");
}

static void widths(void **state)
{
	(void)state;
	assert_int_equal(lx_text_width("Solver.run"), 10);
	assert_int_equal(lx_text_width("名前.関数"), 9);
	assert_int_equal(lx_text_width("e\xcc\x81"), 1); /* a combining accent */
	assert_int_equal(lx_text_width("bad\xff"), 4);
	assert_int_equal(lx_text_fit("名前.関数", 3), 3);
}

static void cuts(void **state)
{
	(void)state;
	lx_text_cut_head(out, sizeof(out), "docutils/nodes.py:248", 12);
	assert_string_equal(out, "…odes.py:248");
	lx_text_cut_head(out, sizeof(out), "short", 12);
	assert_string_equal(out, "short");
	lx_text_cut_middle(out, sizeof(out), "StateMachine.check_line", 12);
	assert_int_equal(lx_text_width(out), 12);
	assert_string_equal(out, "StateMa…line");
	for (size_t columns = 0; columns < 12; columns++) {
		lx_text_cut_middle(out, sizeof(out), "名前名前名前名前", columns);
		assert_true(lx_text_width(out) <= (columns ? columns : 1));
		lx_text_cut_head(out, sizeof(out), "名前名前名前名前", columns);
		assert_true(lx_text_width(out) <= (columns ? columns : 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts), cmocka_unit_test(durations), cmocka_unit_test(bytes),
		cmocka_unit_test(widths), cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
