#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2u
#define PAD_MAX 60u  /* a left column is not padded beyond: one long name would push all places out of sight */
#define PATH_MIN 12u /* a path cut to less says nothing: it is left out */
#define NAME_MIN 16u
#define GONE SIZE_MAX /* the width of a column that left */

void lx_table_column(struct lx_table *table, const char *header, enum lx_cell kind)
{
	if (table->columns < LX_TABLE_COLUMNS) {
		table->header[table->columns] = header;
		table->kind[table->columns++] = kind;
	}
}

void lx_table_may_leave(struct lx_table *table, unsigned column)
{
	if (table->leaving_count < LX_TABLE_COLUMNS)
		table->leaving[table->leaving_count++] = column;
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

/* Does nothing stand in the row after this cell? Then it may be as long as it likes. */
static bool is_last(const struct lx_table *table, const struct lx_table_cell *cells, unsigned at)
{
	for (unsigned i = at + 1; i < table->columns; i++)
		if (table->text[cells[i].text])
			return false;
	return true;
}

static void measure(const struct lx_table *table, size_t *widths)
{
	for (unsigned i = 0; i < table->columns; i++)
		widths[i] = lx_text_width(table->header[i]);
	for (size_t row = 0; row + table->columns <= table->cell_count; row += table->columns) {
		const struct lx_table_cell *cells = table->cells + row;

		for (unsigned i = 0; i < table->columns; i++) {
			size_t width = lx_text_width(table->text + cells[i].text);
			bool free = (table->kind[i] == LX_NAME || table->kind[i] == LX_LEFT) && is_last(table, cells, i);

			if (width > widths[i] && !free)
				widths[i] = width;
		}
	}
}

/* Takes columns of `kind` down, not below `least`, until the row fits. */
static void shrink(const struct lx_table *table, size_t *widths, size_t *total, size_t limit, enum lx_cell kind,
		   size_t least)
{
	for (unsigned i = 0; i < table->columns && *total > limit; i++) {
		size_t give = widths[i] > least ? widths[i] - least : 0;

		if (table->kind[i] != kind || widths[i] == GONE)
			continue;
		if (give > *total - limit)
			give = *total - limit;
		widths[i] -= give;
		*total -= give;
	}
}

/* What a row takes with all paths and names cut as far as they may be. */
static size_t least_width(const struct lx_table *table, const size_t *widths)
{
	size_t total = 0;

	for (unsigned i = 0; i < table->columns; i++) {
		if (widths[i] == GONE || table->kind[i] == LX_PATH)
			continue;
		total += table->kind[i] == LX_NAME && widths[i] > NAME_MIN ? NAME_MIN : widths[i];
		total += total ? GAP : 0;
	}
	return total;
}

/* Paths give way first, then the middle of names, then whole columns; a path with no room at all goes. */
static void fit(const struct lx_table *table, size_t *widths, size_t limit)
{
	size_t total = 0;

	for (unsigned i = 0; i < table->leaving_count && least_width(table, widths) > limit + GAP; i++)
		widths[table->leaving[i]] = GONE;
	for (unsigned i = 0; i < table->columns; i++)
		total += widths[i] == GONE ? 0 : widths[i] + (total ? GAP : 0);
	shrink(table, widths, &total, limit, LX_PATH, PATH_MIN);
	shrink(table, widths, &total, limit, LX_NAME, NAME_MIN);
	for (unsigned i = table->columns; i-- > 0 && total > limit;)
		if (table->kind[i] == LX_PATH && widths[i] != GONE) {
			total -= widths[i] + GAP;
			widths[i] = GONE;
		}
}

static void spaces(FILE *file, size_t count)
{
	fprintf(file, "%*s", (int)count, "");
}

struct line {
	const struct lx_output *out;
	size_t at;   /* columns printed, those included that are owed */
	size_t owed; /* blanks due before the next text: none stand at a line's end */
	char *cut;   /* room for any cell */
	size_t cut_size;
	char hintless[80];
};

/* "12 more (--top 0 shows all)": what to type goes before words are cut. */
static const char *without_hint(struct line *line, enum lx_style style, const char *text, size_t room)
{
	const char *hint = style == LX_DIM ? strstr(text, " (--") : NULL;

	if (!hint || lx_text_width(text) <= room)
		return text;
	snprintf(line->hintless, sizeof(line->hintless), "%.*s", (int)(hint - text), text);
	return line->hintless;
}

static void print_cell(struct line *line, enum lx_cell kind, size_t width, bool last, enum lx_style style, const char *text)
{
	const struct lx_output *out = line->out;
	size_t length, room = last && out->width > line->at + width ? out->width - line->at : width;

	if (out->width && kind == LX_PATH) {
		lx_text_cut_head(line->cut, line->cut_size, text, room);
		text = line->cut;
	} else if (out->width && kind != LX_RIGHT) {
		text = without_hint(line, style, text, room);
		lx_text_cut_middle(line->cut, line->cut_size, text, room);
		text = line->cut;
	}
	line->at += GAP;
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
	line->at += width;
}

/* cells NULL: the header. */
static void print_row(const struct lx_table *table, const struct lx_output *out, const size_t *widths,
		      const struct lx_table_cell *cells, char *cut, size_t cut_size)
{
	struct line line = { .out = out, .cut = cut, .cut_size = cut_size };

	for (unsigned i = 0; i < table->columns; i++) {
		if (widths[i] == GONE)
			continue;
		print_cell(&line, table->kind[i], widths[i], !cells || is_last(table, cells, i),
			   cells ? cells[i].style : LX_DIM, cells ? table->text + cells[i].text : table->header[i]);
	}
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
	print_row(table, out, widths, NULL, cut, cut_size);
	for (size_t row = 0; row + table->columns <= table->cell_count; row += table->columns)
		print_row(table, out, widths, table->cells + row, cut, cut_size);
end:
	free(cut);
	free(table->text);
	free(table->cells);
	*table = (struct lx_table){ 0 };
	return error;
}
