/* Where the run-time files are: the folder of the Python package, and the interpreter it was installed with. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run.h"

/* What marks the package folder. */
#define MARK "boot/sitecustomize.py"

/* Folder of this program, symbolic links resolved; false: /proc is not there. */
static bool own_folder(char *out, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", out, size - 1);

	if (length <= 0)
		return false;
	out[length] = '\0';
	char *slash = strrchr(out, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

char *lx_home_python(void)
{
	char folder[PATH_MAX];
	char *python;

	if (own_folder(folder, sizeof(folder)) && asprintf(&python, "%s/python3", folder) >= 0) {
		if (access(python, X_OK) == 0)
			return python;
		free(python);
	}
	return lx_path_search("python3");
}

static char *package_at(const char *folder)
{
	char mark[PATH_MAX + sizeof(MARK)];

	snprintf(mark, sizeof(mark), "%s/" MARK, folder);
	return access(mark, R_OK) == 0 ? realpath(folder, NULL) : NULL;
}

/* Folders that belong to a program in `bin`, most specific first. */
static char *package_near(const char *bin)
{
	static const char *const places[] = {
		"%s/..", /* LEXTRACE/bin */
		"%s/../lextrace",
		"%s/../lib/python3*/site-packages/lextrace",
		"%s/../lib64/python3*/site-packages/lextrace",
		"%s/../lib/python3*/dist-packages/lextrace",
	};
	char *home = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !home; i++) {
		char *pattern;
		glob_t found;

		if (asprintf(&pattern, places[i], bin) < 0)
			return NULL;
		if (glob(pattern, 0, NULL, &found) == 0) {
			for (size_t j = 0; j < found.gl_pathc && !home; j++)
				home = package_at(found.gl_pathv[j]);
			globfree(&found);
		}
		free(pattern);
	}
	return home;
}

/* Starts `python` with a line that prints where the package is; the program's own start is not touched. */
static char *ask_python(const char *python)
{
	static const char code[] = "import importlib.util as u\n"
				   "s = u.find_spec('lextrace')\n"
				   "print(list(s.submodule_search_locations)[0] if s else '', end='')\n";
	char answer[PATH_MAX];
	size_t used = 0;
	int ends[2], status;
	ssize_t got;

	if (pipe(ends) != 0)
		return NULL;
	pid_t child = fork();

	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		execl(python, python, "-c", code, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	while (child > 0 && used < sizeof(answer) - 1 &&
	       ((got = read(ends[0], answer + used, sizeof(answer) - 1 - used)) > 0 || (got < 0 && errno == EINTR)))
		used += got > 0 ? (size_t)got : 0;
	close(ends[0]);
	answer[used] = '\0';
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return NULL;
	return used ? package_at(answer) : NULL;
}

char *lx_home_find(const struct lx_target *target)
{
	const char *given = getenv("LEXTRACE_HOME");
	char folder[PATH_MAX];
	char *home = NULL, *python;

	if (given && *given)
		return package_at(given);
	if (own_folder(folder, sizeof(folder)))
		home = package_near(folder);
	if (home)
		return home;
	const char *slash = strrchr(target->file, '/');

	if (strncmp(slash ? slash + 1 : target->file, "python", 6) == 0)
		home = ask_python(target->file);
	if (!home && (python = lx_home_python())) {
		home = ask_python(python);
		free(python);
	}
	return home;
}
