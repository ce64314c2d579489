/* The records of a .pfw file that tell of the process: its host, its command, its start and end. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "view/export_pfw_state.h"

#define DIALECT 20003 /* "version" of the start record */
#define DIALECT_LETTERS 10008

const char *lx_export_pfw_phase(const struct lx_export_pfw *state, enum lx_export_pfw_phase phase)
{
	static const char *const phases[][2] = {
		[LX_PFW_COMPLETE] = { "1", "\"X\"" }, [LX_PFW_COUNTER] = { "2", "\"C\"" },
		[LX_PFW_METADATA] = { "4", "\"M\"" }, [LX_PFW_INSTANT] = { "1", "\"i\"" }, /* 2.x has none */
	};

	return phases[phase][state->letters];
}

/* 64-bit FNV-1a as 16 hex digits, the form of the format's name hashes. */
static void hash_name(char out[17], const char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	snprintf(out, 17, "%016" PRIx64, hash);
}

void lx_export_pfw_put(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;

	if (fflush(state->line_file) != 0 || ferror(state->line_file)) {
		export->error = -ENOMEM;
		return;
	}
	lx_out_write(export->out, state->line, (size_t)ftello(state->line_file));
	rewind(state->line_file);
}

/* A record up to its arguments: after this come members of "args", then end_record(). */
static struct lx_json *begin_record(struct lx_export *export, const char *name, unsigned type, bool event, uint64_t ticks)
{
	struct lx_export_pfw *state = export->state;
	struct lx_json *json = &state->json;
	const char *phase = lx_export_pfw_phase(state, event ? LX_PFW_COMPLETE : LX_PFW_METADATA);

	lx_json_init(json, state->line_file, false);
	lx_json_object(json);
	if (event || state->letters) {
		lx_json_key(json, "id");
		lx_json_u64(json, ++state->id);
	}
	state->events += event;
	lx_json_key(json, "name");
	lx_json_string(json, name);
	lx_json_key(json, "cat");
	lx_json_string(json, "dftracer");
	if (!state->letters) {
		lx_json_key(json, "type");
		lx_json_u64(json, type);
	}
	lx_json_key(json, "pid");
	lx_json_u64(json, export->pid);
	lx_json_key(json, "tid");
	lx_json_u64(json, export->thread ? export->tid : export->pid);
	if (event) {
		lx_json_key(json, "ts");
		lx_json_u64(json, lx_real_ns(export->process, ticks) / state->unit);
		lx_json_key(json, "dur");
		lx_json_u64(json, 0);
	}
	lx_json_key(json, "ph");
	lx_json_raw(json, phase, strlen(phase));
	lx_json_key(json, "args");
	lx_json_object(json);
	lx_json_key(json, "hhash");
	lx_json_string(json, state->host);
	return json;
}

static void end_record(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;

	lx_json_object_end(&state->json);
	lx_json_object_end(&state->json);
	putc('\n', state->line_file);
	lx_export_pfw_put(export);
}

struct lx_json *lx_export_pfw_begin_metadata(struct lx_export *export, const char *kind, unsigned type, const char *name, size_t size)
{
	struct lx_json *json = begin_record(export, kind, type, false, 0);

	lx_export_pfw_put_text(json, "name", name, size);
	lx_json_key(json, "value");
	return json;
}

void lx_export_pfw_end_metadata(struct lx_export *export)
{
	end_record(export);
}

void lx_export_pfw_put_metadata(struct lx_export *export, const char *kind, const char *name, size_t size, const char *value)
{
	lx_json_string(lx_export_pfw_begin_metadata(export, kind, LX_PFW_DFTRACER, name, size), value);
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
	lx_export_pfw_put_metadata(export, kind, copy, size, hash);
	free(copy);
}

/* Losses stand in the metadata: the other moments are those at which domains stopped. */
static void put_mode(struct lx_export *export, const struct lx_mode_mark *mark)
{
	struct lx_json *json = begin_record(export, "mode", LX_PFW_DFTRACER, true, mark->ticks);

	lx_json_key(json, "domain");
	lx_json_string(json, lx_domain_name(mark->domain));
	lx_json_key(json, "mode");
	lx_json_string(json, lx_mode_text(mark->mode));
	end_record(export);
}

static const char *metric_name(uint64_t unit)
{
	return unit == 1 ? "NS" : unit == 1000 ? "US" : unit == 1000000 ? "MS" : "SEC";
}

static void put_start(struct lx_export *export, const char *command, const char *executable, const char *folder)
{
	const struct lx_export_pfw *state = export->state;
	struct lx_json *json = begin_record(export, "start", LX_PFW_DFTRACER, true, export->process->first);
	time_t seconds = (time_t)(lx_real_ns(export->process, export->process->first) / 1000000000u);
	char date[64];

	lx_json_key(json, "ppid");
	lx_json_u64(json, export->process->state.parent_pid);
	lx_export_pfw_put_text(json, "cmd_hash", command, 16);
	lx_export_pfw_put_text(json, "exec_hash", executable, 16);
	lx_json_key(json, "version");
	lx_json_u64(json, state->letters ? DIALECT_LETTERS : DIALECT);
	ctime_r(&seconds, date);
	lx_export_pfw_put_text(json, "date", date, strcspn(date, "\n"));
	lx_export_pfw_put_text(json, "cwd", folder, 16);
	end_record(export);
}

void lx_export_pfw_start_process(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;
	const struct lx_thread_info *thread = export->thread;
	char command[17] = "", executable[17] = "", folder[17] = "", losses[512];
	const char *host = export->process->key[LX_KEY_host] ? export->process->key[LX_KEY_host] : "";

	if (state->started)
		return;
	state->started = true;
	export->thread = NULL; /* these records are the main thread's */
	hash_name(state->host, host, strlen(host));
	lx_export_pfw_put_metadata(export, "HH", host, strlen(host), state->host);
	if (!state->letters || state->unit != 1000) /* 1.x knew microseconds only */
		lx_export_pfw_put_metadata(export, "CM", "time_metric", strlen("time_metric"), metric_name(state->unit));
	put_hashed(export, "FH", LX_KEY_cwd, folder);
	put_hashed(export, "SH", LX_KEY_argv, command);
	put_hashed(export, "SH", LX_KEY_executable, executable);
	if (lx_export_losses(export->process, losses, sizeof(losses)) > 0)
		lx_export_pfw_put_metadata(export, "CM", "lost_events", strlen("lost_events"), losses);
	put_start(export, command, executable, folder);
	for (size_t i = 0; i < export->mark_count; i++)
		put_mode(export, &export->marks[i]);
	export->thread = thread;
}

void lx_export_pfw_end_process(struct lx_export *export)
{
	struct lx_export_pfw *state = export->state;
	struct lx_json *json;

	export->thread = NULL;
	if (!state->named) /* nothing was recorded: the process is its main thread */
		lx_export_pfw_put_metadata(export, "thread_name", "MainThread", strlen("MainThread"), "thread_name");
	json = begin_record(export, "end", LX_PFW_DFTRACER, true, export->process->last);
	lx_json_key(json, "num_events");
	lx_json_u64(json, state->events - 1);
	end_record(export);
}
