#include "maker.h"

#include "transform/parse.h"

struct parsed {
	struct lx_process process;
	struct lx_store store;
};

static struct parsed parse(const struct made *made)
{
	struct parsed parsed = {.store = {NULL}};

	assert_int_equal(lx_parse_lexgions(&parsed.process, &parsed.store, made->data, made->size), 0);
	return parsed;
}

static void finds_names_by_id(void **state)
{
	struct made made = {0};

	(void)state;
	made_definition(&made, 0, "<unknown>", "", 0);
	made_definition(&made, 700, "later", "b.py", 9);
	made_definition(&made, 2, "a\"b\n", "a.py", 3);
	made_definition(&made, 2, "again", "a.py", 3); /* the first one counts */
	struct parsed parsed = parse(&made);
	const struct lx_lexgion *lexgion = lx_lexgion(&parsed.process, 2);

	assert_int_equal(parsed.process.lexgion_count, 701);
	assert_string_equal(lexgion->name, "a\"b\n");
	assert_string_equal(lexgion->file, "a.py");
	assert_int_equal(lexgion->name_size, 4);
	assert_int_equal(lexgion->line, 3);
	assert_true(lexgion->defined);
	assert_string_equal(lx_lexgion(&parsed.process, 700)->name, "later");
	lx_store_free(&parsed.store);
	free(made.data);
}

static void gives_unknown_for_gaps_and_beyond(void **state)
{
	struct made made = {0};
	const uint32_t ids[] = {1, 4, 0xffffff, 0xffffffff};

	(void)state;
	made_definition(&made, 3, "f", "", 0);
	struct parsed parsed = parse(&made);

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_string_equal(lx_lexgion(&parsed.process, ids[i])->name, "<unknown>");
		assert_false(lx_lexgion(&parsed.process, ids[i])->defined);
	}
	lx_store_free(&parsed.store);
	free(made.data);
}

static void keeps_bytes_as_recorded(void **state)
{
	struct lx_definition definition = {.size = 40, .id = 1, .name_size = 5, .file_size = 3, .domain = 77};
	struct made made = {0};

	(void)state;
	made_bytes(&made, &definition, sizeof(definition));
	made_bytes(&made, "a\0\xED\xA0\x80\0\xFF/", 8);
	struct parsed parsed = parse(&made);
	const struct lx_lexgion *lexgion = lx_lexgion(&parsed.process, 1);

	assert_int_equal(lexgion->name_size, 5);
	assert_memory_equal(lexgion->name, "a\0\xED\xA0\x80", 6);
	assert_memory_equal(lexgion->file, "\0\xFF/", 4);
	assert_int_equal(lexgion->domain, LX_DOMAIN_PYTHON); /* 77 is none */
	lx_store_free(&parsed.store);
	free(made.data);
}

static void one_absurd_id_makes_no_huge_table(void **state)
{
	struct made made = {0};

	(void)state;
	made_definition(&made, 1, "f", "", 0);
	made_definition(&made, LX_LEXGION_MAX - 1, "far", "", 0);
	struct parsed parsed = parse(&made);

	assert_int_equal(parsed.process.lexgion_count, 2);
	lx_store_free(&parsed.store);
	free(made.data);
}

static void takes_an_empty_file(void **state)
{
	struct made made = {0};
	struct parsed parsed = parse(&made);

	(void)state;
	assert_int_equal(parsed.process.lexgion_count, 0);
	assert_string_equal(lx_lexgion(&parsed.process, 0)->name, "<unknown>");
	lx_store_free(&parsed.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_names_by_id),
		cmocka_unit_test(gives_unknown_for_gaps_and_beyond),
		cmocka_unit_test(keeps_bytes_as_recorded),
		cmocka_unit_test(one_absurd_id_makes_no_huge_table),
		cmocka_unit_test(takes_an_empty_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
