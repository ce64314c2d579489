/*
 * Aligned tables: cells are collected, then printed with one header line. On a terminal the columns that may shrink do
 * so until a row fits; in a pipe nothing is cut.
 */
#ifndef LX_CLI_TABLE_H
#define LX_CLI_TABLE_H

#include "cli/output.h"

enum lx_cell {
	LX_RIGHT,
	LX_LEFT,
	LX_NAME, /* left; shrinks in its middle, after the paths */
	LX_PATH, /* left; shrinks at its head */
};

#define LX_TABLE_COLUMNS 24

struct lx_table_cell {
	size_t text; /* offset */
	enum lx_style style;
};

struct lx_table {
	unsigned columns;
	const char *header[LX_TABLE_COLUMNS];
	enum lx_cell kind[LX_TABLE_COLUMNS];
	unsigned leaving[LX_TABLE_COLUMNS]; /* columns that leave a narrow terminal, the first one first */
	unsigned leaving_count;
	char *text; /* all cells, each with its NUL */
	size_t text_size, text_room;
	struct lx_table_cell *cells;
	size_t cell_count, cell_room;
	int error; /* 0 or -ENOMEM: later cells are left out */
};

/* `header` is not copied. All columns first, then cells. */
void lx_table_column(struct lx_table *table, const char *header, enum lx_cell kind);

/* Lets the column leave where the terminal is too narrow; those that were named before leave first. */
void lx_table_may_leave(struct lx_table *table, unsigned column);

/* The next cell; rows fill from left to right. */
void lx_table_add(struct lx_table *table, enum lx_style style, const char *text);
void lx_table_addf(struct lx_table *table, enum lx_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Empty cells up to column `column` (0-based) of the row, or up to the end of the row with `columns`. */
void lx_table_skip(struct lx_table *table, unsigned column);

/* Prints and frees. Returns 0 or -ENOMEM, then nothing was printed. */
int lx_table_print(struct lx_table *table, const struct lx_output *out);

#endif
