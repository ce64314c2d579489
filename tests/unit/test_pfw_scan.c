/* Lines of .pfw files: the quick way and the long way say the same, numbers and strings are what JSON means by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transform/pfw_scan.h"

#define LINE_MAX_SIZE 4096

static char padded[LINE_MAX_SIZE + LX_PFW_PADDING];
static struct lx_pfw_line line;

static enum lx_pfw_scanned scan(const char *text)
{
	size_t size = strlen(text);

	assert_true(size < LINE_MAX_SIZE);
	memset(padded, '\n', sizeof(padded));
	memcpy(padded, text, size);
	return lx_pfw_scan(&line, padded, padded + size);
}

static bool is(const struct lx_pfw_text *text, const char *wanted)
{
	return text->size == strlen(wanted) && memcmp(text->at, wanted, text->size) == 0;
}

static void test_both_ways(void **state)
{
	static const char quick[] = "{\"id\":4,\"name\":\"read\",\"cat\":\"POSIX\",\"type\":3,\"pid\":12,\"tid\":13,\"ts\":1796056093193657,"
				    "\"dur\":35,\"ph\":1,\"args\":{\"hhash\":\"68\",\"ret\":10000,\"fhash\":\"595b\"}}";
	char longer[sizeof(quick) * 2], *out = longer;

	(void)state;
	for (const char *at = quick; *at; at++) { /* blanks are not for the quick way */
		*out++ = *at;
		if (*at == ',' || *at == ':')
			*out++ = ' ';
	}
	*out = '\0';
	for (int way = 0; way < 3; way++) { /* the first line of all makes room for arguments, which the quick way does not */
		assert_int_equal(scan(way ? quick : longer), LX_PFW_RECORD);
		if (way == 2)
			assert_ptr_equal(lx_pfw_quick(&line, padded), padded + sizeof(quick) - 1);
		assert_int_equal(line.given & 0xff, 0xff);
		assert_true(is(&line.members[LX_PFW_NAME].text, "read") && is(&line.members[LX_PFW_CAT].text, "POSIX"));
		assert_int_equal(line.members[LX_PFW_TS].integer, 1796056093193657);
		assert_int_equal(line.members[LX_PFW_DUR].integer, 35);
		assert_int_equal(line.members[LX_PFW_TID].integer, 13);
		assert_int_equal(line.arg_count, 3);
		assert_true(is(&line.args[1].key, "ret") && line.args[1].value.form == LX_PFW_INT);
		assert_int_equal(line.args[1].value.integer, 10000);
		assert_true(is(&line.args[2].value.text, "595b") && line.args[2].value.form == LX_PFW_STRING);
		assert_int_equal(line.args_text.at[0], '{');
		assert_int_equal(line.args_text.at[line.args_text.size - 1], '}');
	}
}

static void check_number(const char *text, enum lx_pfw_form form, int64_t integer)
{
	char record[256];

	for (int blank = 0; blank < 2; blank++) {
		snprintf(record, sizeof(record), "{\"name\":\"n\",%s\"ts\":%s}", blank ? " " : "", text);
		assert_int_equal(scan(record), LX_PFW_RECORD);
		if (blank && form == LX_PFW_INT && integer >= 0 && strlen(text) <= 18) {
			snprintf(record, sizeof(record), "{\"name\":\"n\",\"ts\":%s}", text);
			scan(record);
			assert_non_null(lx_pfw_quick(&line, padded));
		}
		assert_int_equal(line.members[LX_PFW_TS].form, form);
		assert_true(is(&line.members[LX_PFW_TS].text, text));
		if (form == LX_PFW_INT)
			assert_int_equal(line.members[LX_PFW_TS].integer, integer);
	}
}

static void test_numbers(void **state)
{
	char digits[32] = "";

	(void)state;
	for (int64_t value = 1, size = 0; size < 18; size++, value = value * 10 + (size + 1) % 10) {
		snprintf(digits, sizeof(digits), "%lld", (long long)value);
		check_number(digits, LX_PFW_INT, value);
	}
	check_number("0", LX_PFW_INT, 0);
	check_number("-12", LX_PFW_INT, -12);
	check_number("9223372036854775807", LX_PFW_INT, INT64_MAX);
	check_number("9223372036854775808", LX_PFW_NUMBER, 0);
	check_number("18446744073709551616", LX_PFW_NUMBER, 0);
	check_number("-0", LX_PFW_NUMBER, 0);
	check_number("1.50", LX_PFW_NUMBER, 0);
	check_number("1E+5", LX_PFW_NUMBER, 0);
}

static void check_string(const char *escaped, const char *wanted, size_t size)
{
	struct lx_pfw_text text = { escaped, strlen(escaped), strchr(escaped, '\\') != NULL };
	char out[256];

	assert_int_equal(lx_pfw_decode(out, &text), size);
	assert_memory_equal(out, wanted, size);
}

static void test_strings(void **state)
{
	(void)state;
	check_string("plain", "plain", 5);
	check_string("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 8);
	check_string("a\\u0000b", "a\0b", 3);
	check_string("\\u00e9\\u6F22", "\xc3\xa9\xe6\xbc\xa2", 5);
	check_string("\\ud83d\\ude00", "\xf0\x9f\x98\x80", 4);
	check_string("\\ud83dx", "\xed\xa0\xbdx", 4);
	check_string("\\ude00\\ud83d", "\xed\xb8\x80\xed\xa0\xbd", 6);
	check_string("\\ud83d\\u0041", "\xed\xa0\xbd""A", 4);
	check_string("\xff\\n", "\xff\n", 2);
}

static void test_brackets_around(void **state)
{
	static const char *const blank[] = { "", "[", "]", " [ ", ",", "]\r", "\t" };
	static const char *const whole[] = { "{\"ph\":\"X\"},", "[{\"ph\":1}", "{\"ph\":1}]", ",{\"ph\":1}\r", "{\"ph\":1} , " };
	static const char *const wrong[] = { "{}", "x", "{\"ph\":1}}", "{\"ph\":1}{\"ph\":1}", "{\"ph\":1", "{\"ph\"", "{\"ph\":1,}", "\"a\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(blank) / sizeof(blank[0]); i++)
		assert_int_equal(scan(blank[i]), LX_PFW_BLANK);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		assert_int_equal(scan(whole[i]), LX_PFW_RECORD);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(scan(wrong[i]), LX_PFW_WRONG);
		assert_non_null(line.wrong);
		assert_true(line.wrong_at <= strlen(wrong[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_brackets_around),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(line.args);
	return failed;
}
