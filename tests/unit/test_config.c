/* The configuration language: what its text decides, and what is said of what is wrong. */
#include "config_said.h"

/* ---- Windows ---- */

static void an_empty_text_is_the_defaults(void **state)
{
	struct lx_rules *rules = parse_right("");
	struct lx_window window = window_of(rules, "f");

	(void)state;
	assert_int_equal(window.starts_at, 0);
	assert_int_equal(window.max_traces, -1);
	assert_int_equal(window.rate, 1);
	assert_int_equal(window.max_c_traces, -1);
	assert_null(window.action);
	assert_true(admits(rules, "f", 4000000000u));
	assert_int_equal(switches_of(rules, "f", 0), 15);
	assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.line, LX_LINE_BUILT_IN);
	lx_rules_free(rules);
}

static void named_sections_take_numbers_but_no_action(void **state)
{
	struct lx_rules *rules = parse_right("[Lexgion(Python:f)]\ntracing_rate = 2\n"
					     "[Lexgion(Python:g)] : Lexgion(Python).default\n"
					     "[Lexgion.default]\ntrace_starts_at = 3\nmax_num_traces = 7\ntrace_mode_after = OFF\n"
					     "[Lexgion(Python).default]\nmax_num_traces = 9\ntrace_mode_after = MPI:STANDBY\n");
	struct lx_window f = window_of(rules, "f"), g = window_of(rules, "g"), other = window_of(rules, "h");

	(void)state;
	assert_int_equal(f.starts_at, 3);
	assert_int_equal(f.max_traces, 7);
	assert_int_equal(f.rate, 2);
	assert_null(f.action);
	assert_int_equal(g.max_traces, 9);
	assert_string_equal(g.action->text, "MPI:STANDBY");
	assert_int_equal(g.group, other.group); /* it is that section's action */
	assert_int_equal(other.action->modes[LX_DOMAIN_MPI], LX_MODE_STANDBY);
	assert_int_equal(other.action->modes[LX_DOMAIN_PYTHON], -1);
	lx_rules_free(rules);
}

static void c_calls_are_bounded_where_a_default_has_them(void **state)
{
	static const struct {
		const char *text;
		int64_t bound;
	} cases[] = {
		{"max_num_traces = 5", 1000},	  {"max_num_traces = 5\npysysmon_c_start = on", -1},
		{"max_num_traces = -1", -1},	  {"max_num_traces = 5\nmax_c_traces = 3", 3},
		{"max_c_traces = 3", 3},	  {"max_num_traces = 5\nmax_c_traces = -1", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];

		snprintf(text, sizeof(text), "[Lexgion(Python:f)]\n%s\n", cases[i].text);
		struct lx_rules *rules = parse_right(text);

		assert_int_equal(window_of(rules, "f").max_c_traces, cases[i].bound);
		lx_rules_free(rules);
	}
}

static void actions(void **state)
{
	struct lx_rules *rules =
		parse_right("[Lexgion(Python:f)]\ntrace_mode_after = introspect: 5 : look it.sh :Python:MONITOR, User:OFF\n"
			    "[Lexgion(Python:g)]\nwindow_end_action = INTROSPECT:-1:-:TRACING\nwindow_end_trigger = ALL\n"
			    "[Lexgion(Python:h)]\ntrace_mode_after = OFF\ntrace_mode_after = none\nwindow_timeout = 0.25\n");
	struct lx_window f = window_of(rules, "f"), g = window_of(rules, "g"), h = window_of(rules, "h");

	(void)state;
	assert_true(f.action->introspect);
	assert_int_equal(f.action->seconds, 5);
	assert_string_equal(f.action->script, "look it.sh");
	assert_int_equal(f.action->modes[LX_DOMAIN_PYTHON], LX_MODE_MONITORING);
	assert_int_equal(f.action->modes[LX_DOMAIN_USER], LX_MODE_OFF);
	assert_int_equal(f.action->modes[LX_DOMAIN_IO], -1);
	assert_null(g.action->script);
	assert_int_equal(g.action->seconds, -1);
	assert_int_equal(g.trigger, LX_TRIGGER_ALL);
	assert_null(h.action);
	assert_true(h.timeout == 0.25);
	lx_rules_free(rules);
}

/* ---- Names ---- */

static void which_section_applies(void **state)
{
	static const char text[] = "[Lexgion(Python:S.*)]\n[Lexgion(Python:/^S/)]\n[Lexgion(Python:S.run)]\n"
				   "[Lexgion(Python:a.py:S.run)]\n[Lexgion(Python:pkg.b.go)]\n[Lexgion(Python:pkg/c.py:go)]\n"
				   "[Lexgion(Python:<lambda>@42, Python:t_[ab].py:*)]\n[Lexgion(\"Python:odd, name\")]\n";
	static const struct {
		const char *name, *file;
		uint32_t line;
		const char *title;
	} cases[] = {
		{"S.run", "/x/a.py", 1, "[Lexgion(Python:a.py:S.run)]"},
		{"S.run", "a.py", 1, "[Lexgion(Python:a.py:S.run)]"},
		{"S.run", "/x/aa.py", 1, "[Lexgion(Python:S.run)]"},
		{"S.stop", "/x/a.py", 1, "[Lexgion(Python:S.*)]"},
		{"Sx", "/x/a.py", 1, "[Lexgion(Python:/^S/)]"},
		{"go", "/pkg/b.py", 1, "[Lexgion(Python:pkg.b.go)]"},
		{"go", "/pkg/b/__init__.py", 1, "[Lexgion(Python:pkg.b.go)]"},
		{"pkg.b.go", "/any.py", 1, "[Lexgion(Python:pkg.b.go)]"},
		{"go", "/xpkg/b.py", 1, "[Lexgion(Python).default]"},
		{"go", "/q/pkg/c.py", 1, "[Lexgion(Python:pkg/c.py:go)]"},
		{"go", "/q/c.py", 1, "[Lexgion(Python).default]"},
		{"<lambda>", "/q/c.py", 42, "[Lexgion(Python:<lambda>@42)]"},
		{"<lambda>", "/q/c.py", 43, "[Lexgion(Python).default]"},
		{"any", "/q/t_b.py", 1, "[Lexgion(Python:t_[ab].py:*)]"},
		{"any", "/q/t_c.py", 1, "[Lexgion(Python).default]"},
		{"odd, name", "", 1, "[Lexgion(Python:odd, name)]"},
		{"s.RUN", "/x/a.py", 1, "[Lexgion(Python).default]"},
	};
	struct lx_rules *rules = parse_right(text);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(section_at(rules, cases[i].name, cases[i].file, cases[i].line)->title, cases[i].title);
	lx_rules_free(rules);
}

static void headers(void **state)
{
	struct lx_rules *rules = parse_right(
		"[ SET  lexgion( PYTHON:f ,Python:/a[]x]b\\/(c|,d)/ ) ] :Python.default: Python.thread( 1 - 2 , 5 )   ; why\n"
		"max_num_traces = 3   # three\n[Lexgion(OpenMP:0x4010bd)]\n[Lexgion(0x4010bd)]\n[Lexgion(Python:größe)]\n");

	(void)state;
	assert_int_equal(window_of(rules, "f").max_traces, 3);
	assert_string_equal(section_at(rules, "ab/c", "x.py", 1)->title, "[Lexgion(Python).default]");
	assert_string_equal(section_at(rules, "a]b/,d", "x.py", 1)->title, "[Lexgion(Python:/a[]x]b\\/(c|,d)/)]");
	assert_string_equal(section_at(rules, "größe", "x.py", 1)->title, "[Lexgion(Python:größe)]");
	assert_true(admits(rules, "f", 1) && admits(rules, "f", 2) && admits(rules, "f", 5));
	assert_false(admits(rules, "f", 0) || admits(rules, "f", 3) || admits(rules, "f", 6));
	lx_rules_free(rules);
}

/* ---- Sets, switches, REMOVE and RESET ---- */

static void sets_add_up_and_intersect(void **state)
{
	struct lx_rules *rules = parse_right("[Python.thread(0-1)]\npysysmon_c_start = off\n[Python.thread(1,4-9)]\n"
					     "pysysmon_c_start = on\npysysmon_py_return = off\n"
					     "[Python.default]\nPython.thread = (1-5)\npysysmon_import = on\n");

	(void)state;
	assert_false(admits(rules, "f", 0) || admits(rules, "f", 2) || admits(rules, "f", 6));
	assert_true(admits(rules, "f", 1) && admits(rules, "f", 4) && admits(rules, "f", 5));
	assert_int_equal(switches_of(rules, "f", 0), 16 + 8 + 2 + 1);
	assert_int_equal(switches_of(rules, "f", 1), 16 + 8 + 4 + 1); /* the later section counts */
	assert_true(lx_rules_switches_vary(rules, NULL, LX_DOMAIN_PYTHON));
	lx_rules_free(rules);
}

static void removed_and_reset(void **state)
{
	struct lx_rules *rules = parse("[Python.thread(0-1)]\n[Python.thread(1-255)]\n[REMOVE Python.thread(0-1)]\n"
				       "[Lexgion(Python:f)]\nmax_num_traces = 1\n[REMOVE Lexgion(Python:f)]\n"
				       "[Lexgion(Python:g)] : Python.default : Python.thread(3)\nmax_num_traces = 1\n"
				       "[REMOVE Lexgion(Python:g)] : Python.default : Python.thread(4)\n"
				       "[Python.default]\ntrace_mode = OFF\n[RESET Python.default]\npysysmon_c_start = off\n");

	(void)state;
	assert_string_equal(said, "warning 9:17: there is no such section above\n");
	assert_false(admits(rules, "h", 0));
	assert_true(admits(rules, "h", 1) && admits(rules, "h", 255));
	assert_int_equal(window_of(rules, "f").max_traces, -1);
	assert_int_equal(window_of(rules, "g").max_traces, 1); /* another set: it stays */
	assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.line, LX_LINE_BUILT_IN);
	assert_int_equal(switches_of(rules, "f", 1), 8 + 2 + 1);
	lx_rules_free(rules);
}

static void of_the_environment(void **state)
{
	const struct lx_rules_environment right = {.rate = "10:100:50:Python:MONITORING", .c_calls = 0};
	const struct lx_rules_environment wrong = {.rate = "x", .window = "0:1:0:5", .modes = {"BANANA"}, .c_calls = -1};
	static const char text[] = "[Lexgion(Python).default]\ntracing_rate = 7\n";
	struct lx_rules *rules = parse_sized(text, strlen(text), &right);
	struct lx_window window = window_of(rules, "f");

	(void)state;
	assert_string_equal(said, "");
	assert_int_equal(window.starts_at, 10);
	assert_int_equal(window.max_traces, 100);
	assert_int_equal(window.rate, 7);
	assert_int_equal(window.action->modes[LX_DOMAIN_PYTHON], LX_MODE_MONITORING);
	assert_int_equal(switches_of(rules, "f", 0), 3);
	lx_rules_free(rules);
	rules = parse_sized("", 0, &wrong);
	assert_string_equal(said, "PINSIGHT_TRACE_PYTHON0:1: unknown mode 'BANANA' (OFF STANDBY MONITORING TRACING)\n"
				  "PINSIGHT_TRACE_RATE0:1: 'x' is no whole decimal number\n"
				  "PINSIGHT_TRACE_WINDOW0:5: 0 is out of range (1 to 4294967295)\n");
	lx_rules_free(rules);
}

static void knobs(void **state)
{
	struct lx_rules *rules = parse_right("[Knob]\na = 5\nb = -2.5e3\nc = fast # not slow\nd = \"12 ; #\"\ne = 0x10\na = 6\nf =\n");

	(void)state;
	assert_int_equal(lx_rules_knob(rules, "a")->integer, 6);
	assert_int_equal(lx_rules_knob(rules, "b")->kind, LX_KNOB_DOUBLE);
	assert_true(lx_rules_knob(rules, "b")->real == -2500);
	assert_string_equal(lx_rules_knob(rules, "c")->text, "fast");
	assert_string_equal(lx_rules_knob(rules, "d")->text, "12 ; #");
	assert_int_equal(lx_rules_knob(rules, "d")->kind, LX_KNOB_STRING);
	assert_int_equal(lx_rules_knob(rules, "e")->kind, LX_KNOB_STRING);
	assert_string_equal(lx_rules_knob(rules, "f")->text, "");
	assert_null(lx_rules_knob(rules, "A"));
	lx_rules_free(rules);
}

/* ---- Bad and large input ---- */

static void a_bad_line_costs_itself(void **state)
{
	static const char text[] = "[Lexgion(Python:f)]\nmax_num_traces = 3\nmax_num_traces = abc\n\0\ntracing_rate = 2\xff\n"
				   "trace_starts_at = 4\n";
	struct lx_rules *rules = parse_sized(text, sizeof(text) - 1, NULL);
	struct lx_window window = window_of(rules, "f");

	(void)state;
	assert_string_equal(said, "3:18: 'abc' is no whole decimal number\n4:1: a NUL byte: the line is left out\n"
				  "5:17: not UTF-8: the line is left out\n");
	assert_int_equal(window.max_traces, 3);
	assert_int_equal(window.rate, 1);
	assert_int_equal(window.starts_at, 4);
	lx_rules_free(rules);
}

static void a_bad_header_costs_its_section(void **state)
{
	struct lx_rules *rules = parse("[Lexgion(Python:f)]\nmax_num_traces = 3\n[Lexgion(Python:f)\nmax_num_traces = 5\nnonsense\n"
				       "[Lexgion(Python:f)]\ntracing_rate = 2\n[Lexgion(Python:f)] : Python.thread(5-2)\n"
				       "max_num_traces = 6\n");

	(void)state;
	assert_string_equal(said, "3:1: the section's ']' is missing\n8:37: (5-2) runs backwards\n");
	assert_int_equal(window_of(rules, "f").max_traces, 3);
	assert_int_equal(window_of(rules, "f").rate, 2);
	lx_rules_free(rules);
}

static void large_texts(void **state)
{
	const size_t lines = 60000;
	char *text = malloc(lines * 64 + 2000000), *at = text;

	(void)state;
	for (size_t i = 0; i < lines; i++)
		at += sprintf(at, "[Lexgion(Python:m%zu.py:f%zu)]\nmax_num_traces = %zu\n", i % 7, i, i);
	struct lx_rules *rules = parse_right(text);

	assert_int_equal(window_of(rules, "f7").max_traces, -1);
	assert_string_equal(section_at(rules, "f59999", "/x/m2.py", 1)->title, "[Lexgion(Python:m2.py:f59999)]");
	lx_rules_free(rules);
	memset(text, '[', 1000000);
	text[1000000] = '\0';
	lx_rules_free(parse(text));
	assert_int_equal(said_count, 1);
	strcpy(text, "[Python.default]\nPython.thread = (");
	for (at = text + strlen(text); at < text + 1000000;)
		at += sprintf(at, "%d,", (int)(at - text) % 100000);
	strcpy(at, "5)\n");
	lx_rules_free(parse_right(text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_text_is_the_defaults),
		cmocka_unit_test(named_sections_take_numbers_but_no_action),
		cmocka_unit_test(c_calls_are_bounded_where_a_default_has_them),
		cmocka_unit_test(actions),
		cmocka_unit_test(which_section_applies),
		cmocka_unit_test(headers),
		cmocka_unit_test(sets_add_up_and_intersect),
		cmocka_unit_test(removed_and_reset),
		cmocka_unit_test(of_the_environment),
		cmocka_unit_test(knobs),
		cmocka_unit_test(a_bad_line_costs_itself),
		cmocka_unit_test(a_bad_header_costs_its_section),
		cmocka_unit_test(large_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
