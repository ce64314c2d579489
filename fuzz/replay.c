/* Runs a fuzz target once over each file of the folders and files named: a fuzzer's corpus as an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;

	if (!file || fstat(fileno(file), &status) != 0) {
		perror(path);
		return 1;
	}
	/* As long as the input, so that a sanitizer sees a read past its end. */
	uint8_t *data = malloc(status.st_size ? (size_t)status.st_size : 1);
	size_t size = data ? fread(data, 1, (size_t)status.st_size, file) : 0;

	fclose(file);
	if (data)
		LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int replay(const char *path, unsigned *count)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int failed = 0;

	if (!folder) {
		++*count;
		return replay_file(path);
	}
	while ((entry = readdir(folder))) {
		char inner[4096];

		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			failed |= replay(inner, count);
	}
	closedir(folder);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned count = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i], &count);
	printf("%u inputs replayed\n", count);
	return failed || count == 0;
}
