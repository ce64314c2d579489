/* The JSON writer: structure, numbers, hostile text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static struct lx_json json;
static char *text;
static size_t size;

static int start(void **state)
{
	(void)state;
	lx_json_init(&json, open_memstream(&text, &size), false);
	return json.file ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static void written(const char *expected)
{
	fclose(json.file);
	assert_string_equal(text, expected);
}

static void structure(void **state)
{
	(void)state;
	lx_json_object(&json);
	lx_json_key(&json, "empty");
	lx_json_array(&json);
	lx_json_array_end(&json);
	lx_json_key(&json, "list");
	lx_json_array(&json);
	lx_json_bool(&json, true);
	lx_json_null(&json);
	lx_json_object(&json);
	lx_json_object_end(&json);
	lx_json_string(&json, NULL);
	lx_json_array_end(&json);
	lx_json_key(&json, "last");
	lx_json_string(&json, "x");
	lx_json_object_end(&json);
	written("{\"empty\":[],\"list\":[true,null,{},null],\"last\":\"x\"}");
}

static void pretty(void **state)
{
	(void)state;
	json.pretty = true;
	lx_json_object(&json);
	lx_json_key(&json, "a");
	lx_json_array(&json);
	lx_json_u64(&json, 1);
	lx_json_u64(&json, 2);
	lx_json_array_end(&json);
	lx_json_key(&json, "b");
	lx_json_object(&json);
	lx_json_object_end(&json);
	lx_json_object_end(&json);
	written("{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

static void numbers(void **state)
{
	(void)state;
	lx_json_array(&json);
	lx_json_u64(&json, 0);
	lx_json_u64(&json, UINT64_MAX);
	lx_json_i64(&json, INT64_MIN);
	lx_json_double(&json, 1.25, 3);
	lx_json_double(&json, 100, 2);
	lx_json_double(&json, 1200, 0);
	lx_json_double(&json, -0.0001, 2);
	lx_json_double(&json, 1e300, 0);
	lx_json_double(&json, NAN, 2);
	lx_json_double(&json, -INFINITY, 2);
	lx_json_array_end(&json);
	fclose(json.file);
	assert_true(strncmp(text, "[0,18446744073709551615,-9223372036854775808,1.25,100,1200,0,1", 60) == 0);
	assert_string_equal(text + size - 11, ",null,null]");
	assert_true(size > 300);
}

static void hostile_text(void **state)
{
	static const char bytes[] = "q\"b\\n\nt\tz\0d\x7f" "c\xc2\x9b" "l\xed\xa0\x80" "u\xff" "e\xc3\xa4" "\xf0\x9f\x90\x8d" "\xc3";

	(void)state;
	lx_json_text(&json, bytes, sizeof(bytes) - 1);
	written("\"q\\\"b\\\\n\\nt\\u0009z\\u0000d\\u007fc\\u009bl\\ufffd\\ufffd\\ufffdu\\ufffde\xc3\xa4\xf0\x9f\x90\x8d\\ufffd\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(structure, start, stop),
		cmocka_unit_test_setup_teardown(pretty, start, stop),
		cmocka_unit_test_setup_teardown(numbers, start, stop),
		cmocka_unit_test_setup_teardown(hostile_text, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
