#include "capture/pfw_export.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int (*write_function)(const char *, const char *, const struct lx_pfw_options *, char *, size_t);

/* The library stays loaded: a program may write several traces. */
static write_function load(char *message, size_t size)
{
	static write_function function;
	char path[PATH_MAX];
	Dl_info self;

	if (function)
		return function;
	if (!dladdr((void *)lx_session_start, &self) || !self.dli_fname)
		self.dli_fname = "";
	const char *slash = strrchr(self.dli_fname, '/');

	snprintf(path, sizeof(path), "%.*sliblextrace-export.so", slash ? (int)(slash + 1 - self.dli_fname) : 0, self.dli_fname);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library)
		function = (write_function)dlsym(library, "lx_pfw_write");
	if (!function)
		snprintf(message, size, "%s", dlerror());
	return function;
}

/* With the files in it and, one level down, its folders. What lies deeper (chunks) stays, and all around it. */
static int remove_folder(const char *path, int depth)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int left = 0;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		char inner[PATH_MAX];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) >= (int)sizeof(inner))
			left++;
		else if (unlink(inner) != 0)
			left += depth == 0 || remove_folder(inner, depth - 1) != 0;
	}
	closedir(folder);
	return left || rmdir(path) != 0 ? -ENOTEMPTY : 0;
}

/* Other processes, or notes on what went wrong, keep it. */
static void remove_run(const char *process_folder)
{
	char run[PATH_MAX];
	const char *slash = strrchr(process_folder, '/');

	if (slash && snprintf(run, sizeof(run), "%.*s", (int)(slash - process_folder), process_folder) < (int)sizeof(run))
		rmdir(run);
}

int lx_pfw_export(const char *process_folder, const char *out, const struct lx_pfw_options *options, bool remove,
		  char *message, size_t size)
{
	write_function function = load(message, size);
	int error = function ? function(process_folder, out, options, message, size) : -ELIBACC;

	if (error || !remove)
		return error;
	if (remove_folder(process_folder, 1) == 0)
		remove_run(process_folder);
	return 0;
}
