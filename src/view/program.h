/* What a process runs, as its user would say it: the command without its interpreter, its own folder, short places. */
#ifndef LX_VIEW_PROGRAM_H
#define LX_VIEW_PROGRAM_H

#include "transform/trace.h"

enum lx_process_key {
#define LX_X(key) LX_KEY_##key,
	LX_PROCESS_KEYS(LX_X)
#undef LX_X
};

/*
 * Writes one word of a command line, as a shell takes it: quoted where it must be, and escaped where a terminal needs that.
 * At most size - 1 bytes (five for each byte of the word, and three, hold any) and a NUL. Returns how many.
 */
size_t lx_put_word(char *out, size_t size, const char *word);

struct lx_program {
	char *command; /* "tools/buildhtml.py --quiet docs/ref": one line, quoted as for a shell; "python -c …" */
	char *name;    /* "buildhtml.py", "-m" modules: "docutils", other programs: their base name */
	char *cwd;     /* absolute, no slash at the end; "" unknown */
	char *folder;  /* that of the script, likewise */
	char *module;  /* first part of the -m module's name; "" none */
	bool code;     /* -c, or standard input: "<string>" and "<stdin>" are its own */
};

/* Returns 0 or -ENOMEM. Free it in both cases. */
int lx_program_init(struct lx_program *program, const struct lx_process *process);
void lx_program_free(struct lx_program *program);

/* Does the file belong to the program itself, not to the libraries it uses? C code ("") does not. */
bool lx_program_owns(const struct lx_program *program, const char *file);

/*
 * The part of `file` that tells it apart, a tail of it: from the package's folder for a library, else from the working
 * folder or the script's folder, else all of it.
 */
const char *lx_program_short(const struct lx_program *program, const char *file);

#endif
