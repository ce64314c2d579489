/* The configuration's headers: names and what they fit, which section applies, sections that are taken away. */
#include "config_said.h"

/* ---- Names ---- */

struct fit {
	const char *written; /* "Python:compute" */
	const char *name, *file;
	uint32_t line;
	bool fits;
};

static void check_fits(const struct fit *fits, size_t count, uint32_t domain)
{
	for (size_t i = 0; i < count; i++) {
		const struct fit *fit = &fits[i];
		const struct lx_subject subject = {domain,	      fit->name,	  fit->file,
						   strlen(fit->name), strlen(fit->file), fit->line};
		char text[512];

		snprintf(text, sizeof(text), "[Lexgion(%s)]\n", fit->written);
		struct lx_rules *rules = parse_right(text);
		const struct lx_section *section = lx_rules_section(rules, &subject);

		if ((section->kind == LX_SECTION_NAMED) != fit->fits)
			fail_msg("%s and %s in '%s':%u", fit->written, fit->name, fit->file, fit->line);
		lx_rules_free(rules);
	}
}

static void names_of_functions(void **state)
{
	static const struct fit fits[] = {
		{"Python:compute", "compute", "/x/a.py", 1, true},
		{"Python:compute", "compute", "", 0, true},
		{"Python:compute", "Compute", "/x/a.py", 1, false},
		{"Python:compute", "Solver.compute", "/x/a.py", 1, false},
		{"Python:compute", "compute2", "/x/a.py", 1, false},
		{"python : compute", "compute", "/x/a.py", 1, true},
		{"Python:MyClass.compute", "MyClass.compute", "/x/a.py", 1, true},
		{"Python:main.<locals>.do_work", "main.<locals>.do_work", "/x/a.py", 1, true},
		{"Python:str.join", "str.join", "", 0, true},
		{"Python:größe", "größe", "/x/a.py", 1, true},
		{"Python:größe", "grosse", "/x/a.py", 1, false},
		/* the module before the name */
		{"Python:solver.compute", "compute", "/x/solver.py", 1, true},
		{"Python:solver.compute", "compute", "solver.py", 1, true},
		{"Python:solver.compute", "compute", "/x/solver/__init__.py", 1, true},
		{"Python:solver.compute", "solver.compute", "/x/a.py", 1, true},
		{"Python:solver.compute", "compute", "/x/mysolver.py", 1, false},
		{"Python:solver.compute", "compute", "/x/solver.pyx", 1, false},
		{"Python:solver.compute", "compute", "", 0, false},
		{"Python:pkg.solver.compute", "compute", "/x/pkg/solver.py", 1, true},
		{"Python:pkg.solver.compute", "compute", "/x/solver.py", 1, false},
		{"Python:pkg.solver.S.run", "S.run", "/x/pkg/solver.py", 1, true},
		/* the file before the name */
		{"Python:solver.py:S.run", "S.run", "/x/solver.py", 1, true},
		{"Python:solver.py:S.run", "S.run", "/x/my_solver.py", 1, false},
		{"Python:solver.py:S.run", "S.run", "/x/Solver.py", 1, false},
		{"Python:solver.py:S.run", "S.walk", "/x/solver.py", 1, false},
		{"Python:pkg/solver.py:S.run", "S.run", "/x/pkg/solver.py", 1, true},
		{"Python:pkg/solver.py:S.run", "S.run", "/x/mypkg/solver.py", 1, false},
		/* first lines */
		{"Python:app.py:<lambda>@42", "<lambda>", "/x/app.py", 42, true},
		{"Python:app.py:<lambda>@42", "<lambda>", "/x/app.py", 43, false},
		{"Python:<lambda>@42", "<lambda>", "/x/b.py", 42, true},
		{"Python:*@42", "f", "/x/b.py", 42, true},
		{"Python:/f/@42", "f", "/x/b.py", 41, false},
		{"Python:f@", "f@", "/x/b.py", 1, true},
	};

	(void)state;
	check_fits(fits, COUNT(fits), LX_DOMAIN_PYTHON);
}

static void wildcards_and_expressions(void **state)
{
	static const struct fit fits[] = {
		{"Python:Solver.*", "Solver.run", "/x/a.py", 1, true},
		{"Python:Solver.*", "Solver", "/x/a.py", 1, false},
		{"Python:*.forward", "Net.Layer.forward", "/x/a.py", 1, true},
		{"Python:*.forward", "forward", "/x/a.py", 1, false},
		{"Python:test_?.py:*", "any", "/x/test_1.py", 1, true},
		{"Python:test_?.py:*", "any", "/x/test_12.py", 1, false},
		{"Python:t_[ab].py:f", "f", "/x/t_b.py", 1, true},
		{"Python:t_[ab].py:f", "f", "/x/t_c.py", 1, false},
		{"Python:pkg/*.py:f", "f", "/x/pkg/a.py", 1, true},
		{"Python:pkg/*.py:f", "f", "/x/other/a.py", 1, false},
		{"Python:f[!0-3]", "f4", "/x/a.py", 1, true},
		{"Python:f[!0-3]", "f2", "/x/a.py", 1, false},
		{"\"Python:f[])]\"", "f]", "/x/a.py", 1, true},
		{"Python:[[:alpha:]]*", "f", "/x/a.py", 1, true},
		{"Python:[[:alpha:]]*", "_f", "/x/a.py", 1, false},
		{"Python:gr?ße", "größe", "/x/a.py", 1, true}, /* one character */
		{"Python:gr???e", "größe", "/x/a.py", 1, false},
		{"Python:gr[äö]ße", "größe", "/x/a.py", 1, true},
		{"Python:[[:alpha:]]l", "öl", "/x/a.py", 1, true},
		{"Python:/^_(get|set)_/", "_set_it", "/x/a.py", 1, true},
		{"Python:/^_(get|set)_/", "_reset_it", "/x/a.py", 1, false},
		{"Python:/run$/", "Solver.run", "/x/a.py", 1, true},
		{"Python:/^a\\/b$/", "a/b", "/x/a.py", 1, true},
		{"Python:/^gr.ße$/", "größe", "/x/a.py", 1, true},
		{"Python:/[]:, )]x/", "a]x", "/x/a.py", 1, true},
		{"Python:/f{2}\\./", "ff.x", "/x/a.py", 1, true},
		{"Python:a.py:/^f/", "f1", "/x/a.py", 1, true},
		{"Python:a.py:/^f/", "f1", "/x/b.py", 1, false},
		{"\"Python:odd, name\"", "odd, name", "/x/a.py", 1, true},
		{"Python:\"odd ] name\"", "odd ] name", "/x/a.py", 1, true},
	};

	(void)state;
	check_fits(fits, COUNT(fits), LX_DOMAIN_PYTHON);
}

static void names_of_other_domains(void **state)
{
	static const struct fit user[] = {{"User:IO/read_loop", "IO/read_loop", "", 0, true},
					  {"User:IO/*", "IO/read_loop", "", 0, true},
					  {"User:a:b", "a:b", "", 0, true},
					  {"Python:IO/read_loop", "IO/read_loop", "", 0, false}};
	static const struct fit io[] = {{"IO:pread", "pread", "", 0, true}};
	static const struct fit mpi[] = {{"mpi:MPI_Allreduce", "MPI_Allreduce", "", 0, true}};
	static const struct fit cuda[] = {{"CUDA:kernel_name", "kernel_name", "", 0, true}};
	static const struct fit openmp[] = {{"OpenMP:0x4010bd", "0x4010bd", "", 0, true},
					    {"0x4010bd", "0x4010bd", "", 0, true},
					    {"0x4010bd", "0x4010be", "", 0, false}};

	(void)state;
	check_fits(user, COUNT(user), LX_DOMAIN_USER);
	check_fits(io, COUNT(io), LX_DOMAIN_IO);
	check_fits(mpi, COUNT(mpi), LX_DOMAIN_MPI);
	check_fits(cuda, COUNT(cuda), LX_DOMAIN_CUDA);
	check_fits(openmp, COUNT(openmp), LX_DOMAIN_OPENMP);
}

static const char *title_at(const struct lx_rules *rules, const char *name, const char *file, uint32_t line)
{
	return section_at(rules, name, file, line)->title;
}

static void the_strongest_name_applies(void **state)
{
	static const char *const titles[] = {"[Lexgion(Python:a.py:go@7)]", "[Lexgion(Python:a.py:go)]", "[Lexgion(Python:go)]",
					     "[Lexgion(Python:g?)]", "[Lexgion(Python:/o$/)]"};

	(void)state;
	/* In whatever order they stand, but for the last two: of those the first in the file. */
	for (size_t first = 0; first < COUNT(titles); first++) {
		char text[512];

		snprintf(text, sizeof(text), "[Lexgion(Python).default]\n%s\n%s\n%s\n%s\n%s\n", titles[first % 5], titles[(first + 3) % 5],
			 titles[(first + 1) % 5], titles[(first + 4) % 5], titles[(first + 2) % 5]);
		struct lx_rules *rules = parse_right(text);
		bool wild_first = strstr(text, titles[3]) < strstr(text, titles[4]);

		assert_string_equal(title_at(rules, "go", "/x/a.py", 7), titles[0]);
		assert_string_equal(title_at(rules, "go", "/x/a.py", 8), titles[1]);
		assert_string_equal(title_at(rules, "go", "/x/b.py", 7), titles[2]);
		assert_string_equal(title_at(rules, "gu", "/x/a.py", 7), titles[3]);
		assert_string_equal(title_at(rules, "no", "/x/a.py", 7), titles[4]);
		assert_string_equal(title_at(rules, "run", "/x/a.py", 7), "[Lexgion(Python).default]");
		lx_rules_free(rules);
		snprintf(text, sizeof(text), "%s\n%s\n", titles[wild_first ? 3 : 4], titles[wild_first ? 4 : 3]);
		rules = parse_right(text);
		assert_string_equal(title_at(rules, "go", "/x/a.py", 7), titles[wild_first ? 3 : 4]);
		lx_rules_free(rules);
	}
}

/* ---- Headers ---- */

static void what_stands_behind_the_colon(void **state)
{
	static const char defaults[] = "[Lexgion.default]\nmax_num_traces = 3\ntrace_mode_after = OFF\npysysmon_py_start = off\n"
				       "[Lexgion(Python).default]\nmax_num_traces = 5\ntrace_mode_after = STANDBY\n"
				       "pysysmon_py_return = off\n[Python.default]\npysysmon_c_start = off\n";
	static const struct {
		const char *tail;
		int64_t max;
		const char *action; /* NULL: none */
		uint64_t off;       /* switches that are */
	} cases[] = {
		{"", 3, NULL, 1u << LX_C_START},
		{": Python.default", 3, NULL, 1u << LX_C_START},
		{"Python.default", 3, NULL, 1u << LX_C_START},
		{":python.DEFAULT :Python.thread(0-3)# x", 3, NULL, 1u << LX_C_START},
		{" : Python.default : Python.thread (0, 1) ; x", 3, NULL, 1u << LX_C_START},
		{": Lexgion.default", 3, "OFF", 1u << LX_C_START | 1u << LX_PY_START},
		{": Lexgion(Python).default", 5, "STANDBY", 1u << LX_C_START | 1u << LX_PY_START | 1u << LX_PY_RETURN},
		{": lexgion( python ).default : Python.thread(0)", 5, "STANDBY",
		 1u << LX_C_START | 1u << LX_PY_START | 1u << LX_PY_RETURN},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[1024];
		bool joined = strstr(cases[i].tail, ")#") != NULL; /* '#' without a blank before it is no comment */

		snprintf(text, sizeof(text), "[Lexgion(Python:f)]%s\n%s", cases[i].tail, defaults);
		struct lx_rules *rules = joined ? parse(text) : parse_right(text);

		if (joined) {
			assert_int_equal(rules->errors, 1);
		} else {
			struct lx_window window = window_of(rules, "f");

			assert_int_equal(window.max_traces, cases[i].max);
			assert_int_equal(window.action != NULL, cases[i].action != NULL);
			if (window.action)
				assert_string_equal(window.action->text, cases[i].action);
			assert_int_equal(switches_of(rules, "f", 0), 15 & ~cases[i].off);
		}
		lx_rules_free(rules);
	}
}

static void groups(void **state)
{
	struct lx_rules *rules = parse_right("[Lexgion(Python:a, Python:b)]\ntrace_mode_after = OFF\n[Lexgion(Python:c)]\n"
					     "trace_mode_after = OFF\n[Lexgion(Python:d, Python:e)] : Lexgion(Python).default\n"
					     "[Lexgion(Python).default]\ntrace_mode_after = TRACING\n");

	(void)state;
	assert_int_equal(window_of(rules, "a").group, window_of(rules, "b").group);
	assert_int_not_equal(window_of(rules, "a").group, window_of(rules, "c").group);
	assert_int_equal(window_of(rules, "d").group, window_of(rules, "any").group);
	assert_int_equal(window_of(rules, "e").group, window_of(rules, "any").group);
	assert_int_not_equal(window_of(rules, "a").group, window_of(rules, "any").group);
	lx_rules_free(rules);
}

static void keys_of_many_names(void **state)
{
	struct lx_rules *rules = parse_right("[Lexgion(OpenMP:0x1, Python:f, Python:g)]\nmax_num_traces = 2\npysysmon_c_start = off\n"
					     "omp_work = off\n[Lexgion(Python:g)]\nmax_num_traces = 4\n");
	const struct lx_subject work = {LX_DOMAIN_OPENMP, "0x1", "", 3, 0, 0};
	const uint32_t punits[LX_PUNIT_KINDS_MAX] = {0, 0, 0};

	(void)state;
	assert_int_equal(window_of(rules, "f").max_traces, 2);
	assert_int_equal(window_of(rules, "g").max_traces, 4);
	assert_int_equal(switches_of(rules, "f", 0), 15 - (1 << LX_C_START));
	assert_int_equal(lx_rules_switches(rules, lx_rules_section(rules, &work), LX_DOMAIN_OPENMP, punits),
			 (1u << 17) - 1 - (1u << 5));
	lx_rules_free(rules);
}

static const struct {
	const char *text, *said;
} header_cases[] = {
	{"[", "1:1: the section's ']' is missing\n"},
	{"  [Python.default", "1:3: the section's ']' is missing\n"},
	{"[Lexgion(Python:/a)]", "1:17: the expression is not closed\n"},
	{"[Lexgion(\"Python:a)]", "1:10: the quote is not closed\n"},
	{"[Lexgion(Python:a]", "1:1: the section's ']' is missing\n"},
	{"[]", "1:1: the section has no name\n"},
	{"[ ]", "1:1: the section has no name\n"},
	{"[SET]", "1:2: unknown section 'SET'\n"},
	{"[Pyton.default]", "1:2: unknown domain 'Pyton' (did you mean 'Python'?)\n"},
	{"[Foo.default]", "1:2: unknown domain 'Foo' (Python User IO OpenMP MPI CUDA)\n"},
	{"[Lexgion(Pyhton).default]", "1:10: unknown domain 'Pyhton' (did you mean 'Python'?)\n"},
	{"[Lexgion.defualt]", "1:2: unknown section 'Lexgion.defualt' (did you mean 'Lexgion.default'?)\n"},
	{"[Python.thread]", "1:2: unknown section 'Python.thread'\n"},
	{"[Python.rank(0)]", "1:9: Python has no 'rank' (thread)\n"},
	{"[OpenMP.core(0)]", "1:9: OpenMP has no 'core' (team thread device)\n"},
	{"[Python.thread(*)]", "1:16: '*' is no whole decimal number\n"},
	{"[Python.thread(5-2)]", "1:16: (5-2) runs backwards\n"},
	{"[Python.thread(0-99999999999)]", "1:18: 99999999999 is out of range (0 to 4294967295)\n"},
	{"[Python.thread(0)] : Python.thread(1)", "1:22: this section takes no such set here\n"},
	{"[Python.thread(0)] : OpenMP.default", "1:22: the section takes nothing from 'OpenMP.default'\n"},
	{"[Python.default] : Python.thread(1)", "1:20: this section takes no such set here\n"},
	{"[Python.default] : MPI.default", "1:20: the section takes nothing from 'MPI.default'\n"},
	{"[Lexgion.default] : Python.thread(1)", "1:21: this section takes no such set here\n"},
	{"[Lexgion(Python).default] : OpenMP.thread(0)", "1:29: this section takes no such set here\n"},
	{"[Lexgion()]", "1:10: a name is missing\n"},
	{"[Lexgion(Python:)]", "1:10: a name is missing\n"},
	{"[Lexgion(Python:f,)]", "1:19: a name is missing\n"},
	{"[Lexgion(f)]", "1:10: a name begins with its domain: Python:f\n"},
	{"[Lexgion(Foo:f, Python:g, Bar:h)]", "1:10: unknown domain 'Foo' (Python User IO OpenMP MPI CUDA)\n"},
	{"[Lexgion(Python::f)]", "1:10: a name stands on both sides of ':'\n"},
	{"[Lexgion(Python:a.py:)]", "1:10: a name stands on both sides of ':'\n"},
	{"[Lexgion(Python:/a/b)]", "1:10: an expression ends with '/'\n"},
	{"[Lexgion(Python:/(a/)]", "1:10: wrong expression: Unmatched ( or \\(\n"},
	{"[Lexgion(Python:/(a*)*\\1/)]", "1:10: an expression can't refer back to its parts ('\\1')\n"},
	{"[Lexgion(Python:f)x]", "1:19: 'x' does not belong here\n"},
	{"[Lexgion(Python:f)] x", "1:21: 'x' is neither a section to take from nor a set like Python.thread(0-3)\n"},
	{"[Lexgion(Python:f)] : Pyton.default", "1:23: unknown domain 'Pyton' (did you mean 'Python'?)\n"},
	{"[Lexgion(Python:f)] : OpenMP.default", "1:23: the section takes nothing from 'OpenMP.default'\n"},
	{"[Lexgion(Python:f)] : Lexgion(MPI).default", "1:23: the section takes nothing from 'Lexgion(MPI).default'\n"},
	{"[Lexgion(Python:f)] : OpenMP.thread(0)", "1:23: the set is of another domain than the name\n"},
	{"[Lexgion(Python:f)] : Python.core(0)", "1:30: Python has no 'core' (thread)\n"},
	{"[Lexgion(Python:f)] : Python.thread(", "1:36: a set is written (0-3), (0) or (0,2,5-7)\n"},
	{"[RESET Lexgion(Python:f)]", "1:8: only default sections are reset; this one is removed\n"},
	{"[RESET Python.thread(0)]",
	 "1:8: only default sections are reset; this one is removed: [REMOVE Python.thread(0)]\n"},
	{"[REMOVE Python.default]", "1:9: a default section is not removed but reset: [RESET Python.default]\n"},
	{"[REMOVE Lexgion.default]", "1:9: a default section is not removed but reset: [RESET Lexgion.default]\n"},
	{"[REMOVE Knob]", "1:9: knobs are only set: [Knob]\n"},
	{"[Knob] : Python.default", "1:2: knobs are only set: [Knob]\n"},
	{"[REMOVE Python.thread(7-)]", "1:23: a number is missing in the set\n"},
	{"[REMOVE Lexgion(Python:f, Foo:g)]", "1:27: unknown domain 'Foo' (Python User IO OpenMP MPI CUDA)\n"},
	{"[REMOVE Lexgion(Python:f, Python:g)]", "warning 1:17: there is no such section above\n"},
	{"[REMOVE Python.thread(3)]", "warning 1:9: there is no such section above\n"},
	{"[REMOVE Python.thread( * )]", "warning 1:9: there is no such section above\n"},
	{"[größe.default]", "1:2: unknown domain 'größe' (Python User IO OpenMP MPI CUDA)\n"},
	{"[Lexgion(Python:größe, x)]", "1:24: a name begins with its domain: Python:x\n"},
};

static void wrong_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(header_cases); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s   # why\n", header_cases[i].text);
		struct lx_rules *rules = parse(text);

		assert_string_equal(said, header_cases[i].said);
		lx_rules_free(rules);
		if (strncmp(said, "warning", 7) == 0)
			continue;
		/* What stands below goes with the header, and the section before it does not take it. */
		snprintf(text, sizeof(text), "[Lexgion(Python:k)]\n%s\nmax_num_traces = 1\nnonsense\n", header_cases[i].text);
		rules = parse(text);
		if (!strchr(header_cases[i].text, ',')) { /* the right names of a list count */
			assert_int_equal(said_count, 1);
			assert_int_equal(window_of(rules, "k").max_traces, -1);
		}
		lx_rules_free(rules);
	}
}

/* ---- REMOVE and RESET ---- */

static void removed_sections(void **state)
{
	static const struct {
		const char *text;
		int64_t max_of_f; /* 3 where the section is still there */
	} cases[] = {
		{"[REMOVE Lexgion(Python:f)]\n", -1},
		{"[REMOVE Lexgion(Python:f)] : Python.default : Python.thread(1-2)\n", -1},
		{"[REMOVE Lexgion(Python:f)] : Python.thread( 1,2 )\n", -1},
		{"[REMOVE Lexgion(Python:f)] : Python.thread(*)\n", -1},
		{"[REMOVE Lexgion(Python:f)] : Python.thread(1)\n", 3},
		{"[REMOVE Lexgion(Python:f)] : Python.thread(1-3)\n", 3},
		{"[REMOVE Lexgion(Python:g)]\n", 3},
		{"[REMOVE Lexgion(Python:f)]\n[Lexgion(Python:f)]\ntracing_rate = 2\n", -1},
		{"[REMOVE Lexgion(Python:f)]\n[Lexgion(Python:f)]\nmax_num_traces = 3\n", 3},
		{"[Lexgion(Python:f)]\n[REMOVE Lexgion(Python:f)]\n", -1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text), "[Lexgion(Python:f)] : Python.thread(1-2)\nmax_num_traces = 3\n%s", cases[i].text);
		struct lx_rules *rules = parse(text);

		assert_int_equal(rules->errors, 0);
		assert_int_equal(window_of(rules, "f").max_traces, cases[i].max_of_f);
		for (size_t n = 0; n < rules->section_count; n++) {
			assert_false(rules->sections[n]->removed);
			assert_int_equal(rules->sections[n]->number, n);
		}
		lx_rules_free(rules);
	}
}

/* What comes again stands where it comes again, with nothing of what it was. */
static void sections_that_come_again(void **state)
{
	struct lx_rules *rules =
		parse_right("[Lexgion(Python:f*)] : Lexgion(Python).default : Python.thread(1)\nmax_num_traces = 1\n"
			    "[Lexgion(Python:/^f/)]\n[REMOVE Lexgion(Python:f*)]\n[Lexgion(Python:f*)]\n"
			    "[Python.thread(0-1)]\npysysmon_c_start = off\n[REMOVE Python.thread(0-1)]\n"
			    "[Python.thread(1,0)]\n[Python.thread(1-2)]\n");

	(void)state;
	assert_string_equal(section_at(rules, "fx", "a.py", 1)->title, "[Lexgion(Python:/^f/)]");
	assert_int_equal(switches_of(rules, "g", 0), 15);
	assert_true(admits(rules, "g", 0) && admits(rules, "g", 2));
	assert_false(admits(rules, "g", 3));
	lx_rules_free(rules);
	rules = parse_right("[Lexgion(Python:/f/)]\n[REMOVE Lexgion(Python:/f/)]\n[Lexgion(Python:/f/)]\n[Lexgion(Python:f*)]\n");
	assert_string_equal(section_at(rules, "fx", "a.py", 1)->title, "[Lexgion(Python:/f/)]");
	assert_int_equal(section_at(rules, "fx", "a.py", 1)->line, 3);
	lx_rules_free(rules);
}

static void removed_sets(void **state)
{
	struct lx_rules *rules = parse("[OpenMP.thread(0)]\n[Python.thread(0)]\n[Python.thread(2)]\n[REMOVE Python.thread(*)]\n"
				       "[Python.thread(5)]\n[REMOVE Python.thread(0)]\n[REMOVE OpenMP.team(*)]\nmax_num_traces = 1\n");
	const uint32_t other[LX_PUNIT_KINDS_MAX] = {0, 1, LX_NO_PUNIT}, first[LX_PUNIT_KINDS_MAX] = {1, 0, LX_NO_PUNIT};

	(void)state;
	assert_string_equal(said, "warning 6:9: there is no such section above\nwarning 7:9: there is no such section above\n"
				  "8:1: a section that is removed has no keys\n");
	assert_false(admits(rules, "f", 0) || admits(rules, "f", 2));
	assert_true(admits(rules, "f", 5));
	assert_false(lx_rules_domain_admits(rules, LX_DOMAIN_OPENMP, other));
	assert_true(lx_rules_domain_admits(rules, LX_DOMAIN_OPENMP, first));
	lx_rules_free(rules);
}

static void reset_sections(void **state)
{
	struct lx_rules *rules =
		parse_right("[Python.default]\ntrace_mode = OFF\nPython.thread = (1)\npysysmon_import = on\n"
			    "[Lexgion(Python).default] : Python.thread(1)\nmax_num_traces = 1\ntrace_mode_after = OFF\n"
			    "[Lexgion.default]\nmax_num_traces = 2\ntracing_rate = 5\n[RESET Python.default]\n"
			    "[reset Lexgion(Python).default] : Python.default\ntrace_starts_at = 4\n[RESET\tLexgion.default]\n");
	struct lx_window window = window_of(rules, "f");

	(void)state;
	assert_int_equal(lx_rules_domain(rules, LX_DOMAIN_PYTHON)->mode.line, LX_LINE_BUILT_IN);
	assert_true(admits(rules, "f", 0));
	assert_int_equal(switches_of(rules, "f", 0), 15);
	assert_int_equal(window.starts_at, 4);
	assert_int_equal(window.max_traces, -1);
	assert_int_equal(window.rate, 1);
	assert_null(window.action);
	lx_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_functions),
		cmocka_unit_test(wildcards_and_expressions),
		cmocka_unit_test(names_of_other_domains),
		cmocka_unit_test(the_strongest_name_applies),
		cmocka_unit_test(what_stands_behind_the_colon),
		cmocka_unit_test(groups),
		cmocka_unit_test(keys_of_many_names),
		cmocka_unit_test(wrong_headers),
		cmocka_unit_test(removed_sections),
		cmocka_unit_test(sections_that_come_again),
		cmocka_unit_test(removed_sets),
		cmocka_unit_test(reset_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
