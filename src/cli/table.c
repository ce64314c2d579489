#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2u
#define PAD_MAX 60u  /* a left column is not padded beyond: one long name would push all places out of sight */
#define PATH_MIN 12u /* a path cut to less says nothing: it is left out */
#define NAME_MIN 16u

void lx_table_column(struct lx_table *table, const char *header, enum lx_cell kind)
{
	if (table->columns < LX_TABLE_COLUMNS) {
		table->header[table->columns] = header;
		table->kind[table->columns++] = kind;
	}
}

static void *grow(void *old, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 256;
	void *now;

	while (wanted < need)
		wanted *= 2;
	now = realloc(old, wanted * size);
	if (now)
		*room = wanted;
	return now;
}

void lx_table_add(struct lx_table *table, enum lx_style style, const char *text)
{
	size_t size = strlen(text) + 1;

	if (table->error)
		return;
	if (table->text_size + size > table->text_room) {
		char *now = grow(table->text, &table->text_room, table->text_size + size, 1);

		if (now)
			table->text = now;
		else
			table->error = -ENOMEM;
	}
	if (table->cell_count == table->cell_room) {
		struct lx_table_cell *now = grow(table->cells, &table->cell_room, table->cell_count + 1, sizeof(*now));

		if (now)
			table->cells = now;
		else
			table->error = -ENOMEM;
	}
	if (table->error)
		return;
	memcpy(table->text + table->text_size, text, size);
	table->cells[table->cell_count++] = (struct lx_table_cell){ table->text_size, style };
	table->text_size += size;
}

void lx_table_addf(struct lx_table *table, enum lx_style style, const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	lx_table_add(table, style, text);
}

void lx_table_skip(struct lx_table *table, unsigned column)
{
	for (unsigned at = (unsigned)(table->cell_count % table->columns); at < column && !table->error; at++)
		lx_table_add(table, LX_PLAIN, "");
}

static void measure(const struct lx_table *table, size_t *widths)
{
	for (unsigned i = 0; i < table->columns; i++)
		widths[i] = lx_text_width(table->header[i]);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = lx_text_width(table->text + table->cells[i].text);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
}

/* Takes columns of `kind` down, not below `least`, until the row fits. */
static void shrink(const struct lx_table *table, size_t *widths, size_t *total, size_t limit, enum lx_cell kind,
		   size_t least)
{
	for (unsigned i = 0; i < table->columns && *total > limit; i++) {
		size_t give = widths[i] > least ? widths[i] - least : 0;

		if (table->kind[i] != kind)
			continue;
		if (give > *total - limit)
			give = *total - limit;
		widths[i] -= give;
		*total -= give;
	}
}

/* Paths first, then the middle of names; a path with no room at all goes. */
static void fit(const struct lx_table *table, size_t *widths, size_t limit)
{
	size_t total = 0;

	for (unsigned i = 0; i < table->columns; i++)
		total += widths[i] + (i ? GAP : 0);
	shrink(table, widths, &total, limit, LX_PATH, PATH_MIN);
	shrink(table, widths, &total, limit, LX_NAME, NAME_MIN);
	for (unsigned i = table->columns; i-- > 0 && total > limit;)
		if (table->kind[i] == LX_PATH) {
			total -= widths[i] + GAP;
			widths[i] = 0;
		}
}

static void spaces(FILE *file, size_t count)
{
	fprintf(file, "%*s", (int)count, "");
}

struct line {
	const struct lx_output *out;
	size_t owed; /* blanks due before the next text: none stand at a line's end */
};

static void print_cell(struct line *line, enum lx_cell kind, size_t width, enum lx_style style, const char *text,
		       char *cut, size_t cut_size)
{
	const struct lx_output *out = line->out;
	size_t length;

	if (out->width && kind == LX_PATH) {
		lx_text_cut_head(cut, cut_size, width ? text : "", width);
		text = cut;
	} else if (out->width && kind == LX_NAME) {
		lx_text_cut_middle(cut, cut_size, text, width);
		text = cut;
	}
	length = lx_text_width(text);
	if (kind == LX_RIGHT && width > length)
		line->owed += width - length;
	if (*text) {
		spaces(out->file, line->owed);
		line->owed = 0;
		fprintf(out->file, "%s%s%s", lx_style(out, style), text, lx_style_end(out, style));
	}
	if (kind != LX_RIGHT) {
		size_t pad = !out->width && width > PAD_MAX ? PAD_MAX : width;

		line->owed += pad > length ? pad - length : 0;
	}
	line->owed += GAP;
}

/* cells NULL: the header. */
static void print_row(const struct lx_table *table, const struct lx_output *out, const size_t *widths,
		      const struct lx_table_cell *cells, unsigned count, char *cut, size_t cut_size)
{
	struct line line = { out, 0 };

	for (unsigned i = 0; i < count; i++)
		print_cell(&line, table->kind[i], widths[i], cells ? cells[i].style : LX_DIM,
			   cells ? table->text + cells[i].text : table->header[i], cut, cut_size);
	putc('\n', out->file);
}

int lx_table_print(struct lx_table *table, const struct lx_output *out)
{
	size_t widths[LX_TABLE_COLUMNS];
	size_t cut_size = table->text_size + 16;
	char *cut = malloc(cut_size);
	int error = cut ? table->error : -ENOMEM;

	if (error)
		goto end;
	measure(table, widths);
	if (out->width)
		fit(table, widths, out->width);
	print_row(table, out, widths, NULL, table->columns, cut, cut_size);
	for (size_t at = 0; at < table->cell_count; at += table->columns) {
		size_t left = table->cell_count - at;

		print_row(table, out, widths, table->cells + at,
			  left < table->columns ? (unsigned)left : table->columns, cut, cut_size);
	}
end:
	free(cut);
	free(table->text);
	free(table->cells);
	*table = (struct lx_table){ 0 };
	return error;
}
