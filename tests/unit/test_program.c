/* Command lines and places as people say them; what is a program's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "view/program.h"

static struct lx_program program;

/* argv's words end with '|'. */
static void make(const char *argv, char *cwd)
{
	static char words[500];
	struct lx_process process = { .name = "host-1" };
	size_t size = strlen(argv);

	memcpy(words, argv, size + 1);
	for (size_t i = 0; i < size; i++)
		if (words[i] == '|')
			words[i] = '\0';
	process.key[LX_KEY_argv] = words;
	process.key_size[LX_KEY_argv] = size ? size - 1 : 0;
	process.key[LX_KEY_cwd] = cwd;
	process.key_size[LX_KEY_cwd] = strlen(cwd);
	process.key[LX_KEY_program] = "fallback";
	lx_program_free(&program);
	assert_int_equal(lx_program_init(&program, &process), 0);
}

static void commands(void **state)
{
	(void)state;
	make("/usr/bin/python3.12|tools/build.py|--quiet|docs|", "/w");
	assert_string_equal(program.command, "tools/build.py --quiet docs");
	assert_string_equal(program.name, "build.py");
	assert_string_equal(program.folder, "/w/tools");
	make("python|-X|dev|-W|error|-u|../x/./app.py|a b|", "/w/y");
	assert_string_equal(program.command, "python -X dev -W error -u ../x/./app.py 'a b'");
	assert_string_equal(program.folder, "/w/x");
	make("python3|-Werror|-umpkg.sub|a.py|", "/w");
	assert_string_equal(program.command, "python -Werror -umpkg.sub a.py");
	assert_string_equal(program.name, "pkg.sub");
	make("python3|-m|pkg.sub|x|", "/w");
	assert_string_equal(program.name, "pkg.sub");
	assert_string_equal(program.module, "pkg");
	make("-m|pkg.sub|x|", "/w");
	assert_string_equal(program.name, "pkg.sub");
	make("python3|-c|print('hi')\n|", "/w");
	assert_string_equal(program.command, "python -c 'print('\\''hi'\\'')\\x0A'");
	assert_true(lx_program_owns(&program, "<string>"));
	make("-u|-B|-c|x = 1|", "/w");
	assert_string_equal(program.command, "python -u -B -c 'x = 1'");
	assert_string_equal(program.name, "fallback");
	assert_string_equal(program.name, "fallback");
	make("./a.out|", "/w");
	assert_string_equal(program.command, "./a.out");
	assert_string_equal(program.name, "a.out");
	make("", "");
	assert_string_equal(program.command, "");
	assert_string_equal(program.name, "fallback");
}

static void words(void **state)
{
	char text[24];

	(void)state;
	assert_int_equal(lx_put_word(text, sizeof(text), "a/b=c"), 5);
	assert_string_equal(text, "a/b=c");
	lx_put_word(text, sizeof(text), "");
	assert_string_equal(text, "''");
	lx_put_word(text, sizeof(text), "it's");
	assert_string_equal(text, "'it'\\''s'");
	for (size_t size = 8; size <= sizeof(text); size++) { /* cut off, but closed */
		size_t used = lx_put_word(text, size, "' ' ' ' ' a b ' ' ' '");

		assert_int_equal(used, strlen(text));
		assert_true(strlen(text) < size && text[strlen(text) - 1] == '\'');
	}
}

static void own_code(void **state)
{
	(void)state;
	make("python3|app.py|", "/home/u/proj");
	assert_true(lx_program_owns(&program, "/home/u/proj/app.py"));
	assert_true(lx_program_owns(&program, "/home/u/proj/pkg/mod.py"));
	assert_true(lx_program_owns(&program, "app.py"));
	assert_true(lx_program_owns(&program, "<stdin>"));
	assert_true(lx_program_owns(&program, "<ipython-input-3-0123>"));
	assert_false(lx_program_owns(&program, "<string>")); /* a namedtuple's */
	assert_false(lx_program_owns(&program, "<attrs generated init app.Point>"));
	assert_false(lx_program_owns(&program, ""));
	assert_false(lx_program_owns(&program, "<frozen importlib._bootstrap>"));
	assert_false(lx_program_owns(&program, "/home/u/proj/.venv/lib/python3.12/site-packages/six.py"));
	assert_false(lx_program_owns(&program, "/home/u/project2/app.py"));
	assert_false(lx_program_owns(&program, "/usr/lib/python3.12/json/decoder.py"));
	assert_false(lx_program_owns(&program, "/usr/lib/python3/dist-packages/yaml/__init__.py"));
	make("python3|-m|docutils|", "/home/u");
	assert_true(lx_program_owns(&program, "/usr/lib/python3.12/site-packages/docutils/core.py"));
	assert_false(lx_program_owns(&program, "/usr/lib/python3.12/site-packages/docutils2/core.py"));
}

static void places(void **state)
{
	(void)state;
	make("python3|tools/app.py|", "/home/u/proj");
	assert_string_equal(lx_program_short(&program, "/home/u/proj/tools/app.py"), "tools/app.py");
	assert_string_equal(lx_program_short(&program, "/v/lib/python3.12/site-packages/a/b.py"), "a/b.py");
	assert_string_equal(lx_program_short(&program, "/usr/lib/python3.12/json/decoder.py"), "json/decoder.py");
	assert_string_equal(lx_program_short(&program, "/usr/lib/python312.zip/json/decoder.py"), "json/decoder.py");
	assert_string_equal(lx_program_short(&program, "/opt/x.py"), "/opt/x.py");
	assert_string_equal(lx_program_short(&program, "<string>"), "<string>");
	make("python3|/srv/jobs/run.py|", "/");
	assert_string_equal(lx_program_short(&program, "/srv/jobs/lib/x.py"), "lib/x.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands),
		cmocka_unit_test(words),
		cmocka_unit_test(own_code),
		cmocka_unit_test(places),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	lx_program_free(&program);
	return failed;
}
