/* A program annotated with DFTracer's C macros: dftracer_macros HOW. */
#include <dftracer/dftracer.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int depth)
{
	DFTRACER_C_FUNCTION_START();
	DFTRACER_C_FUNCTION_UPDATE_STR("comp", "io");
	DFTRACER_C_FUNCTION_UPDATE_INT("depth", depth);
	DFTRACER_C_REGION_START(inner);
	DFTRACER_C_REGION_UPDATE_INT_TYPE(inner, "size", 4096, 0);
	DFTRACER_C_FUNCTION_UPDATE_STR("late", "x");
	if (depth > 0)
		work(depth - 1);
	DFTRACER_C_REGION_UPDATE_STR(inner, "done", "yes");
	DFTRACER_C_REGION_END(inner);
	if (depth > 0)
		return 1; /* without its END */
	DFTRACER_C_FUNCTION_END();
	return 0;
}

static void all(const char *log_file, int *rank)
{
	DFTRACER_C_INIT(log_file, NULL, rank);
	DFTRACER_C_METADATA(meta, "k", "v");
	DFTRACER_C_APP_METADATA_INT("n", 5);
	DFTRACER_C_APP_METADATA_STR("s", "t");
	DFTRACER_C_MARK_USED("layer");
	work(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const char *none = NULL;
	int rank = argc > 3 ? atoi(argv[3]) : -1;

	if (strcmp(how, "named") == 0) {
		all(argv[2], &rank);
		if (chdir("/") != 0)
			return 1;
	} else {
		all(none, NULL);
	}
	if (strcmp(how, "exit") == 0)
		exit(3);
	if (strcmp(how, "return") == 0)
		return 3;
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "again") == 0) {
		DFTRACER_C_INIT_NO_BIND(none, none, NULL);
		DFTRACER_C_FINI();
		DFTRACER_C_FINI();
		all(none, NULL);
	}
	if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {
			work(1);
			exit(0);
		}
		wait(NULL);
	}
	DFTRACER_C_FINI();
	puts("done");
	return 0;
}
