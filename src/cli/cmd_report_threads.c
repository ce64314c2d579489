/* Tables by thread and by process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cmd_report.h"
#include "cli/progress.h"

struct row {
	const struct lx_process *process;
	const struct lx_thread_info *thread; /* NULL: a whole process */
	uint32_t threads;
	uint64_t calls, busy; /* ns */
	uint64_t first, last; /* realtime ns; 0: not known */
};

struct view {
	struct lx_report *report;
	struct lx_stats stats;
	struct row *rows;
	size_t count, shown;
	uint64_t busy;        /* of all rows */
	struct lx_unit unit, axis; /* of sums; of moments */
	struct lx_table table;
	char header[16], from[16], to[16];
};

static int by_busy(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void collect_threads(struct view *view)
{
	for (size_t i = 0; i < view->stats.thread_count; i++) {
		const struct lx_thread_stat *stat = &view->stats.threads[i];

		view->rows[view->count++] = (struct row){ stat->process, stat->thread, 1, stat->calls, stat->busy,
							  stat->first, stat->last };
	}
}

static void collect_processes(struct view *view)
{
	const struct lx_trace *trace = view->report->pass.trace;

	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];
		const struct lx_process_stat *stat = &view->stats.processes[i];

		if (!process->blank && lx_pass_has_process(&view->report->pass, process))
			view->rows[view->count++] = (struct row){ process, NULL, stat->threads, stat->calls, stat->busy,
								  lx_real_ns(process, process->first),
								  lx_real_ns(process, process->last) };
	}
}

static int collect_rows(struct view *view)
{
	struct lx_report *report = view->report;
	size_t room = view->stats.thread_count + report->pass.trace->process_count;

	view->rows = malloc((room + 1) * sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	if (report->threads)
		collect_threads(view);
	else
		collect_processes(view);
	for (size_t i = 0; i < view->count; i++)
		view->busy += view->rows[i].busy;
	qsort(view->rows, view->count, sizeof(*view->rows), by_busy);
	view->shown = report->top && report->top < view->count ? report->top : view->count;
	view->unit = lx_unit_for(view->count ? (double)view->rows[0].busy : 0);
	view->axis = lx_unit_for((double)(report->pass.trace->last - report->pass.trace->first));
	return 0;
}

static double since_start(const struct view *view, uint64_t real)
{
	uint64_t first = view->report->pass.trace->first;

	return real > first ? (double)(real - first) / view->axis.ns : 0;
}

static void add_moment(struct view *view, uint64_t real)
{
	if (real)
		lx_table_addf(&view->table, LX_PLAIN, "%.3f", since_start(view, real));
	else
		lx_table_add(&view->table, LX_DIM, "-");
}

static void add_figures(struct view *view, uint64_t busy, uint64_t calls)
{
	char number[LX_NUMBER_SIZE];

	lx_table_add(&view->table, LX_PLAIN, lx_format_in_unit(number, sizeof(number), view->unit, (double)busy));
	lx_table_addf(&view->table, LX_PLAIN, "%.1f", lx_percent((double)busy, (double)view->busy));
	lx_table_add(&view->table, LX_PLAIN, lx_format_count(number, sizeof(number), calls));
}

static void add_row(struct view *view, const struct row *row)
{
	const struct lx_program *program = lx_functions_program(&view->report->pass.functions, row->process);
	char text[4 * LX_THREAD_NAME_SIZE + 1];

	add_figures(view, row->busy, row->calls);
	add_moment(view, row->first);
	add_moment(view, row->last);
	lx_table_addf(&view->table, LX_PLAIN, "%u", row->process->state.pid);
	if (row->thread) {
		bool named = row->thread->name[0];

		lx_table_addf(&view->table, LX_PLAIN, "%u", row->thread->number);
		lx_escape(text, sizeof(text), row->thread->name, strlen(row->thread->name));
		lx_table_add(&view->table, named ? LX_BOLD : LX_DIM, named ? text : "-");
		lx_table_add(&view->table, LX_DIM, program->name);
		return;
	}
	lx_table_addf(&view->table, LX_PLAIN, "%u", row->process->state.parent_pid);
	lx_table_addf(&view->table, LX_PLAIN, "%u", row->threads);
	lx_table_add(&view->table, LX_PLAIN, lx_process_ended(row->process, text, sizeof(text)));
	lx_table_add(&view->table, row->process->lost_total ? LX_RED : LX_PLAIN,
		     lx_format_count(text, sizeof(text), row->process->lost_total));
	lx_table_add(&view->table, LX_BOLD, program->command);
}

static void add_columns(struct view *view)
{
	static const struct {
		const char *header;
		enum lx_cell cell;
	} of_threads[] = { { "thread", LX_RIGHT }, { "name", LX_NAME }, { "program", LX_PATH } },
	  of_processes[] = { { "parent", LX_RIGHT },
			     { "threads", LX_RIGHT },
			     { "ended", LX_LEFT },
			     { "lost", LX_RIGHT },
			     { "command", LX_NAME } };

	snprintf(view->header, sizeof(view->header), "time %s", view->unit.name);
	lx_table_column(&view->table, view->header, LX_RIGHT);
	lx_table_column(&view->table, "time %", LX_RIGHT);
	lx_table_column(&view->table, "calls", LX_RIGHT);
	snprintf(view->from, sizeof(view->from), "from %s", view->axis.name);
	snprintf(view->to, sizeof(view->to), "to %s", view->axis.name);
	lx_table_column(&view->table, view->from, LX_RIGHT);
	lx_table_column(&view->table, view->to, LX_RIGHT);
	lx_table_column(&view->table, "process", LX_RIGHT);
	if (view->report->threads)
		for (size_t i = 0; i < sizeof(of_threads) / sizeof(of_threads[0]); i++)
			lx_table_column(&view->table, of_threads[i].header, of_threads[i].cell);
	else
		for (size_t i = 0; i < sizeof(of_processes) / sizeof(of_processes[0]); i++)
			lx_table_column(&view->table, of_processes[i].header, of_processes[i].cell);
}

static int print_rows(struct view *view)
{
	uint64_t busy = 0, calls = 0;
	char number[LX_NUMBER_SIZE];

	add_columns(view);
	for (size_t i = 0; i < view->count; i++) {
		if (i < view->shown) {
			add_row(view, &view->rows[i]);
		} else {
			busy += view->rows[i].busy;
			calls += view->rows[i].calls;
		}
	}
	if (view->shown < view->count) {
		add_figures(view, busy, calls);
		lx_table_skip(&view->table, view->report->threads ? view->table.columns - 2 : view->table.columns - 1);
		lx_format_count(number, sizeof(number), view->count - view->shown);
		lx_table_addf(&view->table, LX_DIM, "%s more (--top 0 shows all)", number);
		lx_table_skip(&view->table, view->table.columns);
	}
	if (lx_table_print(&view->table, &view->report->out) < 0)
		return -ENOMEM;
	lx_report_next(view->report, NULL);
	return LX_STATUS_OK;
}

static void json_moment(struct lx_json *js, const char *key, const struct lx_trace *trace, uint64_t real)
{
	lx_json_key(js, key);
	if (real)
		lx_json_u64(js, real - trace->first);
	else
		lx_json_null(js);
}

static void json_row(struct view *view, const struct row *row)
{
	const struct lx_program *program = lx_functions_program(&view->report->pass.functions, row->process);
	const struct lx_trace *trace = view->report->pass.trace;
	struct lx_json *js = &view->report->js;
	char ended[16];

	lx_json_object(js);
	lx_json_key(js, "pid");
	lx_json_u64(js, row->process->state.pid);
	lx_json_key(js, "folder");
	lx_json_string(js, row->process->name);
	if (row->thread) {
		lx_json_key(js, "thread");
		lx_json_u64(js, row->thread->number);
		lx_json_key(js, "tid");
		lx_json_u64(js, row->thread->tid);
		lx_json_key(js, "name");
		lx_json_string(js, row->thread->name);
	} else {
		lx_json_key(js, "parent_pid");
		lx_json_u64(js, row->process->state.parent_pid);
		lx_json_key(js, "threads");
		lx_json_u64(js, row->threads);
		lx_json_key(js, "ended");
		lx_json_string(js, lx_process_ended(row->process, ended, sizeof(ended)));
		lx_json_key(js, "lost_events");
		lx_json_u64(js, row->process->lost_total);
		lx_json_key(js, "command");
		lx_json_string(js, program->command);
	}
	lx_json_key(js, "time_ns");
	lx_json_u64(js, row->busy);
	lx_json_key(js, "calls");
	lx_json_u64(js, row->calls);
	json_moment(js, "from_ns", trace, row->first);
	json_moment(js, "to_ns", trace, row->last);
	lx_json_object_end(js);
}

static int json_rows(struct view *view)
{
	struct lx_json *js = &view->report->js;

	lx_json_key(js, "time_ns");
	lx_json_u64(js, view->busy);
	lx_json_key(js, view->report->threads ? "by_thread" : "by_process");
	lx_json_array(js);
	for (size_t i = 0; i < view->shown; i++)
		json_row(view, &view->rows[i]);
	lx_json_array_end(js);
	return LX_STATUS_OK;
}

int lx_report_threads(struct lx_report *report)
{
	struct view view = { .report = report, .stats = { .pass = &report->pass } };
	int status;

	lx_progress_begin(&report->pass);
	status = lx_stats_run(&view.stats);
	lx_progress_end();
	if (!status)
		status = collect_rows(&view);
	if (status)
		goto end;
	report->counted = view.stats.counted;
	if (lx_report_begin(report, view.stats.calls, 0))
		status = report->json ? json_rows(&view) : print_rows(&view);
	status = lx_report_end(report, status);
end:
	free(view.rows);
	lx_stats_free(&view.stats);
	return status;
}
