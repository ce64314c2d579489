/*
 * The functions of a run: the lexgions of all its processes, those with the same domain, name, file and line being one.
 * A function is its number, from 0; numbers grow as processes are added.
 */
#ifndef LX_VIEW_FUNCTIONS_H
#define LX_VIEW_FUNCTIONS_H

#include "view/program.h"

struct lx_function {
	const struct lx_lexgion *lexgion; /* of the first process that had it; raw name and file */
	const struct lx_program *program; /* likewise */
	char *name, *place;               /* see the two calls below; NULL: not asked for yet */
	bool own;                         /* of the program itself: see lx_program_owns(); regions are */
	bool import;                      /* an import, or code of the import system */
	bool module;                      /* the body of a module */
};

struct lx_functions {
	const struct lx_trace *trace;
	struct lx_function *items;
	uint32_t count, room;
	uint32_t *slots;                  /* hash table of number + 1; a power of two */
	uint32_t slot_count;
	struct lx_program *programs;      /* by the process's place in trace */
	bool full_paths;                  /* for places; set it before they are asked for */
};

int lx_functions_init(struct lx_functions *functions, const struct lx_trace *trace);
void lx_functions_free(struct lx_functions *functions);

/* The program of a process of the trace; NULL before lx_functions_init(). */
const struct lx_program *lx_functions_program(const struct lx_functions *functions, const struct lx_process *process);

/*
 * Adds a process's lexgions. *map, to be freed, has lexgion_count + 1 entries: the function of each id, then that of
 * all ids above. Returns 0 or -ENOMEM.
 */
int lx_functions_map(struct lx_functions *functions, const struct lx_process *process, uint32_t **map);

static inline uint32_t lx_map_get(const uint32_t *map, size_t lexgion_count, uint32_t lexgion)
{
	return map[lexgion < lexgion_count ? lexgion : lexgion_count];
}

/* For people: escaped, one line, never NULL. "Solver.run", "import numpy"; "solver.py:41", "C" for C code, "" unknown. */
const char *lx_function_name(struct lx_functions *functions, uint32_t function);
const char *lx_function_place(struct lx_functions *functions, uint32_t function);

/*
 * Does the function fit the pattern: a shell wildcard on its name, or FILE:NAME with a wildcard on the file's last
 * parts too ("solver.py:*.run")?
 */
bool lx_function_matches(const struct lx_functions *functions, uint32_t function, const char *pattern);

/* The functions nearest to a pattern that fits none, best first; returns how many (0 .. count). */
uint32_t lx_functions_near(struct lx_functions *functions, const char *pattern, uint32_t *found, uint32_t count);

#endif
