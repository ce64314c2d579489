/* Large and hostile texts. What grew with the square of the text would run into the runner's time limit. */
#include "config_said.h"

#define SECTIONS 100000
#define LINE 1000000

static char *text, *end;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	end += vsprintf(end, format, arguments);
	va_end(arguments);
}

static void fill(const char *piece, size_t size)
{
	size_t length = strlen(piece);

	for (char *last = end + size; end + length <= last; end += length)
		memcpy(end, piece, length);
	*end = '\0';
}

static int begin(void **state)
{
	text = end = malloc(64u * SECTIONS + 4u * LINE);
	*state = NULL;
	return text ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static struct lx_rules *parse_text(void)
{
	return parse_sized(text, (size_t)(end - text), NULL);
}

/* ---- Many sections ---- */

static void names_are_found_among_many(void **state)
{
	char name[64], file[64], title[96];

	(void)state;
	for (int i = 0; i < SECTIONS / 4; i++)
		add("[Lexgion(Python:f%d)]\n[Lexgion(Python:C%d.__init__)]\n[Lexgion(Python:m%d.py:main)]\n"
		    "[Lexgion(Python:<lambda>@%d)]\n",
		    i, i, i, i + 1);
	struct lx_rules *rules = parse_text();

	assert_string_equal(said, "");
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "C%d.__init__", i * 2);
		snprintf(title, sizeof(title), "[Lexgion(Python:C%d.__init__)]", i * 2);
		assert_string_equal(section_at(rules, name, "/x/y.py", 1)->title, title);
		snprintf(file, sizeof(file), "/usr/lib/m%d.py", i * 2);
		snprintf(title, sizeof(title), "[Lexgion(Python:m%d.py:main)]", i * 2);
		assert_string_equal(section_at(rules, "main", file, 1)->title, title);
		snprintf(title, sizeof(title), "[Lexgion(Python:<lambda>@%d)]", i * 2 + 1);
		assert_string_equal(section_at(rules, "<lambda>", file, (uint32_t)i * 2 + 1)->title, title);
		snprintf(name, sizeof(name), "no%d", i);
		assert_string_equal(section_at(rules, name, file, 1)->title, "[Lexgion(Python).default]");
	}
	lx_rules_free(rules);
}

static void many_sections_of_each_kind(void **state)
{
	static const char *const forms[] = {
		"[Lexgion(Python:f%d)]\n[REMOVE Lexgion(Python:f%d)]\n",
		"[Python.thread(%d)]\n[REMOVE Python.thread(%d)]\n",
		"[Python.thread(%d)]\n[User.thread(%d)]\n",
		"[Python.thread(%d)]\n[REMOVE User.thread(*)]\n#%d\n",
		"[Python.thread(%d)]\n[REMOVE Python.thread(*)]\n#%d\n",
		"[Lexgion(Python:f)]\n#%d\n[REMOVE Lexgion(Python:f)]\n#%d\n",
		"[REMOVE Lexgion(Python:f%d)]\n[REMOVE Python.thread(%d)]\n",
		"[Knob]\nknob%d = %d\n",
		"[Lexgion(Python:f%d)\n[Pyton.default]\nnonsense %d\n",
	};

	(void)state;
	for (size_t form = 0; form < COUNT(forms); form++) {
		end = text;
		for (int i = 0; i < SECTIONS / 2; i++)
			end += sprintf(end, forms[form], i, i);
		struct lx_rules *rules = parse_text();

		assert_int_equal(window_of(rules, "f").max_traces, -1);
		lx_rules_free(rules);
	}
}

static void sets_of_many_sections_are_asked(void **state)
{
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = {7, LX_NO_PUNIT, LX_NO_PUNIT};

	(void)state;
	for (int i = 0; i < 2000; i++)
		add("[Python.thread(%d)]\npysysmon_py_start = off\npysysmon_c_start = off\npysysmon_import = on\n", i);
	struct lx_rules *rules = parse_text();

	for (int i = 0; i < 100; i++) {
		assert_true(lx_rules_domain_admits(rules, LX_DOMAIN_PYTHON, punits));
		assert_true(lx_rules_switches_vary(rules, NULL, LX_DOMAIN_PYTHON));
		assert_int_equal(switches_of(rules, "f", 7), 1u << LX_PY_RETURN | 1u << LX_C_RETURN | 1u << LX_IMPORT);
	}
	lx_rules_free(rules);
}

/* ---- Long lines ---- */

static void long_lines(void **state)
{
	static const struct {
		const char *first, *repeated, *last;
		size_t errors;
	} lines[] = {
		{"", "[", "", 1},
		{"", "]", "", 1},
		{"", "x", "", 1},
		{"[Knob]\n", "x", " = 1", 0},
		{"[Knob]\nx = ", "y", "", 0},
		{"# ", "x", "", 0},
		{"[Python.default]   # ", "]", "", 0},
		{"[Lexgion(Python:", "[", "", 1},
		{"[Lexgion(Python:\"", "[", "\")]", 1},
		{"[Lexgion(Python:", "(", ")]", 1},
		{"[Lexgion(Python:/", "(", "/)]", 1},
		{"[Lexgion(Python:/", "\\/", "/)]", 1},
		{"[Lexgion(Python:", "a*", ")]", 1},
		{"[Lexgion(Python:", "a", ")]", 1},
		{"[Lexgion(Python:f", ",", ")]", 1},
		{"[Lexgion(Python:f", ", Python:g", ")]", 0},
		{"[Lexgion(Python:f", ", wrong", ")]", 1},
		{"[Lexgion(Python:f", ", /", ")]", 1},
		{"[Lexgion(Python:f", ", [", ")]", 1},
		{"[Lexgion(Python:f", ", \"", ")]", 1},
		{"[Lexgion(Python:f)] ", ": ", "", 0},
		{"[Lexgion(Python:f)] ", ": Python.default ", "", 0},
		{"[Lexgion(Python:f)] ", ": Pyton.default ", "", 1},
		{"[Lexgion(Python:f)] : Python.thread(0", ",2", ")", 0},
		{"[Lexgion(Python:f)] : Python.thread(0", ",x", ")", 1},
		{"[Lexgion(Python:f)] : Python.thread", "(", "", 1},
		{"[Python.thread(0", ",2,4-5,1", ")]", 0},
		{"[REMOVE Lexgion(Python:f", ", Python:g", ")]", 1},
		{"[Lexgion.default]\nmax_num_traces = ", "9", "", 1},
		{"[Lexgion.default]\nwindow_timeout = ", "9", "", 1},
		{"[Lexgion.default]\ntrace_mode_after = Python:OFF", ", User:OFF", "", 0},
		{"[Lexgion.default]\ntrace_mode_after = ", ":", "", 1},
		{"[Lexgion.default]\ntrace_mode_after = INTROSPECT:1:", "s", ":OFF", 0},
		{"[Lexgion.default]\n", "max_num_traces", " = 1", 1},
		{"[Python.default]\npysysmon_py_start = ", "o", "", 1},
		{"[Python.default]\nPython.thread = (", "1,", "2)", 0},
		{"[Python.default]\ntrace_mode = ", "\xc3\xa4", "", 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		end = text;
		add("%s", lines[i].first);
		fill(lines[i].repeated, LINE);
		add("%s", lines[i].last);
		struct lx_rules *rules = parse_text();

		if (rules->errors + rules->warnings != lines[i].errors)
			fail_msg("%s%s…%s: %.1000s", lines[i].first, lines[i].repeated, lines[i].last, said);
		section_at(rules, "a", "a.py", 1);
		lx_rules_free(rules);
	}
}

/* What a wildcard or expression of a usual size costs for the longest of names. */
static void patterns_against_long_names(void **state)
{
	static const char *const names[] = {"*a*a*a*a*a*a*a*a*b", "*[ab]*[ab]*[ab]*[ab]*c", "a*?a*?a*?a*?a*?b",
					    "/(a*)*b/", "/(a|aa)*b/", "/^(a?){50}b$/", "/(a*a*a*a*)*c/"};
	char *name = malloc(LX_DEFINITION_TEXT_MAX + 1);

	(void)state;
	memset(name, 'a', LX_DEFINITION_TEXT_MAX);
	name[LX_DEFINITION_TEXT_MAX] = '\0';
	for (size_t i = 0; i < COUNT(names); i++) {
		end = text;
		add("[Lexgion(Python:%s)]\n", names[i]);
		struct lx_rules *rules = parse_text();

		assert_string_equal(said, "");
		assert_string_equal(section_at(rules, name, "a.py", 1)->title, "[Lexgion(Python).default]");
		lx_rules_free(rules);
	}
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_found_among_many, begin, finish),
		cmocka_unit_test_setup_teardown(many_sections_of_each_kind, begin, finish),
		cmocka_unit_test_setup_teardown(sets_of_many_sections_are_asked, begin, finish),
		cmocka_unit_test_setup_teardown(long_lines, begin, finish),
		cmocka_unit_test_setup_teardown(patterns_against_long_names, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
