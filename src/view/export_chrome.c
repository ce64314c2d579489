/*
 * Chrome's trace event JSON, an object with "traceEvents". Slices are pairs of B and E records in the order of their
 * thread, because viewers nest these right even when begin and end fall on one nanosecond. Times are microseconds since
 * the run's start with three decimals: since the epoch they would not fit into the doubles that viewers keep.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lextrace/version.h"
#include "view/export.h"
#include "view/export_text.h"
#include "view/json_value.h"

struct chrome {
	struct lx_pieces pieces; /* "name":…} of each lexgion */
	char *scratch;           /* one record of another kind than B and E */
	size_t scratch_size;
	FILE *scratch_file;
	struct lx_json json;
	bool comma;
	bool described;          /* the process has its name */
	uint64_t told;           /* spans told of afterwards */
	char head[96];           /* of the current thread's records, from "," up to the time; B or E goes to head[KIND] */
	size_t head_size;
};

#define HEAD ",\n{\"ph\":\"B\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":"
#define KIND 9

/* What is in the scratch file goes out. */
static void put_scratch(struct lx_export *export)
{
	struct chrome *state = export->state;

	if (fflush(state->scratch_file) != 0 || ferror(state->scratch_file)) {
		export->error = -ENOMEM;
		return;
	}
	lx_out_write(export->out, state->scratch, (size_t)ftello(state->scratch_file));
	rewind(state->scratch_file);
	lx_json_init(&state->json, state->scratch_file, false);
}

static struct lx_json *begin_record(struct lx_export *export, const char *kind)
{
	struct chrome *state = export->state;

	if (state->comma)
		fputs(",\n", state->scratch_file);
	state->comma = true;
	lx_json_object(&state->json);
	lx_json_key(&state->json, "ph");
	lx_json_string(&state->json, kind);
	lx_json_key(&state->json, "pid");
	lx_json_u64(&state->json, export->pid);
	return &state->json;
}

/* A metadata record: {"ph":"M", … "name":NAME,"args":{KEY:value}}, the value by text or, if that is NULL, number. */
static void put_metadata(struct lx_export *export, const char *name, const char *key, const char *text, size_t size,
			 uint32_t number)
{
	struct lx_json *json = begin_record(export, "M");

	lx_json_key(json, "tid");
	lx_json_u64(json, export->thread ? export->tid : export->pid);
	lx_json_key(json, "name");
	lx_json_string(json, name);
	lx_json_key(json, "args");
	lx_json_object(json);
	lx_json_key(json, key);
	if (text)
		lx_json_text(json, text, size);
	else
		lx_json_u64(json, number);
	lx_json_object_end(json);
	lx_json_object_end(json);
	put_scratch(export);
}

static uint8_t *put_time(uint8_t *at, uint64_t ns)
{
	unsigned rest = (unsigned)(ns % 1000);

	at = lx_out_decimal(at, ns / 1000);
	*at++ = '.';
	*at++ = (uint8_t)('0' + rest / 100);
	*at++ = (uint8_t)('0' + rest / 10 % 10);
	*at++ = (uint8_t)('0' + rest % 10);
	return at;
}

/* A mark across the process. */
static void put_moment(struct lx_export *export, uint64_t ticks, const char *text, size_t size)
{
	uint8_t time[32], *end = put_time(time, lx_export_ns(export, ticks));
	struct lx_json *json = begin_record(export, "i");

	lx_json_key(json, "tid");
	lx_json_u64(json, export->pid);
	fprintf(json->file, ",\"ts\":%.*s", (int)(end - time), (char *)time);
	lx_json_key(json, "s");
	lx_json_string(json, "p");
	lx_json_key(json, "name");
	lx_json_text(json, text, size);
	lx_json_object_end(json);
	put_scratch(export);
}

static void describe_process(struct lx_export *export)
{
	struct chrome *state = export->state;
	const struct lx_thread_info *thread = export->thread;
	const char *program = lx_export_program(export);

	state->described = true;
	export->thread = NULL;
	put_metadata(export, "process_name", "name", program, strlen(program), 0);
	put_metadata(export, "process_sort_index", "sort_index", NULL, 0, export->process_index);
	lx_export_moments(export, put_moment);
	export->thread = thread;
}

static void new_thread(struct lx_export *export)
{
	struct chrome *state = export->state;
	const struct lx_thread_info *thread = export->thread;

	if (!state->described)
		describe_process(export);
	put_metadata(export, "thread_name", "name", thread->name, strlen(thread->name), 0);
	put_metadata(export, "thread_sort_index", "sort_index", NULL, 0, thread->number);
	state->head_size = (size_t)snprintf(state->head, sizeof(state->head), HEAD, export->pid, export->tid);
}

static int new_process(struct lx_export *export)
{
	struct chrome *state = export->state;

	lx_pieces_close(&state->pieces);
	state->described = false;
	return lx_pieces_open(&state->pieces, export->process, 1);
}

static int end_process(struct lx_export *export)
{
	struct chrome *state = export->state;

	if (!state->described && lx_export_moments(export, NULL) > 0)
		describe_process(export);
	return export->error;
}

static void put_label(struct lx_json *json, const struct lx_lexgion *lexgion, const char **comp)
{
	struct lx_export_label label;

	lx_export_label(lexgion, &label);
	lx_json_key(json, "name");
	lx_json_text(json, label.name, label.name_size);
	lx_json_key(json, "cat");
	lx_json_text(json, label.category, label.category_size);
	*comp = label.comp;
}

static void make_piece(struct lx_export *export, struct lx_piece *piece, uint32_t id)
{
	struct chrome *state = export->state;
	struct lx_json *json = &state->pieces.json;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);
	const char *comp;

	lx_pieces_begin(&state->pieces);
	lx_json_object(json);
	put_label(json, lexgion, &comp);
	if (lexgion->file_size > 0 || comp) {
		lx_json_key(json, "args");
		lx_json_object(json);
		if (comp) {
			lx_json_key(json, "comp");
			lx_json_string(json, comp);
		}
		if (lexgion->file_size > 0) {
			lx_json_key(json, "file");
			lx_json_text(json, lexgion->file, lexgion->file_size);
			lx_json_key(json, "line");
			lx_json_u64(json, lexgion->line);
		}
		lx_json_object_end(json);
	}
	lx_json_object_end(json);
	if (lx_pieces_end(&state->pieces, piece, 1, 0) < 0)
		export->error = -ENOMEM;
}

static void enter(struct lx_export *export, struct lx_span *span)
{
	struct chrome *state = export->state;
	struct lx_piece *piece = lx_pieces_of(&state->pieces, span->lexgion);

	if (__builtin_expect(piece->size == 0, 0))
		make_piece(export, piece, span->lexgion);
	uint8_t *at = lx_out_room(export->out, sizeof(state->head) + 32);

	memcpy(at, state->head, sizeof(state->head));
	at = put_time(at + state->head_size, lx_export_ns(export, span->begin));
	*at++ = ',';
	export->out->at = at;
	lx_out_write(export->out, state->pieces.text + piece->at, piece->size);
}

/* The end of a region that has arguments; viewers add them to those of its begin. */
static void put_arguments(struct lx_export *export, const char *ended, const struct lx_arguments *arguments)
{
	struct chrome *state = export->state;
	struct lx_json *json = &state->json;

	fputs(",\"args\":", state->scratch_file);
	lx_json_object(json);
	if (ended) {
		lx_json_key(json, "ended");
		lx_json_string(json, ended);
	}
	lx_export_arguments(json, export->process, arguments);
	lx_json_object_end(json);
	putc('}', state->scratch_file);
	put_scratch(export);
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	struct chrome *state = export->state;
	const char *ended = lx_export_ended(span->ended);
	uint8_t *at = lx_out_room(export->out, sizeof(state->head) + 96);

	memcpy(at, state->head, sizeof(state->head));
	at[KIND] = 'E';
	at = put_time(at + state->head_size, lx_export_ns(export, span->end));
	if (span->arguments) {
		export->out->at = at;
		put_arguments(export, ended, span->arguments);
		return;
	}
	if (ended) {
		at = LX_OUT_LITERAL(at, ",\"args\":{\"ended\":\"");
		at = lx_out_copy(at, ended, strlen(ended));
		at = LX_OUT_LITERAL(at, "\"}");
	}
	*at++ = '}';
	export->out->at = at;
}

/* A record of kind b, e, i or C at a moment relative to the run's start, up to its "args". */
static struct lx_json *begin_told(struct lx_export *export, const char *kind, const struct lx_told *told, int64_t ns,
				  const char **comp)
{
	struct lx_json *json = begin_record(export, kind);
	uint8_t time[32], *end = put_time(time, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);

	lx_json_key(json, "tid");
	lx_json_u64(json, export->tid);
	lx_json_key(json, "ts");
	if (ns < 0)
		putc('-', json->file);
	lx_json_raw(json, (const char *)time, (size_t)(end - time));
	put_label(json, lx_lexgion(export->process, told->lexgion), comp);
	return json;
}

/* It may overlap with anything of its thread, so it is an event beside it: "b" and "e" of the same number. */
static void put_told_span(struct lx_export *export, const struct lx_told *told)
{
	struct chrome *state = export->state;
	int64_t begin = (int64_t)((uint64_t)told->begin - export->origin), end;
	const char *comp;

	state->told++;
	if (told->duration > INT64_MAX || __builtin_add_overflow(begin, (int64_t)told->duration, &end))
		end = INT64_MAX;
	for (int half = 0; half < 2; half++) {
		struct lx_json *json = begin_told(export, half ? "e" : "b", told, half ? end : begin, &comp);

		lx_json_key(json, "id2");
		lx_json_object(json);
		lx_json_key(json, "local");
		lx_json_u64(json, state->told);
		lx_json_object_end(json);
		if (!half) {
			lx_json_key(json, "args");
			lx_json_object(json);
			if (comp) {
				lx_json_key(json, "comp");
				lx_json_string(json, comp);
			}
			lx_export_arguments(json, export->process, told->arguments);
			lx_json_object_end(json);
		}
		lx_json_object_end(json);
	}
	put_scratch(export);
}

static void told(struct lx_export *export, const struct lx_told *told)
{
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, told->lexgion);
	struct lx_export_label label;
	struct lx_json *json;
	const char *comp;

	if (told->kind == LX_EV_SPAN) {
		put_told_span(export, told);
		return;
	}
	if (told->kind == LX_EV_COUNTER && !isfinite(told->value))
		return; /* no number that a viewer draws */
	if (told->kind == LX_EV_METADATA) {
		json = begin_record(export, "M");
		lx_json_key(json, "name");
		lx_json_string(json, "metadata");
		lx_json_key(json, "args");
		lx_json_object(json);
		lx_export_arguments(json, export->process, told->arguments);
	} else if (told->kind == LX_EV_COUNTER) {
		json = begin_told(export, "C", told, (int64_t)lx_export_ns(export, told->ticks), &comp);
		lx_export_label(lexgion, &label);
		lx_json_key(json, "args");
		lx_json_object(json);
		lx_json_key_text(json, label.name, label.name_size);
		lx_json_float(json, told->value);
	} else {
		json = begin_told(export, "i", told, (int64_t)lx_export_ns(export, told->ticks), &comp);
		lx_json_key(json, "s");
		lx_json_string(json, "t");
		lx_json_key(json, "args");
		lx_json_object(json);
		lx_export_arguments(json, export->process, told->arguments);
	}
	lx_json_object_end(json);
	lx_json_object_end(json);
	put_scratch(export);
}

static void put_process(struct lx_json *json, const struct lx_export *export, const struct lx_process *process)
{
	lx_json_object(json);
	lx_json_key(json, "pid");
	lx_json_u64(json, process->state.pid);
	lx_json_key(json, "program");
	lx_json_string(json, lx_functions_program(&export->pass->functions, process)->name);
	lx_json_key(json, "lost");
	lx_json_u64(json, process->lost_total);
	lx_json_object_end(json);
}

static int start(struct lx_export *export)
{
	static const char begin[] = ",\n\"traceEvents\":[\n";
	struct chrome *state = export->state;
	const struct lx_trace *trace = export->pass->trace;
	struct lx_json *json = &state->json;

	state->scratch_file = open_memstream(&state->scratch, &state->scratch_size);
	if (!state->scratch_file)
		return -ENOMEM;
	lx_json_init(json, state->scratch_file, false);
	lx_json_object(json);
	lx_json_key(json, "displayTimeUnit");
	lx_json_string(json, "ns");
	lx_json_key(json, "otherData");
	lx_json_object(json);
	lx_json_key(json, "tracer");
	lx_json_string(json, "lextrace " LX_VERSION);
	lx_json_key(json, "run");
	lx_json_string(json, trace->path);
	lx_json_key(json, "start_realtime_ns");
	fprintf(json->file, "\"%" PRIu64 "\"", export->origin); /* a string: no double holds it */
	json->after_key = false;
	lx_json_key(json, "processes");
	lx_json_array(json);
	for (size_t i = 0; i < trace->process_count; i++)
		if (lx_pass_has_process(export->pass, &trace->processes[i]))
			put_process(json, export, &trace->processes[i]);
	lx_json_array_end(json);
	lx_json_object_end(json);
	fwrite(begin, 1, sizeof(begin) - 1, json->file);
	put_scratch(export);
	return export->error;
}

static int finish(struct lx_export *export)
{
	lx_out_write(export->out, "\n]}\n", 4);
	return 0;
}

static void release(struct lx_export *export)
{
	struct chrome *state = export->state;

	if (state->scratch_file)
		fclose(state->scratch_file);
	free(state->scratch);
	lx_pieces_close(&state->pieces);
}

const struct lx_export_format lx_export_chrome = {
	.name = "chrome",
	.extension = ".json",
	.extensions = ".json",
	.summary = "the Perfetto UI, chrome://tracing and most trace viewers",
	.state_size = sizeof(struct chrome),
	.start = start,
	.process = new_process,
	.thread = new_thread,
	.enter = enter,
	.leave = leave,
	.told = told,
	.process_end = end_process,
	.finish = finish,
	.release = release,
};
