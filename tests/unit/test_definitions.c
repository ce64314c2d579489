#include "maker.h"

#include "base/definitions.h"

static void walks_over_pads_of_any_size(void **state)
{
	struct made made = {0};
	struct lx_definition definition;
	size_t at = 0;
	const char *text;

	(void)state;
	made_definition(&made, 1, "f", "app.py", 3);
	for (uint32_t size = 8; size <= 40; size += 8) {
		const uint32_t pad[10] = {size, LX_DEFINITION_PAD};

		made_bytes(&made, pad, size);
	}
	made_definition(&made, 2, "long name", "", 0);
	text = lx_definition_next(made.data, made.size, &at, &definition);
	assert_memory_equal(text, "fapp.py", 7);
	assert_int_equal(definition.line, 3);
	text = lx_definition_next(made.data, made.size, &at, &definition);
	assert_memory_equal(text, "long name", 9);
	assert_int_equal(definition.id, 2);
	assert_null(lx_definition_next(made.data, made.size, &at, &definition));
	assert_int_equal(at, made.size);
	free(made.data);
}

static void stops_at_what_is_not_whole(void **state)
{
	struct lx_definition definition;

	(void)state;
	for (size_t cut = 0; cut < 48; cut++) {
		struct made made = {0};
		size_t at = 0;

		made_definition(&made, 1, "f", "app.py", 3);
		char *copy = malloc(cut + 1); /* exact, for sanitizers */

		memcpy(copy, made.data, cut < made.size ? cut : made.size);
		bool whole = cut >= made.size;

		if (cut <= made.size)
			assert_true((lx_definition_next(copy, cut, &at, &definition) != NULL) == whole);
		free(copy);
		free(made.data);
	}
}

static void refuses_sizes_that_lie(void **state)
{
	const struct lx_definition bad[] = {
		{.size = 0, .id = 1},
		{.size = 36, .id = 1},
		{.size = 24, .id = 1},
		{.size = 32, .id = 1, .name_size = 1},
		{.size = 32, .id = 1, .name_size = 0xffffffff, .file_size = 1},
		{.size = 0xfffffff8, .id = LX_DEFINITION_PAD},
	};
	struct lx_definition definition;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size_t at = 0;

		assert_null(lx_definition_next(&bad[i], sizeof(bad[i]), &at, &definition));
		assert_int_equal(at, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_over_pads_of_any_size),
		cmocka_unit_test(stops_at_what_is_not_whole),
		cmocka_unit_test(refuses_sizes_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
