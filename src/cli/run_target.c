/* What `lextrace run TARGET` executes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/run.h"

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size > end_size && strcmp(text + size - end_size, end) == 0;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* What our interpreter runs: a script, whatever its #! line says; an archive; a folder with __main__.py. */
static bool is_python_program(const char *path)
{
	char main_file[4096];

	if (is_folder(path)) {
		snprintf(main_file, sizeof(main_file), "%s/__main__.py", path);
		return is_file(main_file);
	}
	return ends_with(path, ".py") || ends_with(path, ".pyw") || ends_with(path, ".pyc") || ends_with(path, ".pyz");
}

char *lx_path_search(const char *name)
{
	const char *path = getenv("PATH");
	int reason = ENOENT;

	if (!path)
		path = "/usr/local/bin:/bin:/usr/bin"; /* what execvp takes, without the current folder */
	while (*name) {
		size_t size = strcspn(path, ":");
		char *file;

		if (asprintf(&file, "%.*s%s%s", (int)size, path, size ? "/" : "", name) < 0)
			break;
		if (is_file(file) && access(file, X_OK) == 0)
			return file;
		if (is_file(file))
			reason = EACCES;
		free(file);
		if (!path[size])
			break;
		path += size + 1;
	}
	errno = reason;
	return NULL;
}

void lx_program_name(char *out, size_t size, const char *word)
{
	static const char *const endings[] = { ".py", ".pyw", ".pyc", ".pyz" };
	size_t length = strlen(word);

	while (length > 1 && word[length - 1] == '/')
		length--;
	size_t start = length;

	while (start > 0 && word[start - 1] != '/')
		start--;
	snprintf(out, size, "%.*s", (int)(length - start), word + start);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (ends_with(out, endings[i]))
			out[strlen(out) - strlen(endings[i])] = '\0';
	for (char *at = out; *at;) {
		unsigned sequence = lx_utf8_length(at, strlen(at)); /* 0: none, or cut off above */

		if (sequence < 2 && !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", *at))
			*at = '_';
		at += sequence ? sequence : 1;
	}
	if (!*out)
		snprintf(out, size, "program");
}

const char *lx_python_subject(const char *interpreter, char **words, int count)
{
	for (int i = 0; i < count; i++) {
		const char *word = words[i];

		if (word[0] != '-')
			return word;
		if (!word[1]) /* the program comes from stdin */
			return interpreter;
		if (strcmp(word, "--check-hash-based-pycs") == 0)
			i++;
		if (word[1] == '-')
			continue;
		const char *letter = word + 1 + strcspn(word + 1, "cmWX");

		if (*letter == 'c')
			return interpreter;
		if (*letter == 'm')
			return letter[1] ? letter + 1 : i + 1 < count ? words[i + 1] : interpreter;
		if (*letter && !letter[1]) /* -W and -X take the next word */
			i++;
	}
	return interpreter;
}

static bool names_python(const char *word)
{
	const char *slash = strrchr(word, '/');
	const char *name = slash ? slash + 1 : word;

	return strncmp(name, "python", 6) == 0 && name[6 + strspn(name + 6, "0123456789.t")] == '\0';
}

/* argv: the words of `head` (ended by NULL), then `count` words. */
static char **join(const char *const *head, char **words, int count)
{
	size_t size = 0;

	while (head[size])
		size++;
	char **argv = calloc(size + (size_t)count + 1, sizeof(*argv));

	if (argv) {
		memcpy(argv, head, size * sizeof(*argv));
		memcpy(argv + size, words, (size_t)count * sizeof(*argv));
	}
	return argv;
}

static int in_our_python(const char *const *head, char **words, int count, struct lx_target *target)
{
	target->python = true;
	target->file = lx_home_python();
	if (!target->file) {
		lx_error("%s: no python3 beside lextrace nor on PATH; name one: lextrace run /path/to/python %s", target->word,
			 target->word);
		return LX_STATUS_NOT_FOUND;
	}
	/* The interpreter finds its own folders by the name it was started with. */
	const char *start[] = { target->file, head[0], head[0] ? head[1] : NULL, NULL };

	target->argv = join(start, words, count);
	return target->argv ? 0 : LX_STATUS_CANNOT_START;
}

static int not_executable(const char *word)
{
	lx_error("%s: neither a Python script nor executable", word);
	return LX_STATUS_NOT_EXECUTABLE;
}

static int not_found(const char *word)
{
	if (strchr(word, '/') || ends_with(word, ".py"))
		lx_error("%s: no such file", word);
	else if (is_file(word) && access(word, X_OK) == 0)
		lx_error("%s: no such program on PATH; for the file here: lextrace run ./%s", word, word);
	else if (access(word, F_OK) == 0)
		return not_executable(word);
	else
		lx_error("%s: no such file, and no such program on PATH", word);
	return LX_STATUS_NOT_FOUND;
}

/* A path, or a Python program named without a slash. */
static int find_path(char **words, int count, struct lx_target *target)
{
	const char *word = target->word;
	bool executable = is_file(word) && access(word, X_OK) == 0;

	if (access(word, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return not_found(word);
	if (access(word, F_OK) != 0) {
		lx_error("%s: %s", word, strerror(errno));
		return LX_STATUS_NOT_EXECUTABLE;
	}
	if (is_python_program(word) && !(executable && ends_with(word, ".pyz"))) /* zipapp gives those a #! line */
		return in_our_python((const char *const[]){ NULL }, words, count, target);
	if (!executable)
		return not_executable(word);
	target->file = strdup(word);
	return 0;
}

int lx_target_find(const char *module, char **words, int count, struct lx_target *target)
{
	int status;

	memset(target, 0, sizeof(*target));
	if (module) {
		target->word = module;
		lx_program_name(target->program, sizeof(target->program), module);
		return in_our_python((const char *const[]){ "-m", module, NULL }, words, count, target);
	}
	const char *word = target->word = words[0];
	const char *subject = names_python(word) ? lx_python_subject(word, words + 1, count - 1) : word;

	lx_program_name(target->program, sizeof(target->program), subject);
	if (strchr(word, '/') || (is_python_program(word) && access(word, F_OK) == 0)) {
		status = find_path(words, count, target);
	} else {
		target->file = lx_path_search(word);
		status = target->file ? 0 : errno == EACCES ? not_executable(word) : not_found(word);
	}
	if (status == 0 && !target->argv)
		target->argv = join((const char *const[]){ NULL }, words, count);
	return status == 0 && (!target->file || !target->argv) ? LX_STATUS_CANNOT_START : status;
}
