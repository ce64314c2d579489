/*
 * Counts the words of files, one thread a file, and tells lextrace what it does:
 *
 *     lextrace run ./words-c FILE...      then `lextrace report` or `lextrace view`
 */
#include <ctype.h>
#include <errno.h>
#include <lextrace/lextrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
	pthread_t thread;
	const char *path;
	size_t words;
};

static char *read_file(const char *path, size_t *size)
{
	LEXTRACE_FUNCTION("IO", LEXTRACE_COMP_IO);
	FILE *file = fopen(path, "rb");
	char *text = NULL;

	lextrace_arg("path", path);
	*size = 0;
	if (!file) {
		lextrace_arg("error", strerror(errno));
		return NULL; /* the region ends here, too */
	}
	for (size_t space = 65536, got = 1; got > 0; space *= 2) {
		char *larger = realloc(text, space);

		if (!larger)
			break;
		text = larger;
		*size += got = fread(text + *size, 1, space - *size, file);
	}
	fclose(file);
	lextrace_arg("bytes", *size);
	return text;
}

static void *count_words(void *argument)
{
	struct job *job = argument;
	static lextrace_region total = LEXTRACE_REGION_IN("Words", "total");
	static double all;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size_t size;
	char *text = read_file(job->path, &size);

	{
		LEXTRACE_SCOPE("Compute", "count", LEXTRACE_COMP_CPU);
		for (size_t i = 0; i < size; i++)
			job->words += !isspace((unsigned char)text[i]) && (i == 0 || isspace((unsigned char)text[i - 1]));
		lextrace_arg("words", job->words);
	}
	free(text);
	pthread_mutex_lock(&lock);
	all += (double)job->words;
	lextrace_counter(&total, all);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	static lextrace_region wait = LEXTRACE_REGION_IN("Words", "wait"), done = LEXTRACE_REGION_IN("Words", "done");
	struct job *jobs = calloc((size_t)argc, sizeof(*jobs));

	if (!jobs)
		return 1;
	lextrace_metadata_int("files", argc - 1);
	for (int i = 1; i < argc; i++) {
		jobs[i].path = argv[i];
		if (pthread_create(&jobs[i].thread, NULL, count_words, &jobs[i]) != 0)
			return 1;
	}
	lextrace_begin(&wait);
	for (int i = 1; i < argc; i++)
		pthread_join(jobs[i].thread, NULL);
	lextrace_end(&wait);
	lextrace_point(&done, (lextrace_argument[]){lextrace_of("files", argc - 1), lextrace_of("by", "C")}, 2);
	for (int i = 1; i < argc; i++)
		printf("%8zu %s\n", jobs[i].words, jobs[i].path);
	free(jobs);
	return 0;
}
