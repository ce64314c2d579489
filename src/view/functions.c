#include "view/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int lx_functions_init(struct lx_functions *functions, const struct lx_trace *trace)
{
	*functions = (struct lx_functions){ .trace = trace };
	functions->programs = calloc(trace->process_count + 1, sizeof(*functions->programs));
	if (!functions->programs)
		return -ENOMEM;
	for (size_t i = 0; i < trace->process_count; i++)
		if (lx_program_init(&functions->programs[i], &trace->processes[i]) < 0)
			return -ENOMEM;
	return 0;
}

void lx_functions_free(struct lx_functions *functions)
{
	for (uint32_t i = 0; i < functions->count; i++) {
		free(functions->items[i].name);
		free(functions->items[i].place);
	}
	for (size_t i = 0; functions->programs && i < functions->trace->process_count; i++)
		lx_program_free(&functions->programs[i]);
	free(functions->programs);
	free(functions->items);
	free(functions->slots);
	*functions = (struct lx_functions){ 0 };
}

const struct lx_program *lx_functions_program(const struct lx_functions *functions, const struct lx_process *process)
{
	return functions->programs ? &functions->programs[process - functions->trace->processes] : NULL;
}

static uint32_t hash_bytes(uint32_t hash, const char *text, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static uint32_t hash_lexgion(const struct lx_lexgion *lexgion)
{
	uint32_t hash = 2166136261u ^ lexgion->line * 2654435761u ^ lexgion->domain;

	hash = hash_bytes(hash, lexgion->title, lexgion->title_size);
	hash = hash_bytes(hash, lexgion->file, lexgion->file_size);
	return hash ^ hash >> 15;
}

static bool same(const struct lx_lexgion *a, const struct lx_lexgion *b)
{
	return a == b || (a->line == b->line && a->domain == b->domain && a->title_size == b->title_size &&
			  a->file_size == b->file_size && memcmp(a->title, b->title, a->title_size) == 0 &&
			  memcmp(a->file, b->file, a->file_size) == 0);
}

static uint32_t *find_slot(const struct lx_functions *functions, const struct lx_lexgion *lexgion)
{
	uint32_t mask = functions->slot_count - 1;
	uint32_t at = hash_lexgion(lexgion) & mask;

	while (functions->slots[at] && !same(functions->items[functions->slots[at] - 1].lexgion, lexgion))
		at = (at + 1) & mask;
	return &functions->slots[at];
}

/* Room for one more function. */
static int grow(struct lx_functions *functions)
{
	uint32_t room = functions->room ? 2 * functions->room : 512;
	struct lx_function *items = realloc(functions->items, room * sizeof(*items));
	uint32_t *slots;

	if (!items)
		return -ENOMEM;
	functions->items = items;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(functions->slots);
	functions->slots = slots;
	functions->slot_count = 2 * room;
	functions->room = room;
	for (uint32_t i = 0; i < functions->count; i++)
		*find_slot(functions, items[i].lexgion) = i + 1;
	return 0;
}

static void classify(struct lx_function *function)
{
	const struct lx_lexgion *lexgion = function->lexgion;

	function->own = lexgion->domain != LX_DOMAIN_PYTHON || lx_program_owns(function->program, lexgion->file);
	function->import = lexgion->flags & LX_LEXGION_IMPORT || strncmp(lexgion->file, "<frozen importlib.", 18) == 0;
	function->module = strcmp(lexgion->name, "<module>") == 0;
}

static int add(struct lx_functions *functions, const struct lx_process *process, uint32_t id, uint32_t *number)
{
	const struct lx_lexgion *lexgion = lx_lexgion(process, id);
	uint32_t *slot;

	if (functions->count == functions->room && grow(functions) < 0)
		return -ENOMEM;
	slot = find_slot(functions, lexgion);
	if (!*slot) {
		struct lx_function *function = &functions->items[functions->count++];

		*slot = functions->count;
		*function = (struct lx_function){ .lexgion = lexgion,
						  .program = lx_functions_program(functions, process) };
		classify(function);
	}
	*number = *slot - 1;
	return 0;
}

int lx_functions_map(struct lx_functions *functions, const struct lx_process *process, uint32_t **map)
{
	*map = malloc((process->lexgion_count + 1) * sizeof(**map));
	if (!*map)
		return -ENOMEM;
	for (size_t id = 0; id <= process->lexgion_count; id++) {
		bool key = lx_lexgion(process, (uint32_t)id)->flags & LX_LEXGION_KEY; /* no place: nothing runs there */

		if (add(functions, process, key ? 0 : (uint32_t)id, &(*map)[id]) < 0)
			return -ENOMEM;
	}
	return 0;
}

const char *lx_function_name(struct lx_functions *functions, uint32_t number)
{
	struct lx_function *function = &functions->items[number];

	if (!function->name) {
		const struct lx_lexgion *lexgion = function->lexgion;
		size_t room = 4 * (size_t)lexgion->title_size + 1;

		function->name = malloc(room);
		if (!function->name)
			return "?";
		lx_escape(function->name, room, lexgion->title, lexgion->title_size);
	}
	return function->name;
}

static char *make_place(const struct lx_functions *functions, const struct lx_function *function)
{
	const struct lx_lexgion *lexgion = function->lexgion;
	const char *file = functions->full_paths ? lexgion->file : lx_program_short(function->program, lexgion->file);
	size_t size = lexgion->file_size - (size_t)(file - lexgion->file);
	size_t room = 4 * size + 16, used;
	char *place;

	if (lexgion->flags & LX_LEXGION_C)
		return strdup("C");
	place = malloc(room);
	if (!place)
		return NULL;
	used = lx_escape(place, room, file, size);
	if (size && lexgion->line)
		snprintf(place + used, room - used, ":%u", lexgion->line);
	return place;
}

const char *lx_function_place(struct lx_functions *functions, uint32_t number)
{
	struct lx_function *function = &functions->items[number];

	if (!function->place)
		function->place = make_place(functions, function);
	return function->place ? function->place : "";
}
