#include "view/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct words {
	const char *at, *end; /* joined by NUL */
};

static const char *next_word(struct words *words)
{
	const char *word = words->at;

	if (word >= words->end)
		return NULL;
	words->at = word + strlen(word) + 1;
	return word;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_interpreter(const char *word)
{
	const char *name = base_name(word);

	return strncmp(name, "python", 6) == 0 && strspn(name + 6, "0123456789.dt") == strlen(name + 6);
}

size_t lx_put_word(char *out, size_t size, const char *word)
{
	static const char plain[] = "%+,-./:=@_^";
	bool quote = !*word;
	size_t used = 0;

	for (const char *at = word; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(plain, *at) && !((unsigned char)*at & 0x80))
			quote = true;
	if (!quote)
		return lx_escape(out, size, word, strlen(word));
	if (size > used + 2)
		out[used++] = '\'';
	while (*word && size > used + 6) { /* a quote ends the quoting, stands for itself, and begins it again */
		size_t plain_size = strcspn(word, "'");

		used += lx_escape(out + used, size - used - 5, word, plain_size);
		word += plain_size;
		if (*word == '\'' && size > used + 5) {
			memcpy(out + used, "'\\''", 4);
			used += 4;
			word++;
		}
	}
	if (size > used + 1)
		out[used++] = '\'';
	out[used] = '\0';
	return used;
}

/* Options alone are the interpreter's. */
static char *join_command(struct words words)
{
	const char *interpreter = words.at < words.end && words.at[0] == '-' ? "python" : "";
	size_t size = (size_t)(words.end - words.at) * 5 + sizeof("python") + 8, used;
	char *out;

	for (struct words left = words; next_word(&left);)
		size += 4;
	out = malloc(size);
	if (!out)
		return NULL;
	strcpy(out, interpreter);
	used = strlen(out);
	for (const char *word; (word = next_word(&words));) {
		if (used)
			out[used++] = ' ';
		used += lx_put_word(out + used, size - used, word);
	}
	return out;
}

/* "/a/b" and "../c/./d" give "/a/c/d". An absolute `path` stays without its base. */
static char *absolute(const char *base, const char *path)
{
	size_t size = strlen(base) + strlen(path) + 3, used = 0;
	char *out = malloc(size), *parts = malloc(size), *rest = NULL;

	if (out && parts) {
		strcpy(parts, *path == '/' ? "" : base);
		strcat(strcat(parts, "/"), path);
		for (char *part = strtok_r(parts, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
			if (strcmp(part, "..") == 0) {
				while (used && out[--used] != '/')
					;
			} else if (strcmp(part, ".") != 0) {
				out[used++] = '/';
				strcpy(out + used, part);
				used += strlen(part);
			}
		}
		out[used] = '\0';
	} else {
		free(out);
		out = NULL;
	}
	free(parts);
	return out;
}

static char *copy_key(const struct lx_process *process, enum lx_process_key key)
{
	return strdup(process->key[key] ? process->key[key] : "");
}

/*
 * One word of the interpreter's own options, as in "-u", "-Wd", "-X dev", "-um pkg": false after the one that names what
 * to run. The rest of a word is its option's value, else the next word is.
 */
static bool pass_option(const char *word, struct words *words, const char **module, bool *code)
{
	if (word[1] == '-') {
		if (strcmp(word, "--check-hash-based-pycs") == 0)
			next_word(words);
		return true;
	}
	for (const char *letter = word + 1; *letter; letter++) {
		if (!strchr("mcXW", *letter))
			continue;
		const char *value = letter[1] ? letter + 1 : next_word(words);

		if (*letter == 'm')
			*module = value;
		*code = *letter == 'c';
		return *letter == 'X' || *letter == 'W';
	}
	return true;
}

/* The script or module that the interpreter runs. */
static void find_target(struct words words, const char **script, const char **module, bool *code)
{
	const char *word;

	while ((word = next_word(&words)) && word[0] == '-' && word[1])
		if (!pass_option(word, &words, module, code))
			return;
	if (word && strcmp(word, "-") != 0)
		*script = word;
	else
		*code = true;
}

int lx_program_init(struct lx_program *program, const struct lx_process *process)
{
	const char *argv = process->key[LX_KEY_argv];
	struct words words = { argv, argv ? argv + process->key_size[LX_KEY_argv] : NULL };
	struct words after = words;
	const char *first = next_word(&after), *script = NULL, *module = NULL;
	char *slash;

	*program = (struct lx_program){ 0 };
	if (first && is_interpreter(first) && after.at < after.end) {
		words = after;
		find_target(words, &script, &module, &program->code);
	} else if (first && first[0] == '-') { /* recorded without the interpreter: "-m pkg", "-c code" */
		find_target(words, &script, &module, &program->code);
	} else {
		script = first;
	}
	program->command = join_command(words);
	program->cwd = copy_key(process, LX_KEY_cwd);
	if (module)
		program->name = strdup(module);
	else if (script)
		program->name = strdup(base_name(script));
	else
		program->name = copy_key(process, LX_KEY_program);
	program->module = strndup(module ? module : "", module ? strcspn(module, ".") : 0);
	program->folder = script ? absolute(program->cwd ? program->cwd : "", script) : strdup("");
	if (!program->command || !program->cwd || !program->name || !program->module || !program->folder)
		return -ENOMEM;
	slash = strrchr(program->folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t length = strlen(program->cwd); length && program->cwd[length - 1] == '/'; length--)
		program->cwd[length - 1] = '\0';
	return 0;
}

void lx_program_free(struct lx_program *program)
{
	free(program->command);
	free(program->name);
	free(program->cwd);
	free(program->folder);
	free(program->module);
	*program = (struct lx_program){ 0 };
}

/* What follows the last `mark` in file, or NULL. */
static const char *after_last(const char *file, const char *mark)
{
	const char *found = NULL;

	for (const char *at = file; (at = strstr(at, mark)); at++)
		found = at + strlen(mark);
	return found;
}

/* The path of a library's file from its package on, or NULL: file is no library's. */
static const char *in_library(const char *file)
{
	const char *found = after_last(file, "/site-packages/");

	if (!found)
		found = after_last(file, "/dist-packages/");
	if (!found && ((found = after_last(file, "/lib/python")) || (found = after_last(file, "/lib64/python")))) {
		size_t digits = strspn(found, "0123456789.");

		found = digits && strncmp(found + digits, "/", 1) == 0 ? found + digits + 1 :
			digits && strncmp(found + digits, "zip/", 4) == 0 ? found + digits + 4 : NULL;
	}
	return found;
}

static const char *below(const char *folder, const char *file)
{
	size_t length = strlen(folder);

	return length && strncmp(file, folder, length) == 0 && file[length] == '/' ? file + length + 1 : NULL;
}

/*
 * Code without a file that a user has typed. All other is made at run time, by namedtuple, dataclass and their like: it
 * goes with its callers.
 */
static bool typed_in(const struct lx_program *program, const char *file)
{
	static const char *const begins[] = { "<stdin>",	"<stdin-",  "<console>",	"<input>",
					      "<ipython-input", "<doctest", "<python-input" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(file, begins[i], strlen(begins[i])) == 0)
			return true;
	return program->code && strcmp(file, "<string>") == 0;
}

bool lx_program_owns(const struct lx_program *program, const char *file)
{
	const char *packaged = in_library(file);
	size_t module = strlen(program->module);

	if (*file == '<')
		return typed_in(program, file);
	if (module && packaged && strncmp(packaged, program->module, module) == 0 &&
	    (packaged[module] == '/' || strcmp(packaged + module, ".py") == 0))
		return true;
	if (packaged)
		return in_library(program->folder) && below(program->folder, file);
	return *file && (*file != '/' || below(program->cwd, file) || below(program->folder, file));
}

const char *lx_program_short(const struct lx_program *program, const char *file)
{
	const char *found = in_library(file);

	if (!found)
		found = below(program->cwd, file);
	if (!found)
		found = below(program->folder, file);
	return found ? found : file;
}
