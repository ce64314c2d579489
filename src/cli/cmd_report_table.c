/* The table of functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_report.h"
#include "cli/doubts.h"
#include "cli/progress.h"

enum column { SELF, SELF_SHARE, TOTAL, TOTAL_SHARE, CALLS, MEAN, P50, P90, P95, P99, P999, MAX, NAME, PLACE, COLUMN_COUNT };

/* In the order of enum column. Sums get the unit of the whole table after their header. */
static const struct {
	const char *key, *header;
	enum lx_cell cell;
	double quantile; /* of the durations; 0: none */
} columns[COLUMN_COUNT] = {
	{ "self", "self", LX_RIGHT, 0 },
	{ "self%", "self %", LX_RIGHT, 0 },
	{ "total", "total", LX_RIGHT, 0 },
	{ "total%", "total %", LX_RIGHT, 0 },
	{ "calls", "calls", LX_RIGHT, 0 },
	{ "mean", "mean", LX_RIGHT, 0 },
	{ "p50", "p50", LX_RIGHT, 0.5 },
	{ "p90", "p90", LX_RIGHT, 0.9 },
	{ "p95", "p95", LX_RIGHT, 0.95 },
	{ "p99", "p99", LX_RIGHT, 0.99 },
	{ "p99.9", "p99.9", LX_RIGHT, 0.999 },
	{ "max", "max", LX_RIGHT, 0 },
	{ "name", "function", LX_NAME, 0 },
	{ "place", "", LX_PATH, 0 },
};

static const char default_columns[] = "self,self%,total,total%,calls,mean,p99,max,name,place";

struct row {
	uint32_t function;
	double key;
	uint64_t self;
	const char *name;
};

struct view {
	struct lx_report *report;
	struct lx_stats stats;
	struct row *rows;
	size_t row_count, shown;
	enum column columns[LX_TABLE_COLUMNS];
	unsigned column_count;
	struct lx_unit unit;
	char headers[2][16]; /* of the sums */
	struct lx_table table;
};

static enum column column_named(const char *key, size_t size)
{
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		if (strlen(columns[i].key) == size && memcmp(columns[i].key, key, size) == 0)
			return (enum column)i;
	return COLUMN_COUNT;
}

/* The keys were checked when the options were read. */
static void choose_columns(struct view *view)
{
	const char *list = view->report->columns ? view->report->columns : default_columns;

	while (*list && view->column_count < LX_TABLE_COLUMNS) {
		size_t size = strcspn(list, ",");
		enum column column = column_named(list, size);

		if (column != COLUMN_COUNT)
			view->columns[view->column_count++] = column;
		list += size + (list[size] == ',');
	}
}

static uint64_t timed_calls(const struct lx_stat *stat)
{
	return stat->calls - stat->points;
}

static double mean_of(const struct lx_stat *stat)
{
	return timed_calls(stat) ? (double)stat->self / (double)timed_calls(stat) : 0;
}

static double key_of(const struct lx_stat *stat, enum column sort)
{
	switch (sort) {
	case SELF:
		return (double)stat->self;
	case TOTAL:
		return (double)stat->total;
	case CALLS:
		return (double)stat->calls;
	case MEAN:
		return mean_of(stat);
	case MAX:
		return (double)stat->max;
	case NAME:
		return 0;
	default:
		return (double)lx_histogram_quantile(&stat->durations, columns[sort].quantile, stat->max);
	}
}

/* Of calls that were only counted no duration is known; of those of which one event was written no time at all. */
static bool is_known(const struct lx_stat *stat, enum column column)
{
	if (column == CALLS || column == NAME || column == PLACE || stat->slices)
		return true;
	return stat->counted && column != MAX && !(columns[column].quantile > 0);
}

/* Falling by the key, then by self time, then by name; function numbers make the order whole. */
static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int names;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	if (x->name && (names = strcmp(x->name, y->name)) != 0)
		return names;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int collect_rows(struct view *view)
{
	struct lx_report *report = view->report;
	struct lx_functions *functions = &report->pass.functions;
	enum column sort = column_named(report->sort, strlen(report->sort));

	view->rows = malloc((view->stats.called + 1) * sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < functions->count; i++) {
		const struct lx_stat *stat = &view->stats.functions[i];

		if (!lx_stat_called(stat) || (report->match && !lx_function_matches(functions, i, report->match)))
			continue;
		view->rows[view->row_count++] = (struct row){ i, is_known(stat, sort) ? key_of(stat, sort) : -1, stat->self,
							      sort == NAME ? functions->items[i].lexgion->title : NULL };
	}
	qsort(view->rows, view->row_count, sizeof(*view->rows), by_key);
	view->shown = report->top && report->top < view->row_count ? report->top : view->row_count;
	return 0;
}

static void add_duration(struct lx_table *table, double ns, bool known)
{
	char number[LX_NUMBER_SIZE];

	lx_table_add(table, LX_PLAIN, known ? lx_format_duration(number, sizeof(number), ns) : "");
}

static void add_cell(struct view *view, const struct row *row, enum column column)
{
	const struct lx_stat *stat = &view->stats.functions[row->function];
	struct lx_functions *functions = &view->report->pass.functions;
	double self = lx_percent((double)stat->self, (double)view->stats.self);
	char number[LX_NUMBER_SIZE];

	if (!is_known(stat, column)) {
		lx_table_add(&view->table, LX_DIM, "-");
		return;
	}
	switch (column) {
	case SELF:
		lx_table_add(&view->table, lx_report_heat(self),
			     lx_format_in_unit(number, sizeof(number), view->unit, (double)stat->self));
		break;
	case SELF_SHARE:
		lx_table_addf(&view->table, lx_report_heat(self), "%.1f", self);
		break;
	case TOTAL:
		lx_table_add(&view->table, LX_PLAIN,
			     lx_format_in_unit(number, sizeof(number), view->unit, (double)stat->total));
		break;
	case TOTAL_SHARE:
		lx_table_addf(&view->table, LX_PLAIN, "%.1f", lx_percent((double)stat->total, (double)view->stats.self));
		break;
	case CALLS:
		lx_table_add(&view->table, LX_PLAIN, lx_format_count(number, sizeof(number), stat->calls));
		break;
	case MEAN:
		add_duration(&view->table, mean_of(stat), timed_calls(stat));
		break;
	case NAME:
		lx_table_add(&view->table, LX_BOLD, lx_function_name(functions, row->function));
		break;
	case PLACE:
		lx_table_add(&view->table, LX_DIM, lx_function_place(functions, row->function));
		break;
	default:
		add_duration(&view->table, key_of(stat, column), true);
	}
}

/* A line for what has no function of its own here: self time, share, and words where the names stand. */
static void add_line(struct view *view, double self, const char *text)
{
	char number[LX_NUMBER_SIZE];

	for (unsigned i = 0; i < view->column_count; i++) {
		if (view->columns[i] == SELF)
			lx_table_add(&view->table, LX_PLAIN, lx_format_in_unit(number, sizeof(number), view->unit, self));
		else if (view->columns[i] == SELF_SHARE)
			lx_table_addf(&view->table, LX_PLAIN, "%.1f", lx_percent(self, (double)view->stats.self));
		else
			lx_table_add(&view->table, LX_DIM, view->columns[i] == NAME ? text : "");
	}
}

/* What the rows leave out, so that the shares add up. */
static void add_rest(struct view *view)
{
	const struct lx_report *report = view->report;
	uint64_t cut = 0, shown = 0, others = view->stats.called - view->row_count;
	char count[LX_NUMBER_SIZE], text[600];

	for (size_t i = 0; i < view->row_count; i++)
		*(i < view->shown ? &shown : &cut) += view->rows[i].self;
	if (view->shown < view->row_count) {
		lx_format_count(count, sizeof(count), view->row_count - view->shown);
		snprintf(text, sizeof(text), "%s more function%s (--top 0 shows all)", count,
			 view->row_count - view->shown == 1 ? "" : "s");
		add_line(view, (double)cut, text);
	}
	if (others) {
		lx_format_count(count, sizeof(count), others);
		snprintf(text, sizeof(text), "%s function%s that do%s not match %s", count, others == 1 ? "" : "s",
			 others == 1 ? "es" : "", report->match);
		add_line(view, (double)(view->stats.self - view->stats.outside - cut - shown), text);
	}
	if (view->stats.outside)
		add_line(view, (double)view->stats.outside, "not called by the program's own code");
}

static void say_folded(const struct view *view)
{
	const struct lx_stats *stats = &view->stats;
	char time[LX_NUMBER_SIZE];

	if (!stats->own)
		return;
	fprintf(view->report->out.file,
		"\nfolded: %s, %.1f %% of the time, in libraries and code made at run time, stands in their callers' lines\n",
		lx_format_seconds(time, sizeof(time), (double)stats->folded),
		lx_percent((double)stats->folded, (double)stats->self));
}

/* On a narrow terminal the columns that say least go, unless the user chose them. */
static void let_columns_leave(struct view *view)
{
	static const enum column order[] = { TOTAL, MEAN, P99, MAX, TOTAL_SHARE, CALLS };

	for (size_t n = 0; !view->report->columns && n < sizeof(order) / sizeof(order[0]); n++)
		for (unsigned i = 0; i < view->column_count; i++)
			if (view->columns[i] == order[n])
				lx_table_may_leave(&view->table, i);
}

/* By the largest figure of the functions shown: what is summed up below would give small ones no digits. */
static void choose_unit(struct view *view)
{
	uint64_t largest = 0;

	for (size_t row = 0; row < view->shown; row++) {
		const struct lx_stat *stat = &view->stats.functions[view->rows[row].function];

		for (unsigned i = 0; i < view->column_count; i++) {
			uint64_t time = view->columns[i] == SELF ? stat->self : view->columns[i] == TOTAL ? stat->total : 0;

			largest = time > largest ? time : largest;
		}
	}
	view->unit = lx_unit_for((double)largest);
}

static int print_table(struct view *view)
{
	struct lx_report *report = view->report;
	int error;

	choose_unit(view);
	snprintf(view->headers[0], sizeof(view->headers[0]), "self %s", view->unit.name);
	snprintf(view->headers[1], sizeof(view->headers[1]), "total %s", view->unit.name);
	for (unsigned i = 0; i < view->column_count; i++) {
		enum column column = view->columns[i];

		lx_table_column(&view->table,
				column == SELF ? view->headers[0] : column == TOTAL ? view->headers[1] : columns[column].header,
				columns[column].cell);
	}
	let_columns_leave(view);
	for (size_t row = 0; row < view->shown; row++)
		for (unsigned i = 0; i < view->column_count; i++)
			add_cell(view, &view->rows[row], view->columns[i]);
	add_rest(view);
	error = lx_table_print(&view->table, &report->out);
	if (error)
		return error;
	say_folded(view);
	lx_report_next(report, view->shown ? lx_function_name(&report->pass.functions, view->rows[0].function) : NULL);
	return LX_STATUS_OK;
}

static void json_row(struct view *view, const struct row *row)
{
	const struct lx_stat *stat = &view->stats.functions[row->function];
	struct lx_json *js = &view->report->js;
	char key[16];

	lx_json_object(js);
	lx_report_json_function(view->report, row->function);
	lx_json_key(js, "calls");
	lx_json_u64(js, stat->calls);
	lx_json_key(js, "counted");
	lx_json_u64(js, stat->counted);
	lx_json_key(js, "slices");
	lx_json_u64(js, stat->slices);
	if (stat->points) {
		lx_json_key(js, "points");
		lx_json_u64(js, stat->points);
	}
	lx_json_key(js, "self_ns");
	lx_json_u64(js, stat->self);
	lx_json_key(js, "total_ns");
	lx_json_u64(js, stat->total);
	lx_json_key(js, "mean_self_ns");
	lx_json_double(js, mean_of(stat), 1);
	for (enum column i = P50; i <= MAX; i++) {
		snprintf(key, sizeof(key), "%s_ns", i == P999 ? "p999" : columns[i].key);
		lx_json_key(js, key);
		if (is_known(stat, i))
			lx_json_u64(js, (uint64_t)key_of(stat, i));
		else
			lx_json_null(js);
	}
	lx_json_object_end(js);
}

static void json_table(struct view *view)
{
	struct lx_json *js = &view->report->js;
	uint64_t shown = 0;

	lx_json_key(js, "time_ns");
	lx_json_u64(js, view->stats.self);
	if (view->stats.own) {
		lx_json_key(js, "folded_ns");
		lx_json_u64(js, view->stats.folded);
		lx_json_key(js, "not_called_by_own_ns");
		lx_json_u64(js, view->stats.outside);
	}
	lx_json_key(js, "functions");
	lx_json_array(js);
	for (size_t row = 0; row < view->shown; row++) {
		json_row(view, &view->rows[row]);
		shown += view->rows[row].self;
	}
	lx_json_array_end(js);
	lx_json_key(js, "others");
	lx_json_object(js);
	lx_json_key(js, "functions");
	lx_json_u64(js, view->stats.called - view->shown);
	lx_json_key(js, "self_ns");
	lx_json_u64(js, view->stats.self - view->stats.outside - shown);
	lx_json_object_end(js);
}

int lx_report_table(struct lx_report *report)
{
	struct view view = { .report = report, .stats = { .pass = &report->pass, .own = report->own } };
	int status;

	lx_progress_begin(&report->pass);
	status = lx_stats_run(&view.stats);
	lx_progress_end();
	if (!status)
		status = collect_rows(&view);
	if (status)
		goto end;
	if (report->match && !view.row_count) {
		status = lx_say_no_match(&report->pass.functions, report->match);
		goto end;
	}
	choose_columns(&view);
	report->counted = view.stats.counted;
	if (lx_report_begin(report, view.stats.calls, view.stats.called)) {
		if (report->json)
			json_table(&view);
		else
			status = print_table(&view);
	}
	status = lx_report_end(report, status);
end:
	free(view.rows);
	lx_stats_free(&view.stats);
	return status;
}
