/*
 * How answers reach the user: terminal or pipe, colour, pager, width, units. Begin once before the first line of an
 * answer and end once after the last. Messages go through lx_error (cli.h) and need none of this.
 */
#ifndef LX_CLI_OUTPUT_H
#define LX_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/numbers.h"

enum lx_style {
	LX_PLAIN,
	LX_BOLD,
	LX_DIM,
	LX_RED,
	LX_YELLOW,
	LX_GREEN,
	LX_MAGENTA,
	LX_CYAN,
};

struct lx_output {
	FILE *file;
	bool terminal;
	bool color;
	unsigned width; /* columns of the terminal; 0: a pipe or file, nothing is cut */
};

/*
 * color: "always", "never", or "auto" (NULL too). With `pager`, a terminal gets $PAGER or `less -FRX`. A closed pipe ends
 * the program quietly from here on. Call it when the answer is ready: a message after it may be below the pager.
 */
void lx_output_begin(struct lx_output *out, const char *color, bool pager);

/* Flushes, waits for the pager. Returns `status`, or LX_STATUS_FAILED after a message when the output was not written. */
int lx_output_end(struct lx_output *out, int status);

/* Escape codes; "" where there is no colour. */
const char *lx_style(const struct lx_output *out, enum lx_style style);
const char *lx_style_end(const struct lx_output *out, enum lx_style style);

/* One unit for a column of sums: s, ms or us, so that `largest` ns has a digit before the point. */
struct lx_unit {
	const char *name;
	double ns;
};
struct lx_unit lx_unit_for(double largest);

/* "12.345": three decimals, or as many as show the first digit of what is less: only 0 is "0.000". Returns out. */
char *lx_format_in_unit(char *out, size_t size, struct lx_unit unit, double ns);

/* Columns that UTF-8 text takes on a terminal: wide characters count 2, combining ones 0. */
size_t lx_text_width(const char *text);

/* Bytes of the longest head of text that fits into `columns`. */
size_t lx_text_fit(const char *text, size_t columns);

/* Copies text, cut to `columns` with "…": at the head (paths keep their tail) or in the middle (names). */
void lx_text_cut_head(char *out, size_t size, const char *text, size_t columns);
void lx_text_cut_middle(char *out, size_t size, const char *text, size_t columns);

#endif
