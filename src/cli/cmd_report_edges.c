/* Callers and callees of functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_report.h"
#include "cli/doubts.h"
#include "cli/progress.h"
#include "view/edges.h"

struct row {
	uint32_t function; /* NOBODY: the thread itself calls */
	struct lx_edge edge;
	bool recursion;    /* one of the chosen functions */
};

#define NOBODY UINT32_MAX

struct view {
	struct lx_report *report;
	struct lx_edges edges;
	bool callers;
	struct row *rows;
	size_t count, shown;
};

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->edge.total != y->edge.total)
		return x->edge.total < y->edge.total ? 1 : -1;
	if (x->edge.calls != y->edge.calls)
		return x->edge.calls < y->edge.calls ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int collect_rows(struct view *view)
{
	const struct lx_edges *edges = &view->edges;
	const struct lx_edge *from = view->callers ? edges->callers : edges->callees;
	uint64_t top = view->report->top;

	view->rows = malloc((edges->room + 1) * sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < edges->room; i++)
		if (from[i].calls || from[i].total > 0)
			view->rows[view->count++] = (struct row){ i, from[i], edges->chosen[i] };
	if (view->callers && (edges->top.calls || edges->top.total > 0))
		view->rows[view->count++] = (struct row){ NOBODY, edges->top, false };
	qsort(view->rows, view->count, sizeof(*view->rows), by_time);
	view->shown = top && top < view->count ? top : view->count;
	return 0;
}

/* "Solver.run  solver.py:41", or what the pattern names. */
static void print_title(const struct view *view)
{
	struct lx_report *report = view->report;
	struct lx_functions *functions = &report->pass.functions;
	const struct lx_edges *edges = &view->edges;
	char number[LX_NUMBER_SIZE], total[LX_NUMBER_SIZE], self[LX_NUMBER_SIZE];
	uint32_t one = 0;

	fprintf(report->out.file, "%s of ", view->callers ? "callers" : "callees");
	if (edges->chosen_count == 1) {
		while (!edges->chosen[one])
			one++;
		fprintf(report->out.file, "%s  %s", lx_function_name(functions, one), lx_function_place(functions, one));
	} else {
		fprintf(report->out.file, "%u functions that match %s", edges->chosen_count, edges->pattern);
	}
	fprintf(report->out.file, ": %s, %s in total (%.1f %%), %s in itself\n\n",
		lx_format_plural(number, sizeof(number), edges->calls, "call"),
		lx_format_seconds(total, sizeof(total), edges->total), lx_percent(edges->total, edges->all),
		lx_format_seconds(self, sizeof(self), edges->self));
}

static void add_row(struct view *view, struct lx_table *table, struct lx_unit unit, const struct row *row)
{
	struct lx_functions *functions = &view->report->pass.functions;
	char number[LX_NUMBER_SIZE];

	if (row->edge.total > 0) {
		lx_table_add(table, LX_PLAIN, lx_format_in_unit(number, sizeof(number), unit, row->edge.total));
		lx_table_addf(table, LX_PLAIN, "%.1f", lx_percent(row->edge.total, view->edges.total));
	} else { /* its time stands in other lines */
		lx_table_add(table, LX_DIM, "-");
		lx_table_add(table, LX_DIM, "-");
	}
	lx_table_add(table, LX_PLAIN, lx_format_count(number, sizeof(number), row->edge.calls));
	if (row->function == NOBODY) {
		lx_table_add(table, LX_DIM, "(begin of a thread or of the recording)");
		lx_table_add(table, LX_DIM, "");
	} else {
		lx_table_add(table, LX_BOLD, lx_function_name(functions, row->function));
		lx_table_add(table, LX_DIM, lx_function_place(functions, row->function));
	}
}

static void add_line(struct lx_table *table, struct lx_unit unit, double time, double whole, const char *text)
{
	char number[LX_NUMBER_SIZE];

	lx_table_add(table, LX_PLAIN, lx_format_in_unit(number, sizeof(number), unit, time));
	lx_table_addf(table, LX_PLAIN, "%.1f", lx_percent(time, whole));
	lx_table_add(table, LX_PLAIN, "");
	lx_table_add(table, LX_DIM, text);
	lx_table_add(table, LX_PLAIN, "");
}

static double largest_of(const struct view *view)
{
	double largest = view->callers ? 0 : view->edges.own;

	return view->count && view->rows[0].edge.total > largest ? view->rows[0].edge.total : largest;
}

static int print_edges(struct view *view)
{
	const struct lx_edges *edges = &view->edges;
	struct lx_unit unit = lx_unit_for(largest_of(view));
	struct lx_table table = { 0 };
	char header[16], text[100], number[LX_NUMBER_SIZE];
	double rest = 0;
	bool recursion = false;

	print_title(view);
	snprintf(header, sizeof(header), "time %s", unit.name);
	lx_table_column(&table, header, LX_RIGHT);
	lx_table_column(&table, "time %", LX_RIGHT);
	lx_table_column(&table, "calls", LX_RIGHT);
	lx_table_column(&table, view->callers ? "caller" : "callee", LX_NAME);
	lx_table_column(&table, "", LX_PATH);
	for (size_t i = 0; i < view->count; i++) {
		recursion = recursion || view->rows[i].recursion || !(view->rows[i].edge.total > 0);
		if (i < view->shown)
			add_row(view, &table, unit, &view->rows[i]);
		else
			rest += view->rows[i].edge.total;
	}
	if (view->shown < view->count) {
		lx_format_count(number, sizeof(number), view->count - view->shown);
		snprintf(text, sizeof(text), "%s more (--top 0 shows all)", number);
		add_line(&table, unit, rest, edges->total, text);
	}
	if (!view->callers)
		add_line(&table, unit, edges->own, edges->total, "(in itself)");
	if (lx_table_print(&table, &view->report->out) < 0)
		return -ENOMEM;
	if (recursion)
		fprintf(view->report->out.file,
			"\nrecursion: calls inside of %s are counted; their time stands in the line of the outermost call\n",
			edges->chosen_count == 1 ? "the function itself" : "these functions");
	lx_report_next(view->report, NULL);
	return LX_STATUS_OK;
}

static int json_edges(struct view *view)
{
	struct lx_json *js = &view->report->js;
	const struct lx_edges *edges = &view->edges;

	lx_json_key(js, "functions");
	lx_json_array(js);
	for (uint32_t i = 0; i < edges->room; i++) {
		if (!edges->chosen[i])
			continue;
		lx_json_object(js);
		lx_report_json_function(view->report, i);
		lx_json_object_end(js);
	}
	lx_json_array_end(js);
	lx_json_key(js, "function_calls");
	lx_json_u64(js, edges->calls);
	lx_json_key(js, "total_ns");
	lx_json_double(js, edges->total, 0);
	lx_json_key(js, "self_ns");
	lx_json_double(js, edges->self, 0);
	lx_json_key(js, view->callers ? "callers" : "callees");
	lx_json_array(js);
	for (size_t i = 0; i < view->shown; i++) {
		const struct row *row = &view->rows[i];

		lx_json_object(js);
		if (row->function != NOBODY)
			lx_report_json_function(view->report, row->function);
		lx_json_key(js, "calls");
		lx_json_u64(js, row->edge.calls);
		lx_json_key(js, "time_ns");
		lx_json_double(js, row->edge.total, 0);
		lx_json_key(js, "recursion");
		lx_json_bool(js, row->recursion);
		lx_json_object_end(js);
	}
	lx_json_array_end(js);
	return LX_STATUS_OK;
}

int lx_report_edges(struct lx_report *report)
{
	const char *pattern = report->callee_of ? report->callee_of : report->caller_of;
	struct view view = { .report = report,
			     .callers = report->callee_of,
			     .edges = { .pass = &report->pass, .pattern = pattern } };
	int status;

	lx_progress_begin(&report->pass);
	status = lx_edges_run(&view.edges);
	lx_progress_end();
	if (!status)
		status = collect_rows(&view);
	if (status)
		goto end;
	if (!view.edges.chosen_count && report->pass.functions.count > 1) {
		status = lx_say_no_match(&report->pass.functions, pattern);
		goto end;
	}
	if (!lx_report_has_callers(report, view.edges.all_calls)) {
		status = LX_STATUS_FAILED;
		goto end;
	}
	if (lx_report_begin(report, view.edges.all_calls, 0))
		status = report->json ? json_edges(&view) : print_edges(&view);
	status = lx_report_end(report, status);
end:
	free(view.rows);
	lx_edges_free(&view.edges);
	return status;
}
