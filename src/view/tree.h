/*
 * The call tree: one node for each distinct path of functions. Recursion is folded: a call of a function that is open on
 * its path already counts at that node, so that paths are finite. A node's total is its self time and that of the nodes
 * below it, so that shares add up whatever was folded.
 */
#ifndef LX_VIEW_TREE_H
#define LX_VIEW_TREE_H

#include "view/pass.h"

#define LX_TREE_DEPTH_MAX 512u      /* deeper calls count at the node of this depth */
#define LX_TREE_NODES_MAX (2u << 20) /* further paths count at their caller's node */
#define LX_TREE_IMPORTS 0xfffffffeu /* "function" of the nodes that the import system is folded to */
#define LX_TREE_NONE 0xffffffffu

struct lx_node {
	uint32_t function;
	uint32_t parent;        /* LX_TREE_NONE: a root */
	uint32_t child, next;   /* first child, next sibling; LX_TREE_NONE: none */
	uint32_t recent;        /* child that was entered last */
	uint32_t depth;
	uint32_t modules;       /* imports: module bodies run below */
	bool recursive;         /* calls of itself below were folded into it */
	uint64_t calls;
	double self, total;     /* ns */
};

struct lx_tree {
	struct lx_pass *pass;
	bool imports;           /* do not fold the import system; set before */
	const char *root;       /* only what runs below functions that match; NULL: all; set before */
	struct lx_node *nodes;  /* parents before children */
	uint32_t count, room;
	uint32_t roots;         /* first root, then by next */
	uint32_t *slots;        /* hash table (parent, function) to node + 1; a power of two */
	uint32_t slot_count;
	bool *is_root;          /* by function, where root is set */
	uint32_t is_root_count;
	uint64_t calls;         /* in it, those folded too */
	double total;           /* of all roots */
	uint64_t folded;        /* calls that LX_TREE_DEPTH_MAX or LX_TREE_NODES_MAX folded */
	int error;
};

/* `tree` is zero but for what is set before. Returns 0 or -ENOMEM. Free it in both cases. */
int lx_tree_run(struct lx_tree *tree);
void lx_tree_free(struct lx_tree *tree);

/*
 * The tree upside down, from a tree that lx_tree_run() made: its roots are functions by their self time, below them
 * their callers. Paths from functions with less than `min` ns of self time are left out, and all beyond `depth` callers.
 * `inverted` is zero. Returns 0 or -ENOMEM.
 */
int lx_tree_invert(const struct lx_tree *tree, double min, uint32_t depth, struct lx_tree *inverted);

#endif
