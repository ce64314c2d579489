#include "view/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *find_slot(const struct lx_tree *tree, uint32_t parent, uint32_t function)
{
	uint64_t hash = ((uint64_t)parent << 32 | function) * 0x9E3779B97F4A7C15u;
	uint32_t mask = tree->slot_count - 1;
	uint32_t at = (uint32_t)(hash >> 32) & mask;

	while (tree->slots[at] && (tree->nodes[tree->slots[at] - 1].parent != parent ||
				   tree->nodes[tree->slots[at] - 1].function != function))
		at = (at + 1) & mask;
	return &tree->slots[at];
}

static int grow(struct lx_tree *tree)
{
	uint32_t room = tree->room ? 2 * tree->room : 1024;
	struct lx_node *nodes = realloc(tree->nodes, room * sizeof(*nodes));
	uint32_t *slots;

	if (!nodes)
		return -ENOMEM;
	tree->nodes = nodes;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(tree->slots);
	tree->slots = slots;
	tree->slot_count = 2 * room;
	tree->room = room;
	for (uint32_t i = 0; i < tree->count; i++)
		*find_slot(tree, nodes[i].parent, nodes[i].function) = i + 1;
	return 0;
}

/* The child of `parent` (LX_TREE_NONE: a root) for that function; made if it is new. LX_TREE_NONE: no memory. */
static uint32_t child_of(struct lx_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t *slot, *link;

	if (tree->count == tree->room && grow(tree) < 0) {
		tree->error = -ENOMEM;
		return LX_TREE_NONE;
	}
	slot = find_slot(tree, parent, function);
	if (*slot)
		return *slot - 1;
	link = parent == LX_TREE_NONE ? &tree->roots : &tree->nodes[parent].child;
	tree->nodes[tree->count] = (struct lx_node){
		.function = function,
		.parent = parent,
		.child = LX_TREE_NONE,
		.next = *link,
		.recent = LX_TREE_NONE,
		.depth = parent == LX_TREE_NONE ? 0 : tree->nodes[parent].depth + 1,
	};
	*link = tree->count++;
	*slot = tree->count;
	return tree->count - 1;
}

/* The node of a call from `parent`. */
static uint32_t step(struct lx_tree *tree, uint32_t parent, uint32_t function, bool recursive)
{
	struct lx_node *from = parent == LX_TREE_NONE ? NULL : &tree->nodes[parent];
	uint32_t node;

	if (!from)
		return child_of(tree, parent, function);
	if (from->recent != LX_TREE_NONE && tree->nodes[from->recent].function == function)
		return from->recent;
	if (recursive) {
		for (node = parent; node != LX_TREE_NONE && tree->nodes[node].function != function;)
			node = tree->nodes[node].parent;
		if (node != LX_TREE_NONE) {
			tree->nodes[node].recursive = true;
			return node;
		}
	}
	if (from->depth >= LX_TREE_DEPTH_MAX || tree->count >= LX_TREE_NODES_MAX) {
		tree->folded++;
		return parent;
	}
	node = child_of(tree, parent, function);
	tree->nodes[parent].recent = node;
	return node;
}

/* Nodes travel in the spans as number + 1; 0: the span lies above --root. */
static uint32_t node_of(const struct lx_span *span)
{
	return span ? (uint32_t)(uintptr_t)span->data - 1 : LX_TREE_NONE;
}

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct lx_tree *tree = context;
	struct lx_pass *pass = tree->pass;
	uint32_t function = lx_pass_function(pass, span->lexgion), parent = node_of(span->parent), node;
	bool import = !tree->imports && pass->functions.items[function].import;

	(void)process;
	if (!lx_pass_wants(pass, thread) || tree->error)
		return;
	if (parent == LX_TREE_NONE && tree->is_root && !tree->is_root[function])
		return;
	if (parent != LX_TREE_NONE && tree->nodes[parent].function == LX_TREE_IMPORTS) {
		node = parent;
		tree->nodes[node].modules += pass->functions.items[function].module && !span->resumed;
	} else {
		node = step(tree, parent, import ? LX_TREE_IMPORTS : function, span->recursive && !import);
		if (node == LX_TREE_NONE)
			return;
		tree->nodes[node].calls += !span->resumed;
	}
	tree->calls += !span->resumed;
	span->data = (void *)(uintptr_t)(node + 1);
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct lx_tree *tree = context;
	uint32_t node = node_of(span);

	(void)thread;
	if (node != LX_TREE_NONE)
		tree->nodes[node].self += (double)(span->end - span->begin - span->children) * process->ns_per_tick;
}

/* A span that was told of afterwards has no caller. */
static void told(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 const struct lx_told *told)
{
	struct lx_tree *tree = context;
	uint32_t function = lx_pass_function(tree->pass, told->lexgion), node;

	(void)process;
	if (told->kind != LX_EV_SPAN || !lx_pass_wants(tree->pass, thread) || tree->error)
		return;
	if (tree->is_root && !tree->is_root[function])
		return;
	node = child_of(tree, LX_TREE_NONE, function);
	if (node == LX_TREE_NONE)
		return;
	tree->nodes[node].calls++;
	tree->nodes[node].self += (double)told->duration;
	tree->calls++;
}

/* Functions of processes so far that --root names. */
static int begin_process(void *context, struct lx_pass *pass)
{
	struct lx_tree *tree = context;
	bool *now;

	if (!tree->root)
		return 0;
	now = realloc(tree->is_root, pass->functions.count + 1);
	if (!now)
		return -ENOMEM;
	tree->is_root = now;
	for (; tree->is_root_count < pass->functions.count; tree->is_root_count++)
		now[tree->is_root_count] = lx_function_matches(&pass->functions, tree->is_root_count, tree->root);
	return 0;
}

static void sum_up(struct lx_tree *tree)
{
	for (uint32_t i = tree->count; i-- > 0;) {
		struct lx_node *node = &tree->nodes[i];

		node->total += node->self;
		if (node->parent == LX_TREE_NONE)
			tree->total += node->total;
		else
			tree->nodes[node->parent].total += node->total;
	}
}

int lx_tree_run(struct lx_tree *tree)
{
	static const struct lx_pass_ops ops = { .spans = { .enter = enter, .leave = leave, .told = told }, .begin = begin_process };
	int error;

	tree->roots = LX_TREE_NONE;
	error = lx_pass_run(tree->pass, &ops, tree);
	if (error || tree->error)
		return error ? error : tree->error;
	sum_up(tree);
	return 0;
}

void lx_tree_free(struct lx_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	free(tree->is_root);
	*tree = (struct lx_tree){ 0 };
}

/* Self time of each function, by number; the imports' stands at functions.count. */
static double *self_by_function(const struct lx_tree *tree)
{
	uint32_t functions = tree->pass->functions.count;
	double *self = calloc((size_t)functions + 1, sizeof(*self));

	for (uint32_t i = 0; self && i < tree->count; i++) {
		uint32_t function = tree->nodes[i].function;

		self[function < functions ? function : functions] += tree->nodes[i].self;
	}
	return self;
}

int lx_tree_invert(const struct lx_tree *tree, double min, uint32_t depth, struct lx_tree *inverted)
{
	double *self = self_by_function(tree);

	inverted->pass = tree->pass;
	inverted->roots = LX_TREE_NONE;
	if (!self)
		return -ENOMEM;
	if (depth > LX_TREE_DEPTH_MAX)
		depth = LX_TREE_DEPTH_MAX;
	for (uint32_t i = 0; i < tree->count && !inverted->error; i++) {
		const struct lx_node *leaf = &tree->nodes[i];
		uint32_t functions = tree->pass->functions.count, at = LX_TREE_NONE;
		bool small = self[leaf->function < functions ? leaf->function : functions] < min;
		uint32_t levels = small ? 0 : depth;

		for (uint32_t from = i; from != LX_TREE_NONE && !inverted->error; from = tree->nodes[from].parent) {
			at = child_of(inverted, at, tree->nodes[from].function);
			if (at == LX_TREE_NONE)
				break;
			inverted->nodes[at].calls += leaf->calls;
			inverted->nodes[at].total += leaf->self;
			inverted->nodes[at].recursive |= tree->nodes[from].recursive;
			if (from == i)
				inverted->nodes[at].self += leaf->self;
			if (levels-- == 0)
				break;
		}
	}
	free(self);
	inverted->total = tree->total;
	inverted->calls = tree->calls;
	return inverted->error;
}
