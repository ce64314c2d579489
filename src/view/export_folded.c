/*
 * Folded stacks, a line a call path: "program pid;thread;caller (file:line);callee (file:line) NS" with the time spent in
 * the last function itself. Resumed slices of a call and its first one are one path's time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/export.h"
#include "view/export_pairs.h"

/*
 * A line names its whole path, so the file grows with the square of a recursion's depth: from here on all calls count
 * as one frame "…".
 */
#define DEPTH_MAX 1000u

/* In the place of a function's number: the frame above, and the first frame of a thread, by the thread's number here. */
#define DEEPER 0xffffffffu
#define THREAD_FRAME 0x80000000u
#define NO_NODE 0u /* nodes are numbers of pairs + 1 */

struct folded {
	struct lx_pairs nodes; /* (caller's node, function) */
	double *self;          /* ns by node */
	uint32_t self_room;
	char **threads;        /* "program pid;thread" */
	uint32_t thread_count, thread_room;
	char **frames;         /* by function, made when first written */
	uint32_t frame_count;
	uint32_t root;         /* node of the current thread */
};

/* The number of a path plus one; NO_NODE without memory. */
static uint32_t node_of(struct lx_export *export, uint32_t caller, uint32_t function)
{
	struct folded *state = export->state;
	uint32_t number = lx_pairs_number(&state->nodes, caller, function);
	double *self = number == LX_PAIR_NONE ? NULL
			: lx_items_reserve(state->self, &state->self_room, number + 1, sizeof(*self));

	if (!self) {
		export->error = -ENOMEM;
		return NO_NODE;
	}
	state->self = self;
	return number + 1;
}

static void replace(char *text, char old, char now)
{
	for (; (text = strchr(text, old)); text++)
		*text = now;
}

static void new_thread(struct lx_export *export)
{
	struct folded *state = export->state;
	char **threads = lx_items_reserve(state->threads, &state->thread_room, state->thread_count + 1, sizeof(*threads));
	char name[LX_THREAD_NAME_SIZE + 1], *program = strdup(lx_export_program(export)), **label;

	state->root = NO_NODE;
	if (!threads || !program) {
		free(program);
		export->error = -ENOMEM;
		return;
	}
	state->threads = threads;
	label = &threads[state->thread_count];
	snprintf(name, sizeof(name), "%s", export->thread->name);
	for (char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	replace(name, ';', ',');
	replace(program, ';', ',');
	if (asprintf(label, "%s %" PRIu32 ";%s", program, export->pid, *name ? name : "thread") < 0) {
		*label = NULL;
		export->error = -ENOMEM;
	} else {
		state->root = node_of(export, NO_NODE, THREAD_FRAME | state->thread_count++);
	}
	free(program);
}

static inline uint32_t node_above(const struct folded *state, const struct lx_span *span)
{
	return span->parent ? (uint32_t)(uintptr_t)span->parent->data : state->root;
}

static void enter(struct lx_export *export, struct lx_span *span)
{
	struct folded *state = export->state;
	uint32_t above = node_above(state, span), node = above;

	if (span->depth < DEPTH_MAX)
		node = node_of(export, above, lx_pass_function(export->pass, span->lexgion));
	else if (span->depth == DEPTH_MAX)
		node = node_of(export, above, DEEPER);
	span->data = (void *)(uintptr_t)node;
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	struct folded *state = export->state;
	uint32_t node = (uint32_t)(uintptr_t)span->data;

	if (node != NO_NODE)
		state->self[node - 1] += (double)(span->end - span->begin - span->children) * export->process->ns_per_tick;
}

static const char *frame_text(struct lx_export *export, uint32_t function)
{
	struct folded *state = export->state;
	struct lx_functions *functions = &export->pass->functions;
	const char *name, *place;

	if (function == DEEPER)
		return "…";
	if (function & THREAD_FRAME)
		return state->threads[function & ~THREAD_FRAME];
	if (!state->frames[function]) {
		name = lx_function_name(functions, function);
		place = functions->items[function].lexgion->file_size > 0 ? lx_function_place(functions, function) : "";
		if (asprintf(&state->frames[function], *place ? "%s (%s)" : "%s", name, place) < 0) {
			state->frames[function] = NULL;
			export->error = -ENOMEM;
			return "";
		}
		replace(state->frames[function], ';', ',');
	}
	return state->frames[function];
}

static void put_line(struct lx_export *export, uint32_t node)
{
	struct folded *state = export->state;
	uint32_t path[DEPTH_MAX + 2], depth = 0;
	uint64_t ns = (uint64_t)(state->self[node - 1] + 0.5);
	uint8_t *at;

	if (ns == 0)
		return;
	for (; node != NO_NODE; node = lx_pair_a(&state->nodes, node - 1))
		path[depth++] = lx_pair_b(&state->nodes, node - 1);
	while (depth-- > 0) {
		const char *text = frame_text(export, path[depth]);

		lx_out_write(export->out, text, strlen(text));
		if (depth > 0)
			lx_out_write(export->out, ";", 1);
	}
	at = lx_out_room(export->out, 32);
	*at++ = ' ';
	at = lx_out_decimal(at, ns);
	*at++ = '\n';
	export->out->at = at;
}

static int finish(struct lx_export *export)
{
	struct folded *state = export->state;

	state->frame_count = export->pass->functions.count;
	state->frames = calloc(state->frame_count + 1, sizeof(*state->frames));
	if (!state->frames)
		return -ENOMEM;
	for (uint32_t node = 1; node <= state->nodes.count && export->error == 0; node++)
		put_line(export, node);
	return export->error;
}

static void release(struct lx_export *export)
{
	struct folded *state = export->state;

	for (uint32_t i = 0; state->frames && i < state->frame_count; i++)
		free(state->frames[i]);
	for (uint32_t i = 0; i < state->thread_count; i++)
		free(state->threads[i]);
	free(state->frames);
	free(state->threads);
	free(state->self);
	lx_pairs_free(&state->nodes);
}

const struct lx_export_format lx_export_folded = {
	.name = "folded",
	.extension = ".folded",
	.extensions = ".folded .collapsed",
	.summary = "flamegraph.pl, inferno, speedscope: ns in each call path",
	.state_size = sizeof(struct folded),
	.thread = new_thread,
	.enter = enter,
	.leave = leave,
	.finish = finish,
	.release = release,
};
