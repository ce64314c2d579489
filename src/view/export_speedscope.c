/*
 * speedscope's file format: one "evented" profile a thread, times in ns since the run's start. The frames are shared;
 * they stand at the file's end, when all functions are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "lextrace/version.h"
#include "view/export.h"

struct speedscope {
	char *scratch;
	size_t scratch_size;
	FILE *scratch_file;
	struct lx_json json;
	uint64_t first, last; /* of the open profile */
	uint32_t profiles;
	bool open;            /* a profile is */
	bool comma;           /* it has events */
};

static void put_scratch(struct lx_export *export)
{
	struct speedscope *state = export->state;

	if (fflush(state->scratch_file) != 0 || ferror(state->scratch_file)) {
		export->error = -ENOMEM;
		return;
	}
	lx_out_write(export->out, state->scratch, (size_t)ftello(state->scratch_file));
	rewind(state->scratch_file);
}

static void end_profile(struct lx_export *export)
{
	struct speedscope *state = export->state;
	uint8_t *at;

	if (!state->open)
		return;
	state->open = false;
	at = LX_OUT_LITERAL(lx_out_room(export->out, 128), "],\"startValue\":");
	at = lx_out_decimal(at, state->first);
	at = LX_OUT_LITERAL(at, ",\"endValue\":");
	at = lx_out_decimal(at, state->last);
	*at++ = '}';
	export->out->at = at;
}

static void new_thread(struct lx_export *export)
{
	static const char events[] = ",\"events\":[";
	struct speedscope *state = export->state;
	struct lx_json *json = &state->json;
	char name[256];
	int size;

	end_profile(export);
	size = snprintf(name, sizeof(name), "%.150s %u %s", lx_export_program(export), export->pid, export->thread->name);
	if (state->profiles++ > 0)
		fputs(",\n", state->scratch_file);
	lx_json_init(json, state->scratch_file, false);
	lx_json_object(json);
	lx_json_key(json, "type");
	lx_json_string(json, "evented");
	lx_json_key(json, "name");
	lx_json_text(json, name, (size_t)size);
	lx_json_key(json, "unit");
	lx_json_string(json, "nanoseconds");
	fwrite(events, 1, sizeof(events) - 1, state->scratch_file);
	put_scratch(export);
	state->open = true;
	state->comma = false;
}

static inline void put_event(struct lx_export *export, char type, const struct lx_span *span, uint64_t ticks)
{
	struct speedscope *state = export->state;
	uint8_t *at = lx_out_room(export->out, 96);

	state->last = lx_export_ns(export, ticks);
	if (!state->comma)
		state->first = state->last;
	else
		*at++ = ',';
	state->comma = true;
	at = LX_OUT_LITERAL(at, "\n{\"type\":\"");
	*at++ = (uint8_t)type;
	at = LX_OUT_LITERAL(at, "\",\"frame\":");
	at = lx_out_decimal(at, lx_pass_function(export->pass, span->lexgion));
	at = LX_OUT_LITERAL(at, ",\"at\":");
	at = lx_out_decimal(at, state->last);
	*at++ = '}';
	export->out->at = at;
}

static void enter(struct lx_export *export, struct lx_span *span)
{
	put_event(export, 'O', span, span->begin);
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	put_event(export, 'C', span, span->end);
}

static int end_process(struct lx_export *export)
{
	end_profile(export);
	return export->error;
}

/* How complete the run is stands in its name: viewers show it, and there is no other place. */
static void put_name(struct lx_json *json, const struct lx_pass *pass)
{
	const struct lx_trace *trace = pass->trace;
	uint64_t lost = 0;
	char note[64] = "", name[512];
	int size;

	for (size_t i = 0; i < trace->process_count; i++)
		if (lx_pass_has_process(pass, &trace->processes[i]))
			lost += trace->processes[i].lost_total;
	if (lost > 0)
		snprintf(note, sizeof(note), " (%" PRIu64 " events lost)", lost);
	size = snprintf(name, sizeof(name), "%.400s%s", trace->path, note);

	lx_json_text(json, name, (size_t)size);
}

static int start(struct lx_export *export)
{
	static const char profiles[] = ",\n\"profiles\":[\n";
	struct speedscope *state = export->state;
	struct lx_json *json = &state->json;

	state->scratch_file = open_memstream(&state->scratch, &state->scratch_size);
	if (!state->scratch_file)
		return -ENOMEM;
	lx_json_init(json, state->scratch_file, false);
	lx_json_object(json);
	lx_json_key(json, "$schema");
	lx_json_string(json, "https://www.speedscope.app/file-format-schema.json");
	lx_json_key(json, "exporter");
	lx_json_string(json, "lextrace " LX_VERSION);
	lx_json_key(json, "name");
	put_name(json, export->pass);
	fwrite(profiles, 1, sizeof(profiles) - 1, state->scratch_file);
	put_scratch(export);
	return export->error;
}

static int finish(struct lx_export *export)
{
	static const char frames[] = "],\n\"shared\":{\"frames\":[\n";
	static const char end[] = "\n]}}\n";
	struct speedscope *state = export->state;
	const struct lx_functions *functions = &export->pass->functions;
	struct lx_json *json = &state->json;

	lx_out_write(export->out, frames, sizeof(frames) - 1);
	for (uint32_t i = 0; i < functions->count && export->error == 0; i++) {
		const struct lx_lexgion *lexgion = functions->items[i].lexgion;

		if (i > 0)
			fputs(",\n", state->scratch_file);
		lx_json_init(json, state->scratch_file, false);
		lx_json_object(json);
		lx_json_key(json, "name");
		lx_json_text(json, lexgion->title, lexgion->title_size);
		if (lexgion->file_size > 0) {
			lx_json_key(json, "file");
			lx_json_text(json, lexgion->file, lexgion->file_size);
			lx_json_key(json, "line");
			lx_json_u64(json, lexgion->line);
		}
		lx_json_object_end(json);
		put_scratch(export);
	}
	lx_out_write(export->out, end, sizeof(end) - 1);
	return export->error;
}

static void release(struct lx_export *export)
{
	struct speedscope *state = export->state;

	if (state->scratch_file)
		fclose(state->scratch_file);
	free(state->scratch);
}

const struct lx_export_format lx_export_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.extensions = ".speedscope.json .speedscope",
	.summary = "speedscope",
	.state_size = sizeof(struct speedscope),
	.start = start,
	.thread = new_thread,
	.enter = enter,
	.leave = leave,
	.process_end = end_process,
	.finish = finish,
	.release = release,
};
