/*
 * The file that Python's pstats.Stats loads: a marshalled dict {(file, line, name): (primitive calls, calls, own seconds,
 * seconds, {caller: (calls, primitive calls, own seconds, seconds)})}. Recursion counts as in cProfile: seconds are those
 * of the outermost call of a function, or of a caller and callee. Unlike there, resuming a generator is no call.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/export.h"
#include "view/export_pairs.h"
#include "view/export_text.h"

struct sums {
	uint64_t calls, primitive;
	double own, all; /* seconds */
	uint32_t open;   /* now */
	bool seen;
};

struct pstats {
	struct sums *functions;   /* by function */
	uint32_t function_room;
	struct lx_pairs pairs;    /* (caller, callee) */
	struct sums *edges;       /* by pair */
	uint32_t edge_room;
	uint32_t *keys;           /* by function: number of its written key + 1 */
	uint32_t key_count;
};

static void sums_enter(struct sums *sums)
{
	sums->open++;
	sums->seen = true;
}

static void sums_leave(struct sums *sums, const struct lx_span *span, double seconds_per_tick)
{
	uint64_t ticks = span->end - span->begin;
	bool outermost = --sums->open == 0;

	sums->calls += !span->resumed;
	sums->primitive += !span->resumed && outermost;
	sums->own += (double)(ticks - span->children) * seconds_per_tick;
	if (outermost)
		sums->all += (double)ticks * seconds_per_tick;
}

static int new_process(struct lx_export *export)
{
	struct pstats *state = export->state;
	struct sums *functions = lx_items_reserve(state->functions, &state->function_room, export->pass->functions.count,
						  sizeof(*functions));

	if (!functions)
		return -ENOMEM;
	state->functions = functions;
	return 0;
}

/* What MONITORING counted has no callers; which calls were recursive is not known. */
static int add_rows(struct lx_export *export)
{
	const struct lx_process *process = export->process;
	struct pstats *state = export->state;
	double seconds_per_tick = process->ns_per_tick / 1e9;

	for (size_t i = 0; i < process->row_count; i++) {
		const struct lx_row *row = &process->rows[i];
		struct sums *sums = &state->functions[lx_pass_function(export->pass, row->lexgion)];

		if (!row->calls || !lx_pass_wants(export->pass, &process->threads[row->thread]))
			continue;
		sums->seen = true;
		sums->calls += row->calls;
		sums->primitive += row->calls;
		sums->own += (double)row->exclusive * seconds_per_tick;
		sums->all += (double)row->inclusive * seconds_per_tick;
	}
	return export->error;
}

static void enter(struct lx_export *export, struct lx_span *span)
{
	struct pstats *state = export->state;
	uint32_t function = lx_pass_function(export->pass, span->lexgion), number;
	struct sums *edges;

	sums_enter(&state->functions[function]);
	if (!span->parent)
		return;
	number = lx_pairs_number(&state->pairs, lx_pass_function(export->pass, span->parent->lexgion), function);
	edges = number == LX_PAIR_NONE ? NULL
		: lx_items_reserve(state->edges, &state->edge_room, number + 1, sizeof(*edges));
	if (!edges) {
		export->error = -ENOMEM;
		return;
	}
	state->edges = edges;
	sums_enter(&edges[number]);
	span->data = (void *)(uintptr_t)(number + 1);
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	struct pstats *state = export->state;
	double seconds_per_tick = export->process->ns_per_tick / 1e9;

	sums_leave(&state->functions[lx_pass_function(export->pass, span->lexgion)], span, seconds_per_tick);
	if (span->data)
		sums_leave(&state->edges[(uintptr_t)span->data - 1], span, seconds_per_tick);
}

/* ---- marshal: type codes of CPython's marshal.c, readable since 3.4 ---- */

enum {
	CODE_DICT = '{',
	CODE_END = '0',
	CODE_FLOAT = 'g',
	CODE_INT = 'i',
	CODE_LONG = 'l',
	CODE_REFERENCE = 'r',
	CODE_TEXT = 'u',
	CODE_TUPLE = ')',
	CODE_REMEMBER = 0x80, /* or'ed to a code: CODE_REFERENCE can name this object, by number as they come */
};

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		*at++ = (uint8_t)(value >> 8 * i);
	return at;
}

static void put_code(struct lx_out *out, int code)
{
	uint8_t *at = lx_out_room(out, 1);

	*at++ = (uint8_t)code;
	out->at = at;
}

static void put_tuple(struct lx_out *out, int code, uint8_t size)
{
	put_code(out, code);
	put_code(out, size);
}

static void put_integer(struct lx_out *out, uint64_t value)
{
	uint8_t *at = lx_out_room(out, 16);
	uint32_t digits = 0;

	if (value <= INT32_MAX) {
		*at++ = CODE_INT;
		at = put_u32(at, (uint32_t)value);
	} else {
		for (uint64_t rest = value; rest; rest >>= 15)
			digits++;
		*at++ = CODE_LONG;
		at = put_u32(at, digits);
		for (; value; value >>= 15) {
			*at++ = (uint8_t)value;
			*at++ = (uint8_t)(value >> 8 & 0x7f);
		}
	}
	out->at = at;
}

static void put_float(struct lx_out *out, double value)
{
	uint64_t bits;
	uint8_t *at = lx_out_room(out, 16);

	memcpy(&bits, &value, sizeof(bits));
	*at++ = CODE_FLOAT;
	at = put_u32(at, (uint32_t)bits);
	out->at = put_u32(at, (uint32_t)(bits >> 32));
}

static void put_text(struct lx_export *export, const char *before, const char *text, size_t size, const char *after)
{
	char *copy = malloc(LX_TEXT_VALID_SIZE(size) + 1);
	uint8_t *at = lx_out_room(export->out, 16);

	if (!copy) {
		export->error = -ENOMEM;
		return;
	}
	size = lx_text_python(copy, text, size);
	*at++ = CODE_TEXT;
	export->out->at = put_u32(at, (uint32_t)(strlen(before) + size + strlen(after)));
	lx_out_write(export->out, before, strlen(before));
	lx_out_write(export->out, copy, size);
	lx_out_write(export->out, after, strlen(after));
	free(copy);
}

/* A function's key. C code is ("~", 0, "<len>"), which pstats shows as {len}; a region has its category for a file. */
static void put_key(struct lx_export *export, uint32_t function)
{
	struct pstats *state = export->state;
	const struct lx_lexgion *lexgion = export->pass->functions.items[function].lexgion;
	bool c_code = lexgion->flags & LX_LEXGION_C;
	const char *other = c_code ? "~" : lx_export_category(lexgion);

	if (state->keys[function]) {
		uint8_t *at = lx_out_room(export->out, 5);

		*at++ = CODE_REFERENCE;
		export->out->at = put_u32(at, state->keys[function] - 1);
		return;
	}
	state->keys[function] = ++state->key_count;
	put_tuple(export->out, CODE_TUPLE | CODE_REMEMBER, 3);
	if (lexgion->file_size > 0)
		put_text(export, "", lexgion->file, lexgion->file_size, "");
	else
		put_text(export, "", other, strlen(other), "");
	put_integer(export->out, lexgion->line);
	put_text(export, c_code ? "<" : "", lexgion->title, lexgion->title_size, c_code ? ">" : "");
}

static void put_function(struct lx_export *export, uint32_t function, const uint32_t *first, const uint32_t *next)
{
	struct pstats *state = export->state;
	struct lx_out *out = export->out;
	const struct sums *sums = &state->functions[function];

	put_key(export, function);
	put_tuple(out, CODE_TUPLE, 5);
	put_integer(out, sums->primitive);
	put_integer(out, sums->calls);
	put_float(out, sums->own);
	put_float(out, sums->all);
	put_code(out, CODE_DICT);
	for (uint32_t edge = first[function]; edge; edge = next[edge - 1]) {
		sums = &state->edges[edge - 1];
		put_key(export, lx_pair_a(&state->pairs, edge - 1));
		put_tuple(out, CODE_TUPLE, 4);
		put_integer(out, sums->calls);
		put_integer(out, sums->primitive);
		put_float(out, sums->own);
		put_float(out, sums->all);
	}
	put_code(out, CODE_END);
}

static int finish(struct lx_export *export)
{
	struct pstats *state = export->state;
	uint32_t count = export->pass->functions.count, edges = state->pairs.count;
	uint32_t *first = calloc(count + 1, sizeof(*first)); /* by callee: its first edge + 1 */
	uint32_t *next = calloc(edges + 1, sizeof(*next));   /* by edge: the callee's next edge + 1 */

	state->keys = calloc(count + 1, sizeof(*state->keys));
	if (first && next && state->keys) {
		for (uint32_t edge = 0; edge < edges; edge++) {
			uint32_t callee = lx_pair_b(&state->pairs, edge);

			next[edge] = first[callee];
			first[callee] = edge + 1;
		}
		put_code(export->out, CODE_DICT);
		for (uint32_t function = 0; function < count && export->error == 0; function++)
			if (state->functions[function].seen)
				put_function(export, function, first, next);
		put_code(export->out, CODE_END);
	} else {
		export->error = -ENOMEM;
	}
	free(first);
	free(next);
	return export->error;
}

static void release(struct lx_export *export)
{
	struct pstats *state = export->state;

	lx_pairs_free(&state->pairs);
	free(state->functions);
	free(state->edges);
	free(state->keys);
}

const struct lx_export_format lx_export_pstats = {
	.name = "pstats",
	.extension = ".pstats",
	.extensions = ".pstats .prof",
	.summary = "Python's pstats, snakeviz, gprof2dot",
	.binary = true,
	.sums = true,
	.state_size = sizeof(struct pstats),
	.process = new_process,
	.enter = enter,
	.leave = leave,
	.process_end = add_rows,
	.finish = finish,
	.release = release,
};
