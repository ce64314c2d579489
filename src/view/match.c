/* Patterns on functions: what fits, and what is near when nothing does. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "view/functions.h"

#define NEAR_MAX 128 /* longer words are compared by their first characters */

/* The pattern fits the whole path, or its parts from some slash on. */
static bool matches_file(const char *file, const char *pattern)
{
	for (const char *at = file; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (fnmatch(pattern, at, FNM_NOESCAPE) == 0)
			return true;
	}
	return fnmatch(pattern, file, FNM_NOESCAPE) == 0;
}

bool lx_function_matches(const struct lx_functions *functions, uint32_t number, const char *pattern)
{
	const struct lx_lexgion *lexgion = functions->items[number].lexgion;
	const char *colon = strrchr(pattern, ':');
	char file[512];

	if (fnmatch(pattern, lexgion->name, FNM_NOESCAPE) == 0 || fnmatch(pattern, lexgion->title, FNM_NOESCAPE) == 0)
		return true;
	if (!colon || colon == pattern || (size_t)(colon - pattern) >= sizeof(file))
		return false;
	snprintf(file, sizeof(file), "%.*s", (int)(colon - pattern), pattern);
	return fnmatch(colon + 1, lexgion->name, FNM_NOESCAPE) == 0 && matches_file(lexgion->file, file);
}

/* Edit distance of two words in which a '*' of the pattern stands for anything and '?' for any character. */
static unsigned wildcard_distance(const char *pattern, const char *name)
{
	size_t pattern_size = strnlen(pattern, NEAR_MAX), name_size = strnlen(name, NEAR_MAX);
	unsigned rows[2][NEAR_MAX + 1];
	unsigned *last = rows[0], *row = rows[1];

	for (size_t j = 0; j <= name_size; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= pattern_size; i++) {
		char c = pattern[i - 1];
		unsigned *now = row;

		row[0] = last[0] + (c != '*');
		for (size_t j = 1; j <= name_size; j++) {
			unsigned changed = last[j - 1] + (c != '?' && c != name[j - 1]);
			unsigned left_out = last[j] + (c != '*'), added = row[j - 1] + (c != '*');

			row[j] = changed < left_out ? changed : left_out;
			if (added < row[j])
				row[j] = added;
		}
		row = last;
		last = now;
	}
	return last[name_size];
}

/* The whole name, or its last part: who types "run" may mean "Solver.run". */
static unsigned name_distance(const char *pattern, const char *name)
{
	const char *dot = strrchr(name, '.');
	unsigned whole = wildcard_distance(pattern, name);
	unsigned part = dot ? wildcard_distance(pattern, dot + 1) + 1 : whole;

	return part < whole ? part : whole;
}

static bool has_name(const struct lx_functions *functions, const uint32_t *found, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(functions->items[found[i]].lexgion->name, name) == 0)
			return true;
	return false;
}

uint32_t lx_functions_near(struct lx_functions *functions, const char *pattern, uint32_t *found, uint32_t count)
{
	const char *colon = strrchr(pattern, ':');
	const char *wanted = colon && colon[1] ? colon + 1 : pattern;
	unsigned limit = (unsigned)strlen(wanted) / 3 + 1, scores[8];
	uint32_t near = 0;

	if (count > 8)
		count = 8;
	for (uint32_t i = 0; i < functions->count; i++) {
		unsigned score = name_distance(wanted, functions->items[i].lexgion->name);
		uint32_t at = near < count ? near : count;

		if (score > limit || (at == count && score >= scores[count - 1]) ||
		    has_name(functions, found, near, functions->items[i].lexgion->name))
			continue;
		near += near < count;
		for (at = near - 1; at > 0 && scores[at - 1] > score; at--) {
			scores[at] = scores[at - 1];
			found[at] = found[at - 1];
		}
		scores[at] = score;
		found[at] = i;
	}
	return near;
}
