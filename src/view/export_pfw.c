/*
 * DFTracer's trace format in its 2.x dialect: one JSON object a line, a line a slice when it ends. Times are whole
 * microseconds since the epoch; as begin and end are rounded down alike, a callee never reaches out of its caller.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "view/export.h"
#include "view/export_text.h"

#define DIALECT 20003 /* "version" of the start record */

enum { TYPE_DFTRACER = 1, TYPE_LIBC_IO = 3, TYPE_PYTHON = 6, TYPE_MPI = 10, TYPE_CUDA = 14 };
enum { PH_COMPLETE = 1, PH_METADATA = 4 };
enum { PIECE_NAME, PIECE_ARGS, PIECES }; /* "name":…,"type":6   and   {"hhash":…,"line":3 */

struct pfw {
	struct lx_pieces pieces;
	struct lx_json json;    /* writes to the line below */
	FILE *line_file;
	char *line;
	size_t line_size;
	uint64_t id;            /* of the process's last event */
	char host[17];          /* hash of the host's name */
	char ids[64];           /* ,"pid":…,"tid":…,"ts": of the current thread */
	size_t ids_size;
	bool started;
};

/* 64-bit FNV-1a as 16 hex digits, the form of the format's name hashes. */
static void hash_name(char out[17], const char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	snprintf(out, 17, "%016" PRIx64, hash);
}

static void put_line(struct lx_export *export)
{
	struct pfw *state = export->state;

	putc('\n', state->line_file);
	if (fflush(state->line_file) != 0 || ferror(state->line_file)) {
		export->error = -ENOMEM;
		return;
	}
	lx_out_write(export->out, state->line, (size_t)ftello(state->line_file));
	rewind(state->line_file);
}

/* A record up to its arguments: after this come members of "args", then end_record(). */
static struct lx_json *begin_record(struct lx_export *export, const char *name, bool event, uint64_t ticks)
{
	struct pfw *state = export->state;
	struct lx_json *json = &state->json;

	lx_json_init(json, state->line_file, false);
	lx_json_object(json);
	if (event) {
		lx_json_key(json, "id");
		lx_json_u64(json, ++state->id);
	}
	lx_json_key(json, "name");
	lx_json_string(json, name);
	lx_json_key(json, "cat");
	lx_json_string(json, "dftracer");
	lx_json_key(json, "type");
	lx_json_u64(json, TYPE_DFTRACER);
	lx_json_key(json, "pid");
	lx_json_u64(json, export->pid);
	lx_json_key(json, "tid");
	lx_json_u64(json, export->thread ? export->tid : export->pid);
	if (event) {
		lx_json_key(json, "ts");
		lx_json_u64(json, lx_real_ns(export->process, ticks) / 1000);
		lx_json_key(json, "dur");
		lx_json_u64(json, 0);
	}
	lx_json_key(json, "ph");
	lx_json_u64(json, event ? PH_COMPLETE : PH_METADATA);
	lx_json_key(json, "args");
	lx_json_object(json);
	lx_json_key(json, "hhash");
	lx_json_string(json, state->host);
	return json;
}

static void end_record(struct lx_export *export)
{
	struct pfw *state = export->state;

	lx_json_object_end(&state->json);
	lx_json_object_end(&state->json);
	put_line(export);
}

static void put_text(struct lx_json *json, const char *key, const char *text, size_t size)
{
	lx_json_key(json, key);
	lx_json_text(json, text, size);
}

static void put_metadata(struct lx_export *export, const char *kind, const char *name, size_t size, const char *value)
{
	struct lx_json *json = begin_record(export, kind, false, 0);

	put_text(json, "name", name, size);
	put_text(json, "value", value, strlen(value));
	end_record(export);
}

/* A string's hash, after the record that says which string it stands for; an argument list is joined by ";". */
static void put_hashed(struct lx_export *export, const char *kind, enum lx_process_key key, char hash[17])
{
	const char *text = export->process->key[key];
	size_t size = text ? export->process->key_size[key] : 0;
	char *copy = malloc(size + 1);

	if (!copy) {
		export->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < size; i++)
		copy[i] = text[i] ? text[i] : ';';
	hash_name(hash, copy, size);
	put_metadata(export, kind, copy, size, hash);
	free(copy);
}

/* Losses stand in the metadata: the other moments are those at which domains stopped. */
static void put_mode(struct lx_export *export, const struct lx_mode_mark *mark)
{
	struct lx_json *json = begin_record(export, "mode", true, mark->ticks);

	lx_json_key(json, "domain");
	lx_json_string(json, lx_domain_name(mark->domain));
	lx_json_key(json, "mode");
	lx_json_string(json, lx_mode_text(mark->mode));
	end_record(export);
}

static void start_process(struct lx_export *export)
{
	struct pfw *state = export->state;
	const struct lx_thread_info *thread = export->thread;
	char command[17], executable[17], folder[17], date[64], losses[512];
	time_t seconds = (time_t)(lx_real_ns(export->process, export->process->first) / 1000000000u);
	const char *host = export->process->key[LX_KEY_host] ? export->process->key[LX_KEY_host] : "";
	struct lx_json *json;

	state->started = true;
	export->thread = NULL; /* these records are the main thread's */
	hash_name(state->host, host, strlen(host));
	put_metadata(export, "HH", host, strlen(host), state->host);
	put_metadata(export, "CM", "time_metric", strlen("time_metric"), "US");
	put_hashed(export, "FH", LX_KEY_cwd, folder);
	put_hashed(export, "SH", LX_KEY_argv, command);
	put_hashed(export, "SH", LX_KEY_executable, executable);
	if (lx_export_losses(export->process, losses, sizeof(losses)) > 0)
		put_metadata(export, "CM", "lost_events", strlen("lost_events"), losses);
	json = begin_record(export, "start", true, export->process->first);
	lx_json_key(json, "ppid");
	lx_json_u64(json, export->process->state.parent_pid);
	put_text(json, "cmd_hash", command, 16);
	put_text(json, "exec_hash", executable, 16);
	lx_json_key(json, "version");
	lx_json_u64(json, DIALECT);
	ctime_r(&seconds, date);
	put_text(json, "date", date, strcspn(date, "\n"));
	put_text(json, "cwd", folder, 16);
	end_record(export);
	for (size_t i = 0; i < export->mark_count; i++)
		put_mode(export, &export->marks[i]);
	export->thread = thread;
}

static void new_thread(struct lx_export *export)
{
	struct pfw *state = export->state;

	if (!state->started)
		start_process(export);
	put_metadata(export, "thread_name", export->thread->name, strlen(export->thread->name), "thread_name");
	state->ids_size = (size_t)snprintf(state->ids, sizeof(state->ids), ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":",
					   export->pid, export->tid);
}

static int new_process(struct lx_export *export)
{
	struct pfw *state = export->state;

	lx_pieces_close(&state->pieces);
	state->started = false;
	state->id = 0;
	return lx_pieces_open(&state->pieces, export->process, PIECES);
}

static int end_process(struct lx_export *export)
{
	struct pfw *state = export->state;
	struct lx_json *json;

	if (!state->started && !export->pass->only_thread)
		start_process(export);
	if (!state->started)
		return export->error;
	export->thread = NULL;
	json = begin_record(export, "end", true, export->process->last);
	lx_json_key(json, "num_events");
	lx_json_u64(json, state->id - 1);
	end_record(export);
	return export->error;
}

static unsigned type_of(const struct lx_lexgion *lexgion)
{
	switch (lexgion->domain) {
	case LX_DOMAIN_IO:
		return TYPE_LIBC_IO;
	case LX_DOMAIN_MPI:
		return TYPE_MPI;
	case LX_DOMAIN_CUDA:
		return TYPE_CUDA;
	default:
		return TYPE_PYTHON;
	}
}

static void make_pieces(struct lx_export *export, struct lx_piece *piece, uint32_t id)
{
	struct pfw *state = export->state;
	struct lx_json *json = &state->pieces.json;
	const struct lx_lexgion *lexgion = lx_lexgion(export->process, id);
	const char *category = lx_export_category(lexgion);
	int error;

	lx_pieces_begin(&state->pieces);
	lx_json_object(json);
	put_text(json, "name", lexgion->title, lexgion->title_size);
	put_text(json, "cat", category, strlen(category));
	lx_json_key(json, "type");
	lx_json_u64(json, type_of(lexgion));
	lx_json_object_end(json);
	error = lx_pieces_end(&state->pieces, &piece[PIECE_NAME], 1, 1);

	lx_pieces_begin(&state->pieces);
	lx_json_object(json);
	put_text(json, "hhash", state->host, 16);
	if (lexgion->file_size > 0) {
		put_text(json, "file", lexgion->file, lexgion->file_size);
		lx_json_key(json, "line");
		lx_json_u64(json, lexgion->line);
	}
	lx_json_object_end(json);
	if (error < 0 || lx_pieces_end(&state->pieces, &piece[PIECE_ARGS], 0, 1) < 0)
		export->error = -ENOMEM;
}

static void leave(struct lx_export *export, struct lx_span *span)
{
	struct pfw *state = export->state;
	struct lx_out *out = export->out;
	struct lx_piece *piece = lx_pieces_of(&state->pieces, span->lexgion);
	uint64_t begin = lx_real_ns(export->process, span->begin) / 1000, end = lx_real_ns(export->process, span->end) / 1000;
	const char *ended = lx_export_ended(span->ended);

	if (__builtin_expect(piece->size == 0, 0))
		make_pieces(export, piece, span->lexgion);
	uint8_t *at = LX_OUT_LITERAL(lx_out_room(out, 32), "{\"id\":");

	at = lx_out_decimal(at, ++state->id);
	*at++ = ',';
	out->at = at;
	lx_out_write(out, state->pieces.text + piece[PIECE_NAME].at, piece[PIECE_NAME].size);
	at = lx_out_room(out, sizeof(state->ids) + 96);
	memcpy(at, state->ids, sizeof(state->ids));
	at = lx_out_decimal(at + state->ids_size, begin);
	at = LX_OUT_LITERAL(at, ",\"dur\":");
	at = lx_out_decimal(at, end > begin ? end - begin : 0);
	out->at = LX_OUT_LITERAL(at, ",\"ph\":1,\"args\":");
	lx_out_write(out, state->pieces.text + piece[PIECE_ARGS].at, piece[PIECE_ARGS].size);
	at = lx_out_room(out, 64);
	if (ended) {
		at = LX_OUT_LITERAL(at, ",\"ended\":\"");
		at = lx_out_copy(at, ended, strlen(ended));
		*at++ = '"';
	}
	out->at = LX_OUT_LITERAL(at, "}}\n");
}

static int start(struct lx_export *export)
{
	struct pfw *state = export->state;

	state->line_file = open_memstream(&state->line, &state->line_size);
	return state->line_file ? 0 : -ENOMEM;
}

static void release(struct lx_export *export)
{
	struct pfw *state = export->state;

	if (state->line_file)
		fclose(state->line_file);
	free(state->line);
	lx_pieces_close(&state->pieces);
}

const struct lx_export_format lx_export_pfw = {
	.name = "pfw",
	.extension = ".pfw.gz",
	.extensions = ".pfw",
	.summary = "DFTracer's tools (they ask for .pfw.gz)",
	.state_size = sizeof(struct pfw),
	.start = start,
	.process = new_process,
	.thread = new_thread,
	.leave = leave,
	.process_end = end_process,
	.release = release,
};
