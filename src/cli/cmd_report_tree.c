/* The call tree: chains on one line, small parts summed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_report.h"
#include "cli/doubts.h"
#include "cli/progress.h"
#include "view/tree.h"

#define PLACE_MIN 12u /* a place cut to less says nothing */

/* Text that grows. */
struct text {
	char *bytes;
	size_t size, room;
};

struct view {
	struct lx_report *report;
	const struct lx_tree *tree;
	double least;        /* ns; smaller nodes are summed */
	struct lx_unit unit;
	struct lx_table table;
	struct text prefix;  /* the branches left of a line */
	bool failed;         /* no memory */
	const char *tee, *corner, *bar, *loop, *dots;
};

/* Children of one line, sorted out. */
struct children {
	uint32_t *shown;     /* largest first */
	uint32_t count;
	uint64_t calls;      /* of the rest: small ones, or those too deep */
	double time;
	bool rest, deep;
};

static void append(struct view *view, struct text *text, const char *more)
{
	size_t size = strlen(more);

	if (text->size + size + 1 > text->room) {
		size_t room = 2 * text->room + size + 128;
		char *now = realloc(text->bytes, room);

		if (!now) {
			view->failed = true;
			return;
		}
		text->bytes = now;
		text->room = room;
	}
	memcpy(text->bytes + text->size, more, size + 1);
	text->size += size;
}

static int by_total(const void *a, const void *b, void *context)
{
	const struct lx_node *nodes = context;
	const struct lx_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Adds the siblings from `first` on, which stand on level `level`, to what was found before of the rest. */
static void sort_out(struct view *view, uint32_t first, uint32_t level, struct children *children)
{
	struct lx_node *nodes = view->tree->nodes;
	bool deep = view->report->depth && level >= view->report->depth;
	uint32_t all = 0;

	for (uint32_t at = first; at != LX_TREE_NONE; at = nodes[at].next)
		all++;
	children->count = 0;
	children->shown = malloc((all + 1) * sizeof(*children->shown));
	if (!children->shown) {
		view->failed = true;
		return;
	}
	for (uint32_t at = first; at != LX_TREE_NONE; at = nodes[at].next) {
		if (!deep && nodes[at].total >= view->least) {
			children->shown[children->count++] = at;
			continue;
		}
		children->rest = true;
		children->deep = deep;
		children->calls += nodes[at].calls;
		children->time += nodes[at].total;
	}
	qsort_r(children->shown, children->count, sizeof(*children->shown), by_total, nodes);
}

/* The only child of a node, called as often as the node itself, goes on in its line. */
static bool chains(const struct view *view, const struct lx_node *node, const struct children *children)
{
	const struct lx_node *child = children->count == 1 ? &view->tree->nodes[children->shown[0]] : NULL;

	return child && child->calls == node->calls && child->function != LX_TREE_IMPORTS;
}

static void add_figures(struct view *view, double total, double self, uint64_t calls)
{
	double share = lx_percent(self, view->tree->total);
	char number[LX_NUMBER_SIZE];

	lx_table_add(&view->table, LX_PLAIN, lx_format_in_unit(number, sizeof(number), view->unit, total));
	lx_table_addf(&view->table, LX_PLAIN, "%.1f", lx_percent(total, view->tree->total));
	if (!view->report->invert)
		lx_table_addf(&view->table, lx_report_heat(share), "%.1f", share);
	lx_table_add(&view->table, LX_PLAIN, lx_format_count(number, sizeof(number), calls));
}

/* Columns that the figures leave on a terminal; 0: any number. */
static size_t room_for_text(const struct view *view)
{
	size_t width = view->report->out.width, figures = 2;
	char number[LX_NUMBER_SIZE];

	for (unsigned i = 0; i + 1 < view->table.columns; i++)
		figures += strlen(view->table.header[i]) + 2;
	figures += strlen(lx_format_count(number, sizeof(number), view->tree->calls));
	if (!width)
		return 0;
	return width > figures + 20 ? width - figures : 20;
}

/* The last cell of a line. The place gives way first, then the middle of the names. */
static void add_text(struct view *view, struct text *text, const char *place)
{
	size_t room = room_for_text(view), used = view->failed ? 0 : lx_text_width(text->bytes);
	size_t size = text->size + strlen(place) + 16;
	char *cut = malloc(size);

	view->failed = view->failed || !cut;
	if (*place && cut && (!room || used + 2 + PLACE_MIN <= room)) {
		lx_text_cut_head(cut, size, place, room ? room - used - 2 : SIZE_MAX);
		append(view, text, "  ");
		append(view, text, cut);
	} else if (cut && room && !view->failed) {
		lx_text_cut_middle(cut, size, text->bytes, room);
		text->size = 0;
		append(view, text, cut);
	}
	if (!view->failed)
		lx_table_add(&view->table, LX_PLAIN, text->bytes);
	free(cut);
}

static void add_rest(struct view *view, const struct children *children, const char *branch)
{
	char count[LX_NUMBER_SIZE], time[LX_NUMBER_SIZE], words[200];
	double share = lx_percent(children->time, view->tree->total);
	struct text text = { 0 };

	lx_format_plural(count, sizeof(count), children->calls, "call");
	lx_format_seconds(time, sizeof(time), children->time);
	if (children->deep)
		snprintf(words, sizeof(words), "%s deeper: %s, %.1f %%", count, time, share);
	else
		snprintf(words, sizeof(words), "%s below %g %% each: %s, %.1f %%", count, view->report->min, time, share);
	append(view, &text, view->prefix.bytes);
	append(view, &text, branch);
	append(view, &text, words);
	lx_table_add(&view->table, LX_PLAIN, view->dots);
	lx_table_skip(&view->table, view->table.columns - 1);
	add_text(view, &text, "");
	free(text.bytes);
}

static void append_name(struct view *view, struct text *text, const struct lx_node *node)
{
	char modules[100];

	if (node->function != LX_TREE_IMPORTS) {
		append(view, text, lx_function_name(&view->report->pass.functions, node->function));
		append(view, text, node->recursive ? view->loop : "");
		return;
	}
	append(view, text, "imports");
	if (node->modules) {
		snprintf(modules, sizeof(modules), "  (%u module%s; --imports unfolds)", node->modules,
			 node->modules == 1 ? "" : "s");
		append(view, text, modules);
	}
}

static void print_children(struct view *view, struct children *children, uint32_t level);

/* A node, the chain that goes on from it, and what is below. */
static void print_node(struct view *view, const struct lx_node *head, uint32_t level, const char *branch)
{
	const struct lx_node *node = head;
	struct children children = { 0 };
	struct text text = { 0 };
	double self = 0;
	size_t before = view->prefix.size;

	append(view, &text, view->prefix.bytes);
	append(view, &text, branch);
	for (;;) {
		self += node->self;
		append_name(view, &text, node);
		sort_out(view, node->child, level + 1, &children);
		if (view->failed || !chains(view, node, &children))
			break;
		append(view, &text, " > ");
		node = &view->tree->nodes[children.shown[0]];
		free(children.shown);
	}
	add_figures(view, head->total, self, head->calls);
	add_text(view, &text,
		 head->function == LX_TREE_IMPORTS ? "" : lx_function_place(&view->report->pass.functions, head->function));
	append(view, &view->prefix, !*branch ? "" : branch == view->corner ? "   " : view->bar);
	print_children(view, &children, level + 1);
	view->prefix.size = before;
	if (!view->failed)
		view->prefix.bytes[before] = '\0';
	free(text.bytes);
}

/* Takes children->shown. */
static void print_children(struct view *view, struct children *children, uint32_t level)
{
	for (uint32_t i = 0; i < children->count && !view->failed; i++) {
		bool last = i + 1 == children->count && !children->rest;

		print_node(view, &view->tree->nodes[children->shown[i]], level,
			   !level ? "" : last ? view->corner : view->tee);
	}
	if (children->rest && !view->failed)
		add_rest(view, children, level ? view->corner : "");
	free(children->shown);
}

static int print_tree(struct view *view)
{
	struct lx_report *report = view->report;
	struct children roots = { 0 };
	char total[16];

	view->tee = report->ascii ? "+- " : "├─ ";
	view->corner = report->ascii ? "`- " : "└─ ";
	view->bar = report->ascii ? "|  " : "│  ";
	view->loop = report->ascii ? " @" : " ⟲";
	view->dots = report->ascii ? "..." : "…";
	view->unit = lx_unit_for(view->tree->total);
	snprintf(total, sizeof(total), "%s %s", report->invert ? "self" : "total", view->unit.name);
	lx_table_column(&view->table, total, LX_RIGHT);
	lx_table_column(&view->table, report->invert ? "self %" : "total %", LX_RIGHT);
	if (!report->invert)
		lx_table_column(&view->table, "self %", LX_RIGHT);
	lx_table_column(&view->table, "calls", LX_RIGHT);
	lx_table_column(&view->table, "", LX_LEFT);
	append(view, &view->prefix, "");
	sort_out(view, view->tree->roots, 0, &roots);
	print_children(view, &roots, 0);
	free(view->prefix.bytes);
	if (view->failed)
		view->table.error = -ENOMEM;
	if (lx_table_print(&view->table, &report->out) < 0)
		return -ENOMEM;
	if (view->tree->folded)
		fprintf(report->out.file, "\n%llu calls on too deep or too many paths count in their callers' lines\n",
			(unsigned long long)view->tree->folded);
	lx_report_next(report, NULL);
	return LX_STATUS_OK;
}

static void json_node(struct lx_report *report, uint32_t id, const struct lx_node *node)
{
	struct lx_json *js = &report->js;

	lx_json_object(js);
	lx_json_key(js, "id");
	lx_json_u64(js, id);
	lx_json_key(js, "parent");
	if (node->parent == LX_TREE_NONE)
		lx_json_null(js);
	else
		lx_json_u64(js, node->parent);
	if (node->function == LX_TREE_IMPORTS) {
		lx_json_key(js, "imports");
		lx_json_bool(js, true);
		lx_json_key(js, "modules");
		lx_json_u64(js, node->modules);
	} else {
		lx_report_json_function(report, node->function);
	}
	lx_json_key(js, "calls");
	lx_json_u64(js, node->calls);
	lx_json_key(js, "total_ns");
	lx_json_double(js, node->total, 0);
	lx_json_key(js, "self_ns");
	lx_json_double(js, node->self, 0);
	lx_json_key(js, "recursive");
	lx_json_bool(js, node->recursive);
	lx_json_object_end(js);
}

static int json_tree(struct view *view)
{
	struct lx_json *js = &view->report->js;

	lx_json_key(js, "time_ns");
	lx_json_double(js, view->tree->total, 0);
	lx_json_key(js, "inverted");
	lx_json_bool(js, view->report->invert);
	lx_json_key(js, "nodes");
	lx_json_array(js);
	for (uint32_t i = 0; i < view->tree->count; i++) {
		const struct lx_node *node = &view->tree->nodes[i];

		if (node->total >= view->least && (!view->report->depth || node->depth < view->report->depth))
			json_node(view->report, i, node);
	}
	lx_json_array_end(js);
	return LX_STATUS_OK;
}

int lx_report_tree(struct lx_report *report)
{
	struct lx_tree tree = { .pass = &report->pass, .imports = report->imports, .root = report->root };
	struct lx_tree inverted = { 0 };
	struct view view = { .report = report, .tree = report->invert ? &inverted : &tree };
	int status;

	lx_progress_begin(&report->pass);
	status = lx_tree_run(&tree);
	lx_progress_end();
	view.least = tree.total * report->min / 100;
	if (!status && report->root && !tree.count && report->pass.functions.count) {
		status = lx_say_no_match(&report->pass.functions, report->root);
		goto end;
	}
	if (!status && report->invert)
		status = lx_tree_invert(&tree, view.least, report->depth ? report->depth - 1 : UINT32_MAX, &inverted);
	if (status)
		goto end;
	if (!lx_report_has_callers(report, tree.calls)) {
		status = LX_STATUS_FAILED;
		goto end;
	}
	if (lx_report_begin(report, tree.calls, 0))
		status = report->json ? json_tree(&view) : print_tree(&view);
	status = lx_report_end(report, status);
end:
	lx_tree_free(&tree);
	lx_tree_free(&inverted);
	return status;
}
