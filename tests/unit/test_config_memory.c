/* Memory that is not there: each allocation fails once. Nothing is left behind, and the answer is -ENOMEM. */
#include "config_said.h"

#include <errno.h>
#include <stdbool.h>

/* A sanitizer has an allocator of its own, which counts what is left by itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OURS 0
#else
#define OURS 1
#endif

static bool watching;
static size_t live, taken, fail_at;

#if OURS
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *old);

extern const char __executable_start, etext;

/* Only our own: the C library's expressions leave memory behind where theirs fail. */
static bool fails(const void *caller)
{
	bool own = (const char *)caller >= &__executable_start && (const char *)caller < &etext;

	return watching && own && ++taken == fail_at;
}

static void *counted(void *new)
{
	live += watching && new;
	return new;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
	if (fails(__builtin_return_address(0)))
		return NULL;
	return old ? __libc_realloc(old, size) : counted(__libc_realloc(NULL, size));
}

void free(void *old)
{
	live -= watching && old;
	__libc_free(old);
}
#endif

static const char text[] =
	"[Python.default]\ntrace_mode = STANDBY\nPython.thread = (0-3,7)\npysysmon_import = on\n"
	"[Python.thread(1-2)] : Python.default\npysysmon_c_start = off\n[REMOVE Python.thread(1-2)]\n[User.thread(0)]\n"
	"[Lexgion.default]\nmax_num_traces = 3\npysysmon_c_start = off\nregion_begin = off\n"
	"[Lexgion(Python:f, Python:S.*, Python:/^(a|b)+c{2}/, Python:\"odd, name\", Python:g)] : Python.default : Python.thread(1)\n"
	"trace_mode_after = INTROSPECT:1:look.sh:Python:MONITORING, User:OFF\nmax_c_traces = 7\n[REMOVE Lexgion(Python:/^(a|b)+c{2}/)]\n"
	"[Lexgion(Python:h, wrong)]\n[Lexgion(Python:/(/)]\n[Lexgion(Python:t_?.py:/x/)]\n"
	"[Knob]\na = 1\nb = 2.5\nc = \"three\"\n";

static int read_once(struct lx_rules **rules)
{
	const struct lx_rules_environment environment = {
		.modes = {"OFF"}, .rate = "0:5:1:Python:MONITORING", .window = "0:5:1:0.5:OFF", .c_calls = -1};
	char *exact = strdup(text);
	int done;

	live = taken = 0;
	watching = true;
	done = lx_rules_parse(exact, strlen(exact), &environment, NULL, NULL, rules);
	if (done == 0)
		lx_rules_free(*rules);
	watching = false;
	free(exact);
	return done;
}

static void each_allocation_fails_once(void **state)
{
	struct lx_rules *rules = NULL;
	size_t all, failed = 0;

	(void)state;
	fail_at = 0;
	assert_int_equal(read_once(&rules), 0);
	all = taken;
	for (fail_at = 1; fail_at <= all; fail_at++) {
		int done = read_once(&rules);

		assert_int_equal(done, -ENOMEM);
		if (live != 0)
			fail_msg("%zu pieces are left where allocation %zu fails", live, fail_at);
		failed += done != 0;
	}
	if (OURS)
		assert_true(all > 10 && failed == all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
