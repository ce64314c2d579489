/* Keys and values of the configuration: each that is right, and what is said of each that is not. */
#include "config_said.h"

#include <locale.h>

/* ---- What is said ---- */

static const struct {
	const char *section, *line, *said; /* of line 2; "": it is right */
} lines[] = {
	{"[Lexgion.default]", "max_num_traces = 4294967295", ""},
	{"[Lexgion.default]", "max_num_traces = -1", ""},
	{"[Lexgion.default]", "max_num_traces = 007", ""},
	{"[Lexgion.default]", "MAX_NUM_TRACES=0", ""},
	{"[Lexgion.default]", "trace_starts_at\t=\t3\t; why", ""},
	{"[Lexgion.default]", "max_num_traces = -5", "18: -5 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "max_num_traces = abc", "18: 'abc' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = 4294967296", "18: 4294967296 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "max_num_traces = 4294967297", "18: 4294967297 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "max_num_traces = 12345678901234567890",
	 "18: 12345678901234567890 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "max_num_traces = 0x10", "18: '0x10' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = 1e3", "18: '1e3' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = +1", "18: '+1' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = - 1", "18: '- 1' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = 1 2", "18: '1 2' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces = 5#", "18: '5#' is no whole decimal number"},
	{"[Lexgion.default]", "max_num_traces =", "1: 'max_num_traces' has no value"},
	{"[Lexgion.default]", "max_num_traces", "1: neither a section '[…]' nor 'key = value'"},
	{"[Lexgion.default]", "max_num_traces: 1", "1: neither a section '[…]' nor 'key = value'"},
	{"[Lexgion.default]", "= 1", "1: a key is missing before '='"},
	{"[Lexgion.default]", "trace_starts_at = -1", "19: -1 is out of range (0 to 4294967295)"},
	{"[Lexgion.default]", "tracing_rate = 0", "16: 0 is out of range (1 to 4294967295)"},
	{"[Lexgion.default]", "tracing_rate = 4294967295", ""},
	{"[Lexgion.default]", "max_c_traces = -2", "16: -2 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "max_c_traces = -1", ""},
	{"[Lexgion.default]", "window_timeout = 0.5", ""},
	{"[Lexgion.default]", "window_timeout = 30", ""},
	{"[Lexgion.default]", "window_timeout = 0", "18: '0' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_timeout = -1", "18: '-1' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_timeout = 1e3", "18: '1e3' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_timeout = 1,5", "18: '1,5' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_timeout = .", "18: '.' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_timeout = inf", "18: 'inf' is no number of seconds above 0"},
	{"[Lexgion.default]", "window_end_trigger = ALL", ""},
	{"[Lexgion.default]", "window_end_trigger = anchor", "22: 'anchor' is neither first nor all"},
	{"[Lexgion.default]", "trace_mode_after = none", ""},
	{"[Lexgion.default]", "trace_mode_after = monitor", ""},
	{"[Lexgion.default]", "trace_mode_after = Python:OFF , User : STANDBY", ""},
	{"[Lexgion.default]", "window_end_action = INTROSPECT:0:-:TRACING", ""},
	{"[Lexgion.default]", "window_end_action = INTROSPECT:-1:-", ""},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:5:look.sh:Python:OFF,User:OFF", ""},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT", "20: an introspection is written INTROSPECT:seconds:script:MODE"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:5", "20: an introspection is written INTROSPECT:seconds:script:MODE"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:x:a.sh:OFF", "31: 'x' is no whole decimal number"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:-2:a.sh:OFF", "31: -2 is out of range (-1 to 4294967295)"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT::a.sh:OFF", "31: a number is missing"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:1::OFF", "32: a script is missing ('-' for none)"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:1:a.sh:", "38: a mode is missing"},
	{"[Lexgion.default]", "trace_mode_after = INTROSPECT:1:a.sh:STANBY", "38: unknown mode 'STANBY' (did you mean 'STANDBY'?)"},
	{"[Lexgion.default]", "trace_mode_after = MONITORNG", "20: unknown mode 'MONITORNG' (did you mean 'MONITORING'?)"},
	{"[Lexgion.default]", "trace_mode_after = OFF, Python:OFF", "20: 'OFF' needs its domain here: Python:OFF"},
	{"[Lexgion.default]", "trace_mode_after = Python:OFF,", "31: a mode is missing"},
	{"[Lexgion.default]", "trace_mode_after = User:OFF, Pyton:OFF", "30: unknown domain 'Pyton' (did you mean 'Python'?)"},
	{"[Lexgion.default]", "trace_mode_after = Python:TRACNG", "27: unknown mode 'TRACNG' (did you mean 'TRACING'?)"},
	{"[Lexgion.default]", "max_num_trace = 1", "1: unknown key 'max_num_trace' (did you mean 'max_num_traces'?)"},
	{"[Lexgion.default]", "trace_mode = OFF", "1: 'trace_mode' belongs in a section like [Python.default]"},
	{"[Lexgion.default]", "nothing_like_it = 1", "1: unknown key 'nothing_like_it'"},
	{"[Lexgion(Python:f)]", "Python.thread = (0)",
	 "1: 'Python.thread' belongs in [Python.default], a set of this section behind its name"},
	{"[Lexgion(Python:f)]", "OpenMP.omp_work = off", "1: 'OpenMP.omp_work' is of another domain than the section"},
	{"[Python.default]", "trace_mode = off", ""},
	{"[Python.default]", "trace_mode = 1", ""},
	{"[Python.default]", "Trace_Mode = FALSE # x", ""},
	{"[Python.default]", "trace_mode = ; x", "1: 'trace_mode' has no value"},
	{"[Python.default]", "trace_mode = OF", "14: unknown mode 'OF' (did you mean 'OFF'?)"},
	{"[Python.default]", "trace_mode = BANANA", "14: unknown mode 'BANANA' (OFF STANDBY MONITORING TRACING)"},
	{"[Python.default]", "trace_mode = \"OFF\"", "14: unknown mode '\"OFF\"' (did you mean 'OFF'?)"},
	{"[Python.default]", "trace_mode_after = OFF", "1: 'trace_mode_after' belongs in a Lexgion section"},
	{"[Python.default]", "pysysmon_c_start = YES", ""},
	{"[Python.default]", "python.pysysmon_c_start = 0", ""},
	{"[Python.default]", "pysysmon_c_strat = on", "1: unknown key 'pysysmon_c_strat' (did you mean 'pysysmon_c_start'?)"},
	{"[Python.default]", "Pyton.pysysmon_c_start = on",
	 "1: unknown key 'Pyton.pysysmon_c_start' (did you mean 'pysysmon_c_start'?)"},
	{"[Python.default]", "pysysmon_c_start = maybe", "20: 'maybe' is neither on nor off"},
	{"[Python.default]", "region_begin = on", "1: unknown key 'region_begin'"},
	{"[Python.default]", "python.THREAD = (0, 2 , 5 - 7)", ""},
	{"[Python.default]", "Python.thread = ()", ""},
	{"[Python.default]", "Python.thread = (4294967294)", ""},
	{"[Python.default]", "Python.thread = (0-4294967295)", "20: 4294967295 is out of range (0 to 4294967294)"},
	{"[Python.default]", "Python.thread = (0-99999999999)", "20: 99999999999 is out of range (0 to 4294967295)"},
	{"[Python.default]", "Python.thread = (5-2)", "18: (5-2) runs backwards"},
	{"[Python.default]", "Python.thread = (a)", "18: 'a' is no whole decimal number"},
	{"[Python.default]", "Python.thread = (0x1)", "18: '0x1' is no whole decimal number"},
	{"[Python.default]", "Python.thread = (1,,2)", "20: a number is missing in the set"},
	{"[Python.default]", "Python.thread = (1,)", "19: a number is missing in the set"},
	{"[Python.default]", "Python.thread = (-1)", "18: a number is missing in the set"},
	{"[Python.default]", "Python.thread = 0-3", "17: a set is written (0-3), (0) or (0,2,5-7)"},
	{"[Python.default]", "Python.thread = (0-3", "17: a set is written (0-3), (0) or (0,2,5-7)"},
	{"[Python.default]", "Python.threads = (0)", "1: unknown key 'Python.threads' (did you mean 'Python.thread'?)"},
	{"[Python.default]", "thread = (0)", "1: unknown key 'thread' (did you mean 'Python.thread'?)"},
	{"[Python.default]", "OpenMP.thread = (0)", "1: 'OpenMP.thread' belongs in [OpenMP.default]"},
	{"[OpenMP.default]", "OpenMP.team = (0-4)", ""},
	{"[OpenMP.default]", "OpenMP.device = (0)", ""},
	{"[OpenMP.default]", "OpenMP.rank = (0)", "1: unknown key 'OpenMP.rank'"},
	{"[MPI.default]", "MPI.rank = (0-3)", ""},
	{"[CUDA.default]", "CUDA.device = (0)", ""},
	{"[User.default]", "region_begin = off", ""},
	{"[IO.default]", "io_begin = off", ""},
	{"[Python.thread(0)]", "trace_mode = OFF", "1: 'trace_mode' belongs in a section like [Python.default]"},
	{"[Python.thread(0)]", "max_num_traces = 1", "1: 'max_num_traces' belongs in a Lexgion section"},
	{"[REMOVE Python.thread(*)]", "pysysmon_c_start = on", "1: a section that is removed has no keys"},
	{"# none", "max_num_traces = 1", "1: this key stands in no section"},
	{"[Lexgion.default]", "größe = 1", "1: unknown key 'größe'"},
	{"[Lexgion.default]", "größe = 1 \xff", "11: not UTF-8: the line is left out"},
	{"[Lexgion.default]", "# größe \xc3", "9: not UTF-8: the line is left out"},
	{"[Lexgion.default]", "\x1b[31mx = 1", "1: unknown key '?[31mx'"},
};

static void each_line_is_understood_or_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[256], wanted[256] = "";

		snprintf(text, sizeof(text), "%s\n%s\n", lines[i].section, lines[i].line);
		if (*lines[i].said)
			snprintf(wanted, sizeof(wanted), "2:%s\n", lines[i].said);
		struct lx_rules *rules = parse(text);
		const char *found = strstr(said, "2:"); /* behind the warning that nothing is removed */

		if (strcmp(found ? found : "", wanted) != 0)
			fail_msg("%s: %s instead of %s", text, said, wanted);
		lx_rules_free(rules);
	}
}

/* Whatever byte a message is cut at, what is left is text: on_message() looks. */
static void long_values_are_cut_between_characters(void **state)
{
	static const char *const keys[] = {"max_num_traces = ", "trace_mode_after = ", "trace_mode_after = Python:", "", "window_timeout = "};

	(void)state;
	for (size_t key = 0; key < COUNT(keys); key++)
		for (int shift = 0; shift < 4; shift++) {
			char text[512];
			int size = snprintf(text, sizeof(text), "[Lexgion.default]\n%s%.*s", keys[key], shift, "xxx");

			for (int i = 0; i < 60; i++)
				size += snprintf(text + size, sizeof(text) - (size_t)size, "%s", i % 2 ? "\xf0\x9f\x90\x8d" : "ä");
			strcpy(text + size, *keys[key] ? "" : " = 1");
			lx_rules_free(parse(text));
			assert_int_equal(said_count, 1);
		}
}

/* ---- What they decide ---- */

static void modes_and_switches_by_all_their_words(void **state)
{
	static const struct {
		const char *word;
		int mode, on; /* -1: it is none */
	} words[] = {{"OFF", LX_MODE_OFF, 0},	   {"standby", LX_MODE_STANDBY, -1}, {"Monitoring", LX_MODE_MONITORING, -1},
		     {"TRACING", LX_MODE_TRACING, -1}, {"false", LX_MODE_OFF, 0},    {"0", LX_MODE_OFF, 0},
		     {"MONITOR", LX_MODE_MONITORING, -1}, {"True", LX_MODE_TRACING, 1}, {"1", LX_MODE_TRACING, 1},
		     {"on", LX_MODE_TRACING, 1},   {"yes", -1, 1},		     {"No", -1, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[Python.default]\ntrace_mode = %s\npysysmon_import = %s\n", words[i].word, words[i].word);
		struct lx_rules *rules = parse(text);

		assert_int_equal(said_count, (words[i].mode < 0) + (words[i].on < 0));
		assert_int_equal(lx_mode_of(words[i].word, strlen(words[i].word)), words[i].mode);
		if (words[i].mode >= 0)
			assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.number, words[i].mode);
		if (words[i].on >= 0)
			assert_int_equal(switches_of(rules, "f", 0) >> LX_IMPORT & 1, words[i].on);
		lx_rules_free(rules);
	}
}

static void the_last_value_wins_wherever_it_stands(void **state)
{
	struct lx_rules *rules = parse_right("[Lexgion(Python:f)]\nmax_num_traces = 1\ntracing_rate = 2\n"
					     "[Python.default]\npysysmon_c_start = off\nPython.thread = (1)\n"
					     "[lexgion(python:f)] : python.default : python.thread(0)\nmax_num_traces = 3\n"
					     "[Lexgion(Python:f)] : Python.default : Python.thread(1-2)\n"
					     "[PYTHON.DEFAULT]\npysysmon_c_start = on\nPython.thread = (2-3)\n");

	(void)state;
	assert_int_equal(window_of(rules, "f").max_traces, 3);
	assert_int_equal(window_of(rules, "f").rate, 2);
	assert_int_equal(switches_of(rules, "f", 2), 15);
	assert_false(admits(rules, "f", 0) || admits(rules, "f", 1) || admits(rules, "f", 3));
	assert_true(admits(rules, "f", 2) && admits(rules, "g", 3));
	lx_rules_free(rules);
}

static void switches_come_from_the_nearest(void **state)
{
	struct lx_rules *rules = parse_right("[Python.default]\npysysmon_import = on\n[Python.thread(1)]\npysysmon_import = off\n"
					     "[Python.thread(1-2)]\npysysmon_c_start = off\n[Lexgion.default]\npysysmon_c_return = off\n"
					     "[Lexgion(Python).default]\npysysmon_py_start = off\n"
					     "[Lexgion(Python:own)]\npysysmon_c_start = on\npysysmon_import = on\n"
					     "[Lexgion(Python:plain)] : Python.default\n"
					     "[Lexgion(Python:same)] : Lexgion(Python).default\npysysmon_py_return = off\n");
	const uint64_t all = 31, import = 1u << LX_IMPORT, c_start = 1u << LX_C_START, c_return = 1u << LX_C_RETURN,
		       py_start = 1u << LX_PY_START, py_return = 1u << LX_PY_RETURN;

	(void)state;
	assert_int_equal(switches_of(rules, "own", 1), all);
	assert_int_equal(switches_of(rules, "plain", 0), all);
	assert_int_equal(switches_of(rules, "plain", 1), all & ~import & ~c_start);
	assert_int_equal(switches_of(rules, "plain", 2), all & ~c_start);
	assert_int_equal(switches_of(rules, "any", 2), all & ~c_start & ~c_return & ~py_start);
	assert_int_equal(switches_of(rules, "same", 0), all & ~c_return & ~py_start & ~py_return);
	assert_true(lx_rules_switches_vary(rules, section_at(rules, "plain", "a.py", 1), LX_DOMAIN_PYTHON));
	assert_false(lx_rules_switches_vary(rules, section_at(rules, "own", "a.py", 1), LX_DOMAIN_PYTHON));
	lx_rules_free(rules);
}

static void variables(void **state)
{
	static const struct {
		const char *rate, *window, *said;
		int64_t starts_at, max_traces, rate_is;
		double timeout;
		const char *action;
	} cases[] = {
		{"10:100:50", NULL, "", 10, 100, 50, 0, NULL},
		{" 10 : -1 : 2 ", NULL, "", 10, -1, 2, 0, NULL},
		{"0:100:1:Python:MONITORING", NULL, "", 0, 100, 1, 0, "Python:MONITORING"},
		{"0:100:1:INTROSPECT:5:a.sh:OFF", NULL, "", 0, 100, 1, 0, "INTROSPECT:5:a.sh:OFF"},
		{"0:100:1:30:MONITORING", NULL, "", 0, 100, 1, 30, "MONITORING"},
		{"0:100:1:0:Python:OFF", NULL, "", 0, 100, 1, 0, "Python:OFF"},
		{NULL, "0:100:1:0", "", 0, 100, 1, 0, NULL},
		{NULL, "0:-1:1:2.5:OFF", "", 0, -1, 1, 2.5, "OFF"},
		{"1:1:1", "2:2:2:2", "", 2, 2, 2, 2, NULL},
		{"", "", "", 0, -1, 1, 0, NULL},
		{"1:2", NULL, "PINSIGHT_TRACE_RATE0:4: a number is missing\n", 0, -1, 1, 0, NULL},
		{"1:2:0", NULL, "PINSIGHT_TRACE_RATE0:5: 0 is out of range (1 to 4294967295)\n", 0, -1, 1, 0, NULL},
		{"x", NULL, "PINSIGHT_TRACE_RATE0:1: 'x' is no whole decimal number\n", 0, -1, 1, 0, NULL},
		{"1:2:3:OF", NULL, "PINSIGHT_TRACE_RATE0:7: unknown mode 'OF' (did you mean 'OFF'?)\n", 0, -1, 1, 0, NULL},
		{NULL, "1:2:3:x", "PINSIGHT_TRACE_WINDOW0:7: 'x' is no number of seconds above 0\n", 0, -1, 1, 0, NULL},
		{"\xff:1:1", NULL, "PINSIGHT_TRACE_RATE0:1: '' is no whole decimal number\n", 0, -1, 1, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lx_rules_environment environment = {.rate = cases[i].rate, .window = cases[i].window, .c_calls = -1};
		struct lx_rules *rules = parse_sized("", 0, &environment);
		struct lx_window window = window_of(rules, "f");

		assert_string_equal(said, cases[i].said);
		assert_int_equal(window.starts_at, cases[i].starts_at);
		assert_int_equal(window.max_traces, cases[i].max_traces);
		assert_int_equal(window.rate, cases[i].rate_is);
		assert_true(window.timeout == cases[i].timeout);
		if (cases[i].action)
			assert_string_equal(window.action->text, cases[i].action);
		else
			assert_null(window.action);
		lx_rules_free(rules);
	}
}

static void the_file_beats_the_variable_key_by_key(void **state)
{
	static const char text[] = "[Lexgion(Python).default]\ntracing_rate = 7\ntrace_mode_after = none\n[Lexgion.default]\ntrace_starts_at = 9\n";
	const struct lx_rules_environment environment = {.rate = "1:2:3:OFF", .c_calls = -1};
	struct lx_rules *rules = parse_sized(text, strlen(text), &environment);
	struct lx_window window = window_of(rules, "f");

	(void)state;
	assert_int_equal(window.starts_at, 1);
	assert_int_equal(window.max_traces, 2);
	assert_int_equal(window.rate, 7);
	assert_null(window.action);
	lx_rules_free(rules);
}

static void c_calls_of_the_command_are_a_default(void **state)
{
	static const char text[] = "[Lexgion(Python:f)]\npysysmon_c_start = on\n[Lexgion(Python:g)]\npysysmon_c_start = off\n";

	(void)state;
	for (int c_calls = -1; c_calls <= 1; c_calls++) {
		const struct lx_rules_environment environment = {.c_calls = c_calls};
		const uint64_t c = c_calls ? 1u << LX_C_START | 1u << LX_C_RETURN : 0;
		struct lx_rules *rules = parse_sized(text, strlen(text), &environment);

		assert_int_equal(switches_of(rules, "any", 0), 3 | c);
		assert_int_equal(switches_of(rules, "f", 0), 3 | c | 1u << LX_C_START);
		assert_int_equal(switches_of(rules, "g", 0), (3 | c) & ~(uint64_t)(1u << LX_C_START));
		lx_rules_free(rules);
	}
}

/* The same in a program that has set another locale; those that the machine does not have are left out. */
static void the_locale_changes_nothing(void **state)
{
	static const char *const names[] = {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		if (!setlocale(LC_ALL, names[i]))
			continue;
		struct lx_rules *rules = parse_right("[IO.DEFAULT]\nIO_BEGIN = OFF\n[LEXGION.default]\nWINDOW_TIMEOUT = 1.5\n[Knob]\n"
						     "a = 2.5\n[Lexgion(PYTHON:gr??e)]\n[Lexgion(Python:/^h.h$/)]\n");

		assert_true(lx_rules_knob(rules, "a")->kind == LX_KNOB_DOUBLE && lx_rules_knob(rules, "a")->real == 2.5);
		assert_string_equal(section_at(rules, "größe", "", 1)->title, "[Lexgion(Python:gr??e)]");
		assert_string_equal(section_at(rules, "höh", "", 1)->title, "[Lexgion(Python:/^h.h$/)]");
		lx_rules_free(rules);
	}
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_understood_or_reported),
		cmocka_unit_test(long_values_are_cut_between_characters),
		cmocka_unit_test(modes_and_switches_by_all_their_words),
		cmocka_unit_test(the_last_value_wins_wherever_it_stands),
		cmocka_unit_test(switches_come_from_the_nearest),
		cmocka_unit_test(variables),
		cmocka_unit_test(the_file_beats_the_variable_key_by_key),
		cmocka_unit_test(c_calls_of_the_command_are_a_default),
		cmocka_unit_test(the_locale_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
