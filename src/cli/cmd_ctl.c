/* lextrace ctl: asks a traced program while it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cmd_ctl.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "decide/rules.h"
#include "transform/trace.h"

enum { TIMEOUT, JSON, COLOR };

static const struct lx_option options[] = {
	[TIMEOUT] = { "timeout", 0, "SECONDS", "how long to wait for the program's answer (default: 5)", NULL },
	[JSON] = { "json", 0, NULL, "status: JSON", NULL },
	[COLOR] = { "color", 0, "WHEN", "colour", "auto always never" },
	{ NULL, 0, NULL, NULL, NULL },
};

/* ---- status ---- */

/* The first line of lextrace/config: the path; "" if there is none. */
static void read_config_path(const struct lx_traced *traced, char *out, size_t size)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/lextrace/config", traced->folder);
	FILE *file = fopen(path, "re");

	out[0] = '\0';
	if (file && fgets(out, (int)size, file))
		out[strcspn(out, "\n")] = '\0';
	if (strcmp(out, "-") == 0)
		out[0] = '\0';
	if (file)
		fclose(file);
}

static uint64_t sum_of_lost(const struct lx_state *state)
{
	uint64_t lost = 0;

	for (int i = 0; i < LX_LOSS_COUNT; i++)
		lost += state->lost[i];
	return lost;
}

/* Events so far, those in open packets too. */
static uint64_t events_of(const struct lx_traced *traced)
{
	uint64_t events = traced->state->events;
	char message[512];
	struct lx_trace *trace;

	if (lx_trace_open(traced->folder, &trace, message, sizeof(message)) != 0)
		return events;
	for (size_t i = 0; i < trace->processes[0].stream_count; i++) {
		const struct lx_stream *stream = &trace->processes[0].streams[i];

		for (size_t n = 0; n < stream->packet_count; n++) {
			struct lx_cursor cursor;
			struct lx_event event;

			if (!stream->packets[n].open)
				continue;
			lx_cursor_start(&cursor, &stream->packets[n]);
			while (lx_cursor_next(&cursor, &event))
				events++;
		}
	}
	lx_trace_close(trace);
	return events;
}

static void status_json(const struct lx_traced *traced, const char *config, FILE *file)
{
	const struct lx_state *state = traced->state;
	struct lx_json json;

	lx_json_init(&json, file, true);
	lx_json_object(&json);
	lx_json_key(&json, "pid");
	lx_json_u64(&json, state->pid);
	lx_json_key(&json, "folder");
	lx_json_string(&json, traced->folder);
	lx_json_key(&json, "modes");
	lx_json_object(&json);
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		lx_json_key(&json, lx_domain_info(domain)->name);
		lx_json_string(&json, lx_mode_name(state->modes[domain]));
	}
	lx_json_object_end(&json);
	lx_json_key(&json, "config");
	lx_json_string(&json, *config ? config : NULL);
	lx_json_key(&json, "reloads");
	lx_json_u64(&json, state->reloads);
	lx_json_key(&json, "paused");
	lx_json_bool(&json, state->paused);
	lx_json_key(&json, "signal");
	lx_json_bool(&json, state->signal);
	lx_json_key(&json, "events");
	lx_json_u64(&json, events_of(traced));
	lx_json_key(&json, "lost");
	lx_json_u64(&json, sum_of_lost(state));
	lx_json_key(&json, "c_calls_left_out");
	lx_json_u64(&json, state->bounded);
	lx_json_key(&json, "threads");
	lx_json_u64(&json, state->threads);
	lx_json_key(&json, "rows");
	lx_json_u64(&json, state->rows);
	lx_json_object_end(&json);
}

static void status_text(const struct lx_traced *traced, const char *config, FILE *file)
{
	const struct lx_state *state = traced->state;
	char events[LX_NUMBER_SIZE], lost[LX_NUMBER_SIZE], reloads[LX_NUMBER_SIZE];

	fprintf(file, "process   %u, %s\n", state->pid, traced->folder);
	fprintf(file, "modes    ");
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++)
		if (domain <= LX_DOMAIN_USER || state->modes[domain] != LX_MODE_TRACING)
			fprintf(file, " %s %s", lx_domain_info(domain)->name, lx_mode_name(state->modes[domain]));
	fprintf(file, "%s\n", state->paused ? "   paused by INTROSPECT" : "");
	fprintf(file, "config    %s, %s\n", *config ? config : "none",
		state->reloads ? lx_format_plural(reloads, sizeof(reloads), state->reloads, "reload") : "not reloaded");
	if (!state->signal)
		fprintf(file, "          SIGUSR1 is the program's own: lextrace ctl reaches it at its next event only\n");
	fprintf(file, "events    %s, %s lost\n", lx_format_count(events, sizeof(events), events_of(traced)),
		lx_format_count(lost, sizeof(lost), sum_of_lost(state)));
	if (state->bounded)
		fprintf(file, "          %s C calls left out by max_c_traces\n",
			lx_format_count(events, sizeof(events), state->bounded));
}

static int status(const struct lx_traced *traced, const struct lx_args *args)
{
	char config[PATH_MAX * 4];
	struct lx_output out;

	read_config_path(traced, config, sizeof(config));
	lx_output_begin(&out, args->value[COLOR], false);
	if (args->value[JSON])
		status_json(traced, config, out.file);
	else
		status_text(traced, config, out.file);
	return lx_output_end(&out, LX_STATUS_OK);
}

/* ---- requests ---- */

/* "mode Python=STANDBY User=OFF": the words behind it are joined. */
static int mode_request(const struct lx_args *args, char *out, size_t size)
{
	int8_t modes[LX_RULED_DOMAINS];
	char message[256];
	size_t used = 0;

	if (args->word_count < 3) {
		lx_error("ctl: which mode? lextrace ctl %s mode Python=STANDBY", args->words[0]);
		return LX_STATUS_USAGE;
	}
	used = (size_t)snprintf(out, size, "mode ");
	for (int i = 2; i < args->word_count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i > 2 ? "," : "", args->words[i]);
	if (used >= size || !lx_modes_parse(out + 5, used - 5, '=', modes, message, sizeof(message))) {
		lx_error("ctl: %s", used >= size ? "too many words" : message);
		return LX_STATUS_USAGE;
	}
	return LX_STATUS_OK;
}

static int ask(struct lx_traced *traced, const char *request, double seconds)
{
	char answer[8192];
	int result = lx_traced_ask(traced, request, seconds, answer, sizeof(answer));

	if (result == 0)
		printf("%s\n", answer);
	else if (*answer)
		lx_error("process %u: %s", traced->state->pid, answer);
	return result ? LX_STATUS_FAILED : LX_STATUS_OK;
}

static int run(const struct lx_command *command, const struct lx_args *args)
{
	static const char *const verbs[] = { "status", "reload", "mode", "snapshot" };
	const char *verb = args->word_count > 1 ? args->words[1] : "status", *near;
	char request[1024] = "", *end;
	double seconds = args->value[TIMEOUT] ? strtod(args->value[TIMEOUT], &end) : 5;
	struct lx_traced traced;
	int result = LX_STATUS_OK;

	(void)command;
	if (args->word_count == 0) {
		lx_error("ctl: which program? lextrace ctl PID status");
		return LX_STATUS_USAGE;
	}
	if (args->value[TIMEOUT] && (*end || seconds <= 0 || seconds > 1e6)) {
		lx_error("ctl: --timeout: %s is no number of seconds", args->value[TIMEOUT]);
		return LX_STATUS_USAGE;
	}
	if (strcmp(verb, "mode") == 0) {
		result = mode_request(args, request, sizeof(request));
	} else if (args->word_count > 2) {
		lx_error("ctl: %s takes no more words", verb);
		result = LX_STATUS_USAGE;
	} else if (strcmp(verb, "reload") == 0 || strcmp(verb, "snapshot") == 0) {
		snprintf(request, sizeof(request), "%s", verb);
	} else if (strcmp(verb, "status") != 0) {
		near = lx_nearest(verb, verbs, 4);
		lx_error(near ? "ctl: %s? Did you mean %s?" : "ctl: %s? One of status reload mode snapshot", verb, near);
		result = LX_STATUS_USAGE;
	}
	if (result != LX_STATUS_OK)
		return result;
	if (lx_traced_find(args->words[0], &traced) != 0)
		return LX_STATUS_FAILED;
	result = *request ? ask(&traced, request, seconds) : status(&traced, args);
	lx_traced_close(&traced);
	return result;
}

const struct lx_command lx_cmd_ctl = {
	.name = "ctl",
	.usage = "PID|DIR [status | reload | mode DOMAIN=MODE... | snapshot]",
	.summary = "look at a traced program while it runs, and steer it",
	.description =
		"Works on the traced process PID, or the one that is running in the run folder DIR, through the files of its trace.\n"
		"\n"
		"status (the default) shows the modes of its domains, its configuration and what was recorded so far. reload has the "
		"configuration file read again, as SIGUSR1 does. mode sets modes at once, in all threads: Python=STANDBY, or one "
		"mode for all domains. snapshot copies what is recorded so far into a folder that every reader opens, and prints its "
		"path; the program goes on.\n",
	.examples = "lextrace ctl 4121\thow process 4121 is recorded\n"
		    "lextrace ctl 4121 mode Python=STANDBY\trecord nothing for now\n"
		    "lextrace ctl lextrace-app-1 snapshot\ta copy of the trace so far\n",
	.options = options,
	.word_kind = "run",
	.run = run,
};
