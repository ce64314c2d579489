/*
 * DFTracer's trace format: one JSON object a line. A line is a slice when it ends; of a generator or coroutine that is a
 * region, the whole run. Times are whole units of the time metric (microseconds) since the epoch; as begin and end are rounded
 * down alike, a callee never reaches out of its caller. In the 2.x dialect "ph" and "type" are numbers; in the 1.x one "ph" is
 * a letter, there is no "type", and all lines have an "id" and stand between brackets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "view/export_pfw_state.h"

enum { PIECE_NAME, PIECE_ARGS, PIECE_KEY, PIECES }; /* "name":…,"type":6   {"hhash":…,"line":3   "KEY": */

/* Members of "args" that are ours. An argument of the program by that name takes the place, but for the host's. */
enum { HHASH = 1, COMP = 2, FILE_NAME = 4, LINE = 8, ENDED = 16, RUNNING = 32, SLICES = 64 };

static uint8_t reserved_name(const struct lx_lexgion *key)
{
	static const struct {
		const char *name;
		uint8_t bit;
	} names[] = { { "hhash", HHASH }, { "comp", COMP },	 { "file", FILE_NAME },	{ "line", LINE },
		      { "ended", ENDED }, { "running", RUNNING }, { "slices", SLICES } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == key->name_size && memcmp(names[i].name, key->name, key->name_size) == 0)
			return names[i].bit;
	return 0;
}

static void format_ids(struct lx_export_pfw *state, uint32_t pid, uint32_t tid)
{
	state->ids_size = (size_t)snprintf(state->ids, sizeof(state->ids), ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":",
					   pid, tid);
}

static void new_thread(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;

	lx_export_pfw_start_process(export);
	state->named = true;
	lx_export_pfw_put_metadata(export, "thread_name", export->thread->name, strlen(export->thread->name), "thread_name");
	format_ids(export->state, export->pid, export->tid);
}

static int new_process(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;
	size_t count = export->process->lexgion_count;

	lx_pieces_close(&state->pieces);
	free(state->reserved);
	state->started = state->named = false;
	state->id = state->events = 0;
	state->reserved = calloc(count + 1, 1);
	if (!state->reserved)
		return -ENOMEM;
	for (size_t id = 0; id < count; id++)
		if (export->process->lexgions[id].flags & LX_LEXGION_KEY)
			state->reserved[id] = reserved_name(&export->process->lexgions[id]);
	return lx_pieces_open(&state->pieces, export->process, PIECES);
}

static int end_process(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;

	if (!export->pass->only_thread)
		lx_export_pfw_start_process(export);
	if (state->started)
		lx_export_pfw_end_process(export);
	return export->error;
}

static unsigned type_of(const struct lx_lexgion *lexgion)
{
	switch (lexgion->domain) {
	case LX_DOMAIN_IO:
		return LX_PFW_LIBC_IO;
	case LX_DOMAIN_MPI:
		return LX_PFW_MPI;
	case LX_DOMAIN_CUDA:
		return LX_PFW_CUDA;
	default:
		return LX_PFW_PYTHON;
	}
}

/* The members that hold for all slices of a place; `taken`: those that arguments have. */
static void put_own(const struct lx_export_pfw *state, struct lx_json *json, const struct lx_lexgion *lexgion, const char *comp,
		    unsigned taken)
{
	lx_json_object(json);
	lx_export_pfw_put_text(json, "hhash", state->host, 16);
	if (comp && !(taken & COMP))
		lx_export_pfw_put_text(json, "comp", comp, strlen(comp));
	if (lexgion->file_size > 0 && !(taken & FILE_NAME))
		lx_export_pfw_put_text(json, "file", lexgion->file, lexgion->file_size);
	if (lexgion->file_size > 0 && !(taken & LINE)) {
		lx_json_key(json, "line");
		lx_json_u64(json, lexgion->line);
	}
	lx_json_object_end(json);
}

static void make_pieces(struct lx_export *export, struct lx_piece *piece, uint32_t id)
{
	struct lx_export_pfw *state = export->state;
	struct lx_json *json = &state->pieces.json;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);
	struct lx_export_label label;
	int error;

	lx_export_label(lexgion, &label);
	lx_pieces_begin(&state->pieces);
	lx_json_object(json);
	lx_export_pfw_put_text(json, "name", label.name, label.name_size);
	lx_export_pfw_put_text(json, "cat", label.category, label.category_size);
	if (!state->letters) {
		lx_json_key(json, "type");
		lx_json_u64(json, type_of(lexgion));
	}
	lx_json_object_end(json);
	error = lx_pieces_end(&state->pieces, &piece[PIECE_NAME], 1, 1);
	lx_pieces_begin(&state->pieces);
	put_own(state, json, lexgion, label.comp, 0);
	if (error < 0 || lx_pieces_end(&state->pieces, &piece[PIECE_ARGS], 0, 1) < 0)
		export->error = -ENOMEM;
}

static void make_key(struct lx_export *export, struct lx_piece *piece, uint32_t id)
{
	struct lx_export_pfw *state = export->state;
	struct lx_json *json = &state->pieces.json;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);

	lx_pieces_begin(&state->pieces);
	lx_json_object(json);
	lx_json_key_text(json, lexgion->name, lexgion->name_size);
	if (lx_pieces_end(&state->pieces, piece, 1, 0) < 0)
		export->error = -ENOMEM;
}

/* `{"id":7,"name":…,"pid":1,"tid":1,"ts":` */
static void put_head(struct lx_export *export, uint32_t lexgion, bool numbered)
{
	struct lx_export_pfw *state = export->state;
	struct lx_out *out = export->out;
	struct lx_piece *piece = lx_pieces_of(&state->pieces, lexgion);
	uint8_t *at = lx_out_room(out, 32);

	if (__builtin_expect(piece->size == 0, 0))
		make_pieces(export, piece, lexgion);
	*at++ = '{';
	if (numbered) {
		at = LX_OUT_LITERAL(at, "\"id\":");
		at = lx_out_decimal(at, ++state->id);
		*at++ = ',';
	}
	state->events++;
	out->at = at;
	lx_out_write(out, state->pieces.text + piece[PIECE_NAME].at, piece[PIECE_NAME].size);
	at = lx_out_room(out, sizeof(state->ids));
	memcpy(at, state->ids, sizeof(state->ids));
	out->at = at + state->ids_size;
}

/* The two times, "ph", and the place's own members of "args"; `taken`: see put_own(). */
static void put_times(struct lx_export *export, int64_t begin, uint64_t duration, enum lx_export_pfw_phase phase)
{
	struct lx_export_pfw *state = export->state;
	const char *letter = lx_export_pfw_phase(state, phase);
	uint8_t *at = lx_out_room(export->out, 96);

	if (begin < 0)
		*at++ = '-';
	at = lx_out_decimal(at, begin < 0 ? 0 - (uint64_t)begin : (uint64_t)begin);
	at = LX_OUT_LITERAL(at, ",\"dur\":");
	at = lx_out_decimal(at, duration);
	at = LX_OUT_LITERAL(at, ",\"ph\":");
	at = lx_out_copy(at, letter, strlen(letter));
	export->out->at = LX_OUT_LITERAL(at, ",\"args\":");
}

static void put_value(struct lx_export *export, const struct lx_argument *argument)
{
	struct lx_export_pfw *state = export->state;
	uint64_t value = (uint64_t)argument->integer;
	uint8_t *at;

	if (argument->kind != LX_EV_ARG_INT) {
		lx_json_init(&state->json, state->line_file, false);
		lx_export_argument(&state->json, argument);
		lx_export_pfw_put(export);
		return;
	}
	at = lx_out_room(export->out, 32);
	if (argument->integer < 0)
		*at++ = '-';
	export->out->at = lx_out_decimal(at, argument->integer < 0 ? 0 - value : value);
}

/* The place's own members of "args" and the program's; returns those of ours that are the program's here. */
static unsigned put_arguments(struct lx_export *export, uint32_t lexgion, const struct lx_arguments *arguments)
{
	struct lx_export_pfw *state = export->state;
	struct lx_piece *piece = lx_pieces_of(&state->pieces, lexgion);
	size_t keys = export->process->lexgion_count;
	struct lx_export_label label;
	unsigned taken = 0;

	for (uint32_t i = 0; arguments && i < arguments->count; i++)
		taken |= arguments->list[i].key < keys ? state->reserved[arguments->list[i].key] : 0;
	if (__builtin_expect((taken & (COMP | FILE_NAME | LINE)) == 0, 1)) {
		lx_out_write(export->out, state->pieces.text + piece[PIECE_ARGS].at, piece[PIECE_ARGS].size);
	} else {
		lx_export_label(lx_lexgion(export->process, lexgion), &label);
		lx_json_init(&state->json, state->line_file, false);
		put_own(state, &state->json, lx_lexgion(export->process, lexgion), label.comp, taken);
		lx_export_pfw_put(export);
		export->out->at--; /* its bracket */
	}
	for (uint32_t i = 0; arguments && i < arguments->count; i++) {
		const struct lx_argument *argument = &arguments->list[i];
		struct lx_piece *key = lx_pieces_of(&state->pieces, argument->key) + PIECE_KEY;

		if (argument->key < keys && state->reserved[argument->key] & HHASH)
			continue;
		if (__builtin_expect(key->size == 0, 0))
			make_key(export, key, argument->key);
		*lx_out_room(export->out, 1) = ',';
		export->out->at++;
		lx_out_write(export->out, state->pieces.text + key->at, key->size);
		put_value(export, argument);
	}
	return taken;
}

static void put_end(struct lx_export *export, const char *ended, unsigned taken)
{
	uint8_t *at = lx_out_room(export->out, 64);

	if (ended && !(taken & ENDED)) {
		at = LX_OUT_LITERAL(at, ",\"ended\":\"");
		at = lx_out_copy(at, ended, strlen(ended));
		*at++ = '"';
	}
	export->out->at = LX_OUT_LITERAL(at, "}}\n");
}

static uint64_t units(const struct lx_export *export, uint64_t ticks)
{
	const struct lx_export_pfw *state = export->state;

	return lx_real_ns(export->process, ticks) / state->unit;
}

static void put_span(struct lx_export *export, uint32_t lexgion, uint64_t from, uint64_t to)
{
	uint64_t begin = units(export, from), end = units(export, to);

	put_head(export, lexgion, true);
	put_times(export, (int64_t)begin, end > begin ? end - begin : 0, LX_PFW_COMPLETE);
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	if (span->run)
		return; /* its run's line tells of it */
	put_span(export, span->lexgion, span->begin, span->end);
	put_end(export, lx_export_ended(span->ended), put_arguments(export, span->lexgion, span->arguments));
}

static void run_end(struct lx_export *export, const struct lx_run *run)
{
	struct lx_export_pfw *state = export->state;
	double running = (double)run->running * export->process->ns_per_tick / (double)state->unit;
	char ids[sizeof(state->ids)];
	size_t ids_size = state->ids_size;
	unsigned taken;
	uint8_t *at;

	memcpy(ids, state->ids, sizeof(ids));
	format_ids(state, export->pid, run->thread->tid + (export->pid - export->process->state.pid));
	put_span(export, run->lexgion, run->begin, run->end);
	taken = put_arguments(export, run->lexgion, run->arguments);
	at = lx_out_room(export->out, 64);
	if (!(taken & RUNNING)) {
		at = LX_OUT_LITERAL(at, ",\"running\":");
		at = lx_out_decimal(at, running < 1.8e19 ? (uint64_t)running : UINT64_MAX);
	}
	if (!(taken & SLICES)) {
		at = LX_OUT_LITERAL(at, ",\"slices\":");
		at = lx_out_decimal(at, run->slices);
	}
	export->out->at = at;
	put_end(export, lx_export_ended(run->ended), taken);
	memcpy(state->ids, ids, sizeof(ids));
	state->ids_size = ids_size;
}

/* Its name stands in "args" with the value. */
static void put_counter(struct lx_export *export, const struct lx_told *told)
{
	struct lx_export_pfw *state = export->state;
	const char *phase = lx_export_pfw_phase(state, LX_PFW_COUNTER);
	struct lx_export_label label;
	struct lx_json *json = &state->json;
	uint8_t *at;

	put_head(export, told->lexgion, state->letters);
	at = lx_out_decimal(lx_out_room(export->out, 64), units(export, told->ticks));
	at = LX_OUT_LITERAL(at, ",\"ph\":");
	export->out->at = lx_out_copy(at, phase, strlen(phase));
	lx_export_label(lx_lexgion(export->process, told->lexgion), &label);
	fputs(",\"args\":", state->line_file);
	lx_json_init(json, state->line_file, false);
	lx_json_object(json);
	if (!state->letters) /* where each member is a counter of its own */
		lx_export_pfw_put_text(json, "hhash", state->host, 16);
	lx_json_key_text(json, label.name, label.name_size);
	lx_json_float(json, told->value);
	lx_json_object_end(json);
	fputs("}\n", state->line_file);
	lx_export_pfw_put(export);
}

static void put_entry(struct lx_export *export, const struct lx_told *told)
{
	const struct lx_lexgion *key = lx_lexgion(export->process, told->lexgion);
	struct lx_json *json = lx_export_pfw_begin_metadata(export, "CM", LX_PFW_PYTHON, key->name, key->name_size);

	lx_export_argument(json, &told->arguments->list[0]);
	lx_export_pfw_end_metadata(export);
}

static int64_t floor_units(const struct lx_export *export, int64_t ns)
{
	int64_t unit = (int64_t)((const struct lx_export_pfw *)export->state)->unit;

	return ns >= 0 ? ns / unit : -((-(ns + 1)) / unit) - 1;
}

static void told(struct lx_export *export, const struct lx_told *told)
{
	uint64_t end;
	int64_t begin;

	switch (told->kind) {
	case LX_EV_COUNTER:
		put_counter(export, told);
		return;
	case LX_EV_METADATA:
		put_entry(export, told);
		return;
	case LX_EV_SPAN:
		begin = floor_units(export, told->begin);
		end = told->duration < INT64_MAX ? told->duration : INT64_MAX;
		if (__builtin_add_overflow(told->begin, (int64_t)end, (int64_t *)&end))
			end = INT64_MAX;
		put_head(export, told->lexgion, true);
		put_times(export, begin, (uint64_t)floor_units(export, (int64_t)end) - (uint64_t)begin, LX_PFW_COMPLETE);
		break;
	default:
		put_head(export, told->lexgion, true);
		put_times(export, (int64_t)units(export, told->ticks), 0, LX_PFW_INSTANT);
		break;
	}
	put_end(export, NULL, put_arguments(export, told->lexgion, told->arguments));
}

static int start(struct lx_export *export)
{
	static const uint64_t units_of[] = { [LX_PFW_US] = 1000, [LX_PFW_NS] = 1, [LX_PFW_MS] = 1000000, [LX_PFW_SEC] = 1000000000 };
	struct lx_export_pfw *state = export->state;

	state->unit = units_of[export->pfw ? export->pfw->metric : LX_PFW_US];
	state->letters = export->format == &lx_export_pfw1 || (export->pfw && export->pfw->dialect == LX_PFW_1);
	state->line_file = open_memstream(&state->line, &state->line_size);
	if (!state->line_file)
		return -ENOMEM;
	if (state->letters)
		lx_out_write(export->out, "[\n", 2);
	return 0;
}

static int finish(struct lx_export *export)
{
	const struct lx_export_pfw *state = export->state;

	if (state->letters)
		lx_out_write(export->out, "]\n", 2);
	return 0;
}

static void release(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;

	if (state->line_file)
		fclose(state->line_file);
	free(state->line);
	free(state->reserved);
	lx_pieces_close(&state->pieces);
}

#define OPERATIONS                                                                                 \
	.state_size = sizeof(struct lx_export_pfw), .start = start, .process = new_process, .thread = new_thread, .leave = leave, \
	.told = told, .run_end = run_end, .process_end = end_process, .finish = finish, .release = release

const struct lx_export_format lx_export_pfw = {
	.name = "pfw",
	.extension = ".pfw.gz",
	.extensions = ".pfw",
	.summary = "DFTracer's tools (they ask for .pfw.gz)",
	OPERATIONS,
};

const struct lx_export_format lx_export_pfw1 = {
	.name = "pfw1",
	.extension = ".pfw",
	.extensions = "",
	.summary = "DFTracer's 1.x tools and the Perfetto UI",
	OPERATIONS,
};
