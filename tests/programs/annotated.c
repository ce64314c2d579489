/* What programs do with the C API: annotated HOW [N]. */
#include <lextrace/lextrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long count;

static void *work(void *unused)
{
	for (int i = 0; i < count; i++) {
		LEXTRACE_SCOPE("Test", "work", LEXTRACE_COMP_CPU);
		lextrace_arg("i", i);
	}
	return unused;
}

static void threads(void)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
}

static void endless(void)
{
	for (int i = 0;; i++) {
		{
			LEXTRACE_SCOPE("Test", "endless");
			lextrace_arg("i", i);
		}
		if (i % 1000 == 0) {
			printf("%d\n", i);
			fflush(stdout);
		}
	}
}

static void hostile(void)
{
	static char category[3001], name[3001], long_text[5001], huge[1200001];
	static lextrace_region odd = LEXTRACE_REGION_IN("Hostile \"", "\\ \n"), large = LEXTRACE_REGION_IN(category, name);

	memset(category, 'K', 3000);
	memset(name, 'n', 3000);
	memset(long_text, 'x', 5000);
	memset(huge, 'y', 1200000);
	lextrace_begin(&odd);
	lextrace_arg_string("quote \" \\ \n \t", "value \" \\ \n\x01\x7f");
	lextrace_arg_string("empty", "");
	lextrace_arg_string_n("nul", "a\0b", 4);
	lextrace_arg_string("latin", "\xe4\xf6\xfc \xff\xfe");
	lextrace_arg_string("surrogate", "\xed\xa0\x80");
	lextrace_arg_string("", "no name");
	lextrace_begin(&large);
	lextrace_arg_string("long", long_text);
	lextrace_arg_string("huge", huge);
	lextrace_end(&large);
	lextrace_end(&odd);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	count = argc > 2 ? atol(argv[2]) : 0;
	if (strcmp(how, "off") == 0) {
		threads();
		return 0;
	}
	if (strcmp(how, "once") == 0 || strcmp(how, "again") == 0) { /* recorded from outside */
		char command[4096];

		work(NULL);
		snprintf(command, sizeof(command), "'%s' once %ld", argv[0], count);
		return strcmp(how, "again") == 0 ? system(command) : 0;
	}
	if (lextrace_start("run") != 0)
		return 1;
	if (strcmp(how, "many") == 0)
		work(NULL);
	else if (strcmp(how, "threads") == 0)
		threads();
	else if (strcmp(how, "endless") == 0)
		endless();
	else if (strcmp(how, "hostile") == 0)
		hostile();
	lextrace_stop();
	return 0;
}
