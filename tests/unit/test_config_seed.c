/* The examples of the definition of the language: whole and split at their comments, each is right and decides this. */
#include "config_said.h"

#define PY (1u << LX_PY_START | 1u << LX_PY_RETURN)
#define C (1u << LX_C_START | 1u << LX_C_RETURN)

struct decided {
	const char *name, *file;
	uint32_t thread;
	bool in;             /* the sets admit the thread */
	uint64_t starts_at;
	int64_t max_traces;
	uint64_t rate;
	const char *action;  /* NULL: none */
	uint64_t switches;
};

struct example {
	const char *number, *text;
	struct decided decided[6]; /* of the whole text; ended by name NULL */
};

static const struct example examples[] = {
	{"1.2 threads",
	 "[Python.default]\n"
	 "    trace_mode = TRACING\n"
	 "    Python.thread = (0-3)     # only trace Python threads 0, 1, 2, 3\n",
	 {{"f", "a.py", 0, true, 0, -1, 1, NULL, PY | C},
	  {"f", "a.py", 3, true, 0, -1, 1, NULL, PY | C},
	  {"f", "a.py", 4, false, 0, -1, 1, NULL, PY | C}}},
	{"1.2 off",
	 "# Disable all Python tracing at runtime (send kill -USR1 <pid> after writing this)\n"
	 "[Python.default]\n"
	 "    trace_mode = OFF\n",
	 {{"f", "a.py", 0, true, 0, -1, 1, NULL, PY | C}}},
	{"1.2 standby",
	 "# Near-zero overhead — callbacks fire but return immediately; recoverable via SIGUSR1\n"
	 "[Python.default]\n"
	 "    trace_mode = STANDBY\n",
	 {{"f", "a.py", 0, true, 0, -1, 1, NULL, PY | C}}},
	{"1.3 events",
	 "[Python.default]\n"
	 "    pysysmon_py_start  = on    # Python function entry (default: on)\n"
	 "    pysysmon_py_return = on    # Python function exit  (default: on)\n"
	 "    pysysmon_c_start   = off   # C extension call begin (turn off to reduce volume)\n"
	 "    pysysmon_c_return  = off   # C extension call end\n"
	 "    pysysmon_import    = off   # module import (reserved, default: off)\n",
	 {{"f", "a.py", 9, true, 0, -1, 1, NULL, PY}}},
	{"1.3 functions",
	 "[Python.default]\n"
	 "    pysysmon_c_start  = off\n"
	 "    pysysmon_c_return = off\n",
	 {{"f", "a.py", 0, true, 0, -1, 1, NULL, PY}}},
	{"1.3 C calls",
	 "[Python.default]\n"
	 "    pysysmon_py_start  = off\n"
	 "    pysysmon_py_return = off\n"
	 "    pysysmon_c_start   = on\n"
	 "    pysysmon_c_return  = on\n",
	 {{"f", "a.py", 0, true, 0, -1, 1, NULL, C}}},
	{"1.4",
	 "# Trace only the main thread (thread 0) and the first worker (thread 1)\n"
	 "[Python.thread(0-1)]: Python.default\n"
	 "\n"
	 "# Trace all threads except thread 0 (main thread — often just coordination code)\n"
	 "[Python.thread(1-255)]: Python.default\n"
	 "\n"
	 "# Remove thread-specific config (threads fall back to Python.default)\n"
	 "[REMOVE Python.thread(0-1)]\n",
	 {{"f", "a.py", 0, false, 0, -1, 1, NULL, PY | C},
	  {"f", "a.py", 1, true, 0, -1, 1, NULL, PY | C},
	  {"f", "a.py", 255, true, 0, -1, 1, NULL, PY | C},
	  {"f", "a.py", 256, false, 0, -1, 1, NULL, PY | C}}},
	{"1.5",
	 "# Trace at most 200 calls per function, at 1-in-10 rate\n"
	 "[Lexgion(Python).default]\n"
	 "    trace_starts_at = 0\n"
	 "    max_num_traces  = 200\n"
	 "    tracing_rate    = 10\n"
	 "    pysysmon_py_start  = on\n"
	 "    pysysmon_py_return = on\n"
	 "    pysysmon_c_start   = off\n"
	 "    pysysmon_c_return  = off\n"
	 "\n"
	 "# Warm-up skip: ignore first 50 calls per function, then trace 100 at rate 1\n"
	 "[Lexgion(Python).default]\n"
	 "    trace_starts_at = 50\n"
	 "    max_num_traces  = 100\n"
	 "    tracing_rate    = 1\n",
	 {{"f", "a.py", 7, true, 50, 100, 1, NULL, PY}}},
	{"1.6",
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces  = 100\n"
	 "    tracing_rate    = 1\n"
	 "    trace_mode_after = MONITORING\n",
	 {{"f", "a.py", 0, true, 0, 100, 1, "MONITORING", PY | C}}},
	{"1.6 two domains",
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces   = 200\n"
	 "    trace_mode_after = Python:MONITORING, OpenMP:TRACING\n",
	 {{"f", "a.py", 0, true, 0, 200, 1, "Python:MONITORING, OpenMP:TRACING", PY | C}}},
	{"1.7",
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces   = 50\n"
	 "    tracing_rate     = 1\n"
	 "    trace_mode_after = INTROSPECT:60:analyze_python_traces.sh:TRACING\n",
	 {{"f", "a.py", 0, true, 0, 50, 1, "INTROSPECT:60:analyze_python_traces.sh:TRACING", PY | C}}},
	{"1.8",
	 "[Python.default]\n"
	 "    trace_mode = STANDBY\n"
	 "\n"
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces = 500\n"
	 "    tracing_rate   = 20\n",
	 {{"f", "a.py", 0, true, 0, 500, 20, NULL, PY | C}}},
	{"1.9",
	 "[Python.default]\n"
	 "    trace_mode    = TRACING\n"
	 "    Python.thread = (0)         # main thread only\n"
	 "\n"
	 "[OpenMP.default]\n"
	 "    trace_mode       = TRACING\n"
	 "    OpenMP.thread    = (0-15)\n"
	 "\n"
	 "[Python.default]\n"
	 "    pysysmon_py_start  = on\n"
	 "    pysysmon_py_return = on\n"
	 "    pysysmon_c_start   = off    # skip C bridges to reduce volume\n"
	 "    pysysmon_c_return  = off\n"
	 "\n"
	 "[Lexgion(Python).default]: Python.default\n"
	 "    trace_starts_at = 0\n"
	 "    max_num_traces  = 100\n"
	 "    tracing_rate    = 5\n"
	 "    trace_mode_after = Python:MONITORING\n"
	 "\n"
	 "[Lexgion(OpenMP).default]: OpenMP.default\n"
	 "    max_num_traces  = 200\n"
	 "    tracing_rate    = 1\n",
	 {{"f", "a.py", 0, true, 0, 100, 5, "Python:MONITORING", PY}, {"f", "a.py", 1, false, 0, 100, 5, "Python:MONITORING", PY}}},
	{"2.1",
	 "# Single function by qualified name\n"
	 "[Lexgion(Python:main)]\n"
	 "    max_num_traces = 200\n"
	 "    tracing_rate   = 1\n"
	 "\n"
	 "# Nested function / method\n"
	 "[Lexgion(Python:MyClass.compute)]\n"
	 "    max_num_traces = 50\n"
	 "    tracing_rate   = 1\n"
	 "\n"
	 "# Inner function (closure)\n"
	 "[Lexgion(Python:main.<locals>.do_work)]\n"
	 "    max_num_traces = 100\n"
	 "    tracing_rate   = 5\n"
	 "\n"
	 "# Multiple functions sharing the same settings\n"
	 "[Lexgion(Python:solver.compute, Python:solver.setup)]\n"
	 "    max_num_traces = 200\n"
	 "    tracing_rate   = 1\n"
	 "\n"
	 "# Disambiguate by filename stem (when same qualname appears in multiple files)\n"
	 "[Lexgion(Python:solver.py:MyClass.compute)]\n"
	 "    max_num_traces = 50\n",
	 {{"main", "a.py", 0, true, 0, 200, 1, NULL, PY | C},
	  {"main.<locals>.do_work", "a.py", 0, true, 0, 100, 5, NULL, PY | C},
	  {"setup", "/x/solver.py", 0, true, 0, 200, 1, NULL, PY | C},
	  {"setup", "/x/other.py", 0, true, 0, -1, 1, NULL, PY | C},
	  {"MyClass.compute", "/x/solver.py", 0, true, 0, 50, 1, NULL, PY | C}}},
	{"2.1 inheritance",
	 "# Rate limit the hot solver function\n"
	 "[Lexgion(Python:solver.compute)]: Python.default\n"
	 "    trace_starts_at  = 0\n"
	 "    max_num_traces   = 50\n"
	 "    tracing_rate     = 1\n"
	 "    trace_mode_after = Python:MONITORING\n"
	 "\n"
	 "# Stop tracing a noisy utility function entirely\n"
	 "[Lexgion(Python:utils.log_debug)]: Python.default\n"
	 "    max_num_traces = 0\n",
	 {{"solver.compute", "a.py", 0, true, 0, 50, 1, "Python:MONITORING", PY | C},
	  {"log_debug", "/x/utils.py", 0, true, 0, 0, 1, NULL, PY | C},
	  {"log_debug", "/x/utils/__init__.py", 0, true, 0, 0, 1, NULL, PY | C},
	  {"log_debug", "/x/myutils.py", 0, true, 0, -1, 1, NULL, PY | C}}},
	{"2.4",
	 "# ── Domain event defaults ────────────────────────────────────────────────\n"
	 "[Python.default]\n"
	 "    pysysmon_py_start  = on\n"
	 "    pysysmon_py_return = on\n"
	 "    pysysmon_c_start   = off   # disable C bridge by default\n"
	 "    pysysmon_c_return  = off\n"
	 "\n"
	 "# ── Lexgion defaults ─────────────────────────────────────────────────────\n"
	 "[Lexgion(Python).default]: Python.default\n"
	 "    trace_starts_at = 0\n"
	 "    max_num_traces  = 50\n"
	 "    tracing_rate    = 1\n"
	 "    trace_mode_after = Python:MONITORING\n"
	 "\n"
	 "# ── Named function overrides ─────────────────────────────────────────────\n"
	 "\n"
	 "# Hot solver — full C bridge tracing, high rate limit\n"
	 "[Lexgion(Python:Solver.run)]: Python.default\n"
	 "    pysysmon_c_start  = on\n"
	 "    pysysmon_c_return = on\n"
	 "    max_num_traces    = 200\n"
	 "    tracing_rate      = 1\n"
	 "\n"
	 "# Initialization — trace only once\n"
	 "[Lexgion(Python:Solver.setup)]: Python.default\n"
	 "    max_num_traces = 1\n"
	 "\n"
	 "# Suppress a noisy helper\n"
	 "[Lexgion(Python:utils.log_debug)]: Python.default\n"
	 "    max_num_traces = 0\n"
	 "\n"
	 "# Two functions with same settings, disambiguated by filename\n"
	 "[Lexgion(Python:solver_a.py:compute, Python:solver_b.py:compute)]: Python.default\n"
	 "    max_num_traces = 100\n"
	 "    tracing_rate   = 5\n",
	 {{"any", "a.py", 0, true, 0, 50, 1, "Python:MONITORING", PY},
	  {"Solver.run", "a.py", 0, true, 0, 200, 1, NULL, PY | C},
	  {"Solver.setup", "a.py", 0, true, 0, 1, 1, NULL, PY},
	  {"compute", "/x/solver_b.py", 0, true, 0, 100, 5, NULL, PY},
	  {"compute", "/x/solver_c.py", 0, true, 0, 50, 1, "Python:MONITORING", PY}}},
	{"3.2",
	 "# Suppress all Python tracing by default, then selectively enable:\n"
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces = 0\n"
	 "\n"
	 "# Trace \"worker\" function only on threads 1 and 2 (max 8 traces each)\n"
	 "[Lexgion(Python:worker)] : Python.default : Python.thread(1-2)\n"
	 "    max_num_traces = 8\n"
	 "\n"
	 "# Trace \"main_work\" function only on the main thread (thread 0)\n"
	 "[Lexgion(Python:main_work)] : Python.default : Python.thread(0)\n"
	 "    max_num_traces = 5\n"
	 "\n"
	 "# Trace worker on threads 3 and 4 only\n"
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces = 0\n"
	 "\n"
	 "[Lexgion(Python:worker)] : Python.default : Python.thread(3-4)\n"
	 "    max_num_traces = 6\n"
	 "\n"
	 "# All 4 worker threads traced, max 5 per thread\n"
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces = 0\n"
	 "\n"
	 "[Lexgion(Python:worker)] : Python.default : Python.thread(1-4)\n"
	 "    max_num_traces = 5\n",
	 {{"worker", "a.py", 0, false, 0, 5, 1, NULL, PY | C},
	  {"worker", "a.py", 1, true, 0, 5, 1, NULL, PY | C},
	  {"worker", "a.py", 4, true, 0, 5, 1, NULL, PY | C},
	  {"main_work", "a.py", 0, true, 0, 5, 1, NULL, PY | C},
	  {"main_work", "a.py", 1, false, 0, 5, 1, NULL, PY | C},
	  {"any", "a.py", 0, true, 0, 0, 1, NULL, PY | C}}},
	{"3.4",
	 "[Lexgion(Python).default]\n"
	 "    max_num_traces = 0      # suppress all functions by default\n"
	 "\n"
	 "# Worker traced only on threads 1-2, max 7 each, auto-drop after\n"
	 "[Lexgion(Python:worker)] : Python.default : Python.thread(1-2)\n"
	 "    max_num_traces   = 7\n"
	 "    trace_mode_after = Python:MONITORING\n"
	 "\n"
	 "# Main thread work, limit 5 traces, then INTROSPECT\n"
	 "[Lexgion(Python:main_work)] : Python.default : Python.thread(0)\n"
	 "    max_num_traces   = 5\n"
	 "    trace_mode_after = INTROSPECT:30:analyze.sh:TRACING\n",
	 {{"worker", "a.py", 1, true, 0, 7, 1, "Python:MONITORING", PY | C},
	  {"worker", "a.py", 3, false, 0, 7, 1, "Python:MONITORING", PY | C},
	  {"main_work", "a.py", 0, true, 0, 5, 1, "INTROSPECT:30:analyze.sh:TRACING", PY | C},
	  {"any", "a.py", 0, true, 0, 0, 1, NULL, PY | C}}},
};

static void decides(const struct lx_rules *rules, const struct decided *wanted)
{
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = {wanted->thread, LX_NO_PUNIT, LX_NO_PUNIT};
	const struct lx_section *section = section_at(rules, wanted->name, wanted->file, 1);
	struct lx_window window;

	lx_rules_window(rules, section, &window);
	assert_int_equal(lx_rules_domain_admits(rules, LX_DOMAIN_PYTHON, punits) && lx_section_admits(section, punits), wanted->in);
	assert_int_equal(window.starts_at, wanted->starts_at);
	assert_int_equal(window.max_traces, wanted->max_traces);
	assert_int_equal(window.rate, wanted->rate);
	if (wanted->action)
		assert_string_equal(window.action ? window.action->text : "none", wanted->action);
	else
		assert_null(window.action);
	assert_int_equal(lx_rules_switches(rules, section, LX_DOMAIN_PYTHON, punits), wanted->switches);
}

static void whole_examples_decide_what_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct lx_rules *rules = parse(examples[i].text);

		if (said_count)
			fail_msg("%s: %s", examples[i].number, said);
		for (const struct decided *wanted = examples[i].decided; wanted < examples[i].decided + 6 && wanted->name; wanted++)
			decides(rules, wanted);
		lx_rules_free(rules);
	}
}

/* One of the alternatives of 1.4 removes what only another of them has. */
static void examples_split_at_their_comments_are_right(void **state)
{
	size_t pieces = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++)
		for (const char *at = examples[i].text, *next; *at; at = next, pieces++) {
			next = strstr(at, "\n#");
			next = next ? next + 1 : at + strlen(at);
			struct lx_rules *rules = parse_sized(at, (size_t)(next - at), NULL);
			bool removes = strncmp(at, "# Remove", 8) == 0;

			if (said_count != removes || rules->errors > 0)
				fail_msg("%s: %s%.*s", examples[i].number, said, (int)(next - at), at);
			lx_rules_free(rules);
		}
	assert_true(pieces > COUNT(examples));
}

static void lines_may_end_as_those_of_windows_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		char text[4096] = "\xEF\xBB\xBF", *to = text + 3;

		for (const char *at = examples[i].text; *at; at++) {
			if (*at == '\n')
				*to++ = '\r';
			*to++ = *at;
		}
		struct lx_rules *rules = parse_sized(text, (size_t)(to - text), NULL);

		assert_string_equal(said, "");
		for (const struct decided *wanted = examples[i].decided; wanted < examples[i].decided + 6 && wanted->name; wanted++)
			decides(rules, wanted);
		lx_rules_free(rules);
	}
}

static void modes_and_actions_of_the_examples(void **state)
{
	struct lx_rules *rules = parse_right("[Python.default]\n    trace_mode = STANDBY\n");
	struct lx_window window;

	(void)state;
	assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.number, LX_MODE_STANDBY);
	assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.line, 2);
	lx_rules_free(rules);
	rules = parse_right("[Lexgion(Python).default]\n    trace_mode_after = Python:MONITORING, OpenMP:TRACING\n");
	window = window_of(rules, "f");
	for (int domain = 0; domain < LX_RULED_DOMAINS; domain++)
		assert_int_equal(window.action->modes[domain], domain == LX_DOMAIN_PYTHON   ? LX_MODE_MONITORING
							       : domain == LX_DOMAIN_OPENMP ? LX_MODE_TRACING
											    : -1);
	lx_rules_free(rules);
	rules = parse_right("[Lexgion(Python).default]\n    trace_mode_after = INTROSPECT:60:analyze_python_traces.sh:TRACING\n");
	window = window_of(rules, "f");
	assert_true(window.action->introspect);
	assert_int_equal(window.action->seconds, 60);
	assert_string_equal(window.action->script, "analyze_python_traces.sh");
	for (int domain = 0; domain < LX_RULED_DOMAINS; domain++)
		assert_int_equal(window.action->modes[domain], LX_MODE_TRACING);
	lx_rules_free(rules);
}

/* 1.1: the variables. */
static void variables_of_the_examples(void **state)
{
	const struct lx_rules_environment first = {.modes = {"OFF"}, .rate = "10:100:50", .c_calls = -1};
	const struct lx_rules_environment second = {.modes = {"TRACING"}, .rate = "0:100:1:Python:MONITORING", .c_calls = -1};
	struct lx_rules *rules = parse_sized("", 0, &first);

	(void)state;
	assert_string_equal(said, "");
	decides(rules, &(struct decided){"f", "a.py", 0, true, 10, 100, 50, NULL, PY | C});
	assert_int_equal(lx_rules_window_source(rules, section_at(rules, "f", "a.py", 1), LX_KEY_RATE)->window.rate.line,
			 LX_LINE_ENVIRONMENT);
	lx_rules_free(rules);
	rules = parse_sized("", 0, &second);
	assert_string_equal(said, "");
	decides(rules, &(struct decided){"f", "a.py", 0, true, 0, 100, 1, "Python:MONITORING", PY | C});
	lx_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_examples_decide_what_they_say),
		cmocka_unit_test(examples_split_at_their_comments_are_right),
		cmocka_unit_test(lines_may_end_as_those_of_windows_do),
		cmocka_unit_test(modes_and_actions_of_the_examples),
		cmocka_unit_test(variables_of_the_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
