/* One-line messages on stderr, and the nearest right word for a wrong one. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

#define WORD_MAX 64 /* longer words are never near */

static bool colored(void)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDERR_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

void lx_error(const char *format, ...)
{
	char text[4096];
	const char *name = colored() ? "\033[31mlextrace:\033[0m" : "lextrace:";
	size_t used = (size_t)snprintf(text, sizeof(text), "%s ", name);
	size_t start = used;
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(text + used, sizeof(text) - used - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	used += (size_t)length < sizeof(text) - used - 1 ? (size_t)length : sizeof(text) - used - 2;
	for (size_t i = start; i < used; i++) /* words of the user stay on this line */
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = ' ';
	text[used++] = '\n';
	/* One write, so that lines of several processes do not mix. */
	if (write(STDERR_FILENO, text, used) < 0)
		return;
}

/* Edit distance in which two neighbours that changed places count once; upper and lower case are the same. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_size; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			size_t changed = strncasecmp(a + i - 1, b + j - 1, 1) != 0;
			size_t best = last[j - 1] + changed;

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		size_t *oldest = before;

		before = last;
		last = row;
		row = oldest;
	}
	return last[b_size];
}

const char *lx_nearest(const char *word, const char *const *names, size_t count)
{
	size_t size = strlen(word);
	const char *nearest = NULL;
	size_t limit = size / 3 + 1; /* farther ones are other words */

	for (size_t i = 0; i < count && size <= WORD_MAX; i++) {
		size_t name_size = strlen(names[i]);
		size_t shorter = size < name_size ? size : name_size;

		if (name_size > WORD_MAX)
			continue;
		size_t found = distance(word, size, names[i], name_size);

		if (found < limit + !nearest && found <= limit && found < shorter) {
			nearest = names[i];
			limit = found;
		}
	}
	return nearest;
}
