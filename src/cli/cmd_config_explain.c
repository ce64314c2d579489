/* lextrace config explain: which section applies, key by key. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_config.h"
#include "view/pass.h"

static const char *const window_names[] = {
	[LX_KEY_STARTS_AT] = "trace_starts_at",	 [LX_KEY_MAX_TRACES] = "max_num_traces",
	[LX_KEY_RATE] = "tracing_rate",		 [LX_KEY_MAX_C_TRACES] = "max_c_traces",
	[LX_KEY_TIMEOUT] = "window_timeout",	 [LX_KEY_TRIGGER] = "window_end_trigger",
	[LX_KEY_ACTION] = "trace_mode_after",
};

#define WINDOW_KEYS (LX_KEY_ACTION + 1)

/* ---- The question ---- */

/* "Python:solver.py:Solver.run@12": domain, file, name, line. False after a message. */
static bool parse_subject(const char *word, struct lx_subject *subject)
{
	const char *colon = strchr(word, ':'), *name = colon ? colon + 1 : word, *at;
	int domain = colon ? lx_domain_of(word, (size_t)(colon - word)) : -1;

	*subject = (struct lx_subject){ .file = "" };
	if (strncmp(word, "0x", 2) == 0) {
		domain = LX_DOMAIN_OPENMP;
		name = word;
	}
	if (domain < 0 || !*name) {
		lx_error("config explain: %s? A place is written Python:NAME, Python:FILE.py:NAME, User:NAME", word);
		return false;
	}
	subject->domain = (uint32_t)domain;
	const char *inner = domain == LX_DOMAIN_PYTHON ? strchr(name, ':') : NULL;

	if (inner) {
		subject->file = strndup(name, (size_t)(inner - name));
		name = inner + 1;
	}
	subject->file = subject->file ? subject->file : "";
	subject->file_size = strlen(subject->file);
	subject->name = name;
	subject->name_size = strlen(name);
	at = domain == LX_DOMAIN_PYTHON ? strrchr(name, '@') : NULL;
	if (at && at > name && at[1] && strspn(at + 1, "0123456789") == strlen(at + 1)) {
		subject->line = (uint32_t)strtoul(at + 1, NULL, 10);
		subject->name_size = (size_t)(at - name);
	}
	return true;
}

static void decide(struct lx_explained *it)
{
	static const char *const variables[] = { "PINSIGHT_TRACE_PYTHON", "PINSIGHT_TRACE_USER", "PINSIGHT_TRACE_IO",
						 "PINSIGHT_TRACE_OPENMP", "PINSIGHT_TRACE_MPI", "PINSIGHT_TRACE_CUDA" };
	const struct lx_rules *rules = it->file->rules;
	uint32_t domain = it->subject.domain;
	const struct lx_value *mode = &lx_rules_domain(rules, domain)->mode;
	const char *value = getenv(variables[domain]);
	int named = value ? lx_mode_of(value, strlen(value)) : -1;
	const struct lx_domain_info *info = lx_domain_info(domain);

	for (int kind = 0; kind < LX_PUNIT_KINDS_MAX; kind++)
		it->punits[kind] = LX_NO_PUNIT;
	for (int kind = 0; info->punits[kind]; kind++)
		if (strcmp(info->punits[kind], "thread") == 0 || !info->punits[1])
			it->punits[kind] = it->thread;
	it->section = lx_rules_section(rules, &it->subject);
	lx_rules_window(rules, it->section, &it->window);
	it->switches = lx_rules_switches(rules, it->section, domain, it->punits);
	it->mode = named >= 0 ? (uint32_t)named : mode->line ? (uint32_t)mode->number : LX_MODE_TRACING;
	it->mode_variable = named >= 0 ? variables[domain] : NULL;
	it->in_domain = lx_rules_domain_admits(rules, domain, it->punits);
	it->in_section = lx_section_admits(it->section, it->punits);
}

/* ---- As JSON ---- */

static void json_window(const struct lx_explained *it, struct lx_json *json)
{
	const struct lx_window *window = &it->window;

	lx_json_key(json, "window");
	lx_json_object(json);
	lx_json_key(json, "trace_starts_at");
	lx_json_u64(json, window->starts_at);
	lx_json_key(json, "max_num_traces");
	lx_json_i64(json, window->max_traces);
	lx_json_key(json, "tracing_rate");
	lx_json_u64(json, window->rate);
	lx_json_key(json, "max_c_traces");
	lx_json_i64(json, window->max_c_traces);
	lx_json_key(json, "window_timeout");
	if (window->timeout > 0)
		lx_json_double(json, window->timeout, 6);
	else
		lx_json_null(json);
	lx_json_key(json, "window_end_trigger");
	lx_json_string(json, window->trigger == LX_TRIGGER_ALL ? "all" : "first");
	lx_json_key(json, "trace_mode_after");
	lx_json_string(json, window->action ? window->action->text : NULL);
	lx_json_object_end(json);
}

static void json_section(struct lx_json *json, const struct lx_section *section)
{
	lx_json_object(json);
	lx_json_key(json, "title");
	lx_json_string(json, section->title);
	lx_json_key(json, "line");
	lx_json_u64(json, section->line);
	lx_json_object_end(json);
}

void lx_explain_json(const struct lx_explained *it, struct lx_json *json)
{
	const struct lx_rules *rules = it->file->rules;
	const struct lx_domain_info *info = lx_domain_info(it->subject.domain);

	lx_json_key(json, "place");
	lx_json_string(json, it->spelled);
	lx_json_key(json, "thread");
	lx_json_u64(json, it->thread);
	lx_json_key(json, "mode");
	lx_json_string(json, lx_mode_name(it->mode));
	lx_json_key(json, "in_set");
	lx_json_bool(json, it->in_domain && it->in_section);
	json_window(it, json);
	lx_json_key(json, "switches");
	lx_json_object(json);
	for (uint32_t bit = 0; info->switches[bit].name; bit++) {
		lx_json_key(json, info->switches[bit].name);
		lx_json_bool(json, it->switches >> bit & 1);
	}
	lx_json_object_end(json);
	lx_json_key(json, "section");
	json_section(json, it->section);
	lx_json_key(json, "sources");
	lx_json_object(json);
	for (int key = 0; key < WINDOW_KEYS; key++) {
		const struct lx_section *source = lx_rules_window_source(rules, it->section, (enum lx_window_key)key);

		lx_json_key(json, window_names[key]);
		if (source)
			json_section(json, source);
		else
			lx_json_null(json);
	}
	lx_json_object_end(json);
	lx_json_key(json, "matching");
	lx_json_array(json);
	for (size_t i = 0; i < rules->section_count; i++)
		if (rules->sections[i]->kind == LX_SECTION_NAMED && lx_section_matches(rules->sections[i], &it->subject))
			json_section(json, rules->sections[i]);
	lx_json_array_end(json);
}

/* ---- The command ---- */

static bool is_place(const char *word)
{
	const char *colon = strchr(word, ':');

	return strncmp(word, "0x", 2) == 0 || (colon && lx_domain_of(word, (size_t)(colon - word)) >= 0);
}

/* The configuration that a run keeps. */
static int read_kept(const char *folder, struct lx_config_file *file)
{
	char message[1024];
	struct lx_trace *trace;
	int status = LX_STATUS_FAILED;

	if (lx_trace_open(folder, &trace, message, sizeof(message)) != 0) {
		lx_error("%s", message);
		return status;
	}
	for (size_t i = 0; i < trace->process_count; i++) {
		const struct lx_config *config = &trace->processes[i].config;
		char *text = config->text ? malloc(config->size + 1) : NULL;

		if (!text)
			continue;
		memcpy(text, config->text, config->size);
		const char *name = config->path ? strrchr(config->path, '/') : NULL;

		status = lx_config_file_parse(name ? strdup(name + 1) : "configuration", text, config->size, config->path ? -1 : 0,
					      NULL, file);
		break;
	}
	if (status)
		lx_error("%s keeps no configuration; name the file: lextrace config explain FILE NAME", folder);
	lx_trace_close(trace);
	return status;
}

static int answer(struct lx_explained *it, const struct lx_args *args)
{
	const char *folder = args->value[LX_CONFIG_RUN];
	struct lx_output out;
	struct lx_json json;
	int status = LX_STATUS_OK;

	lx_output_begin(&out, args->value[LX_CONFIG_COLOR], false);
	if (args->value[LX_CONFIG_JSON]) {
		lx_json_init(&json, out.file, true);
		lx_json_object(&json);
		if (it->spelled)
			lx_explain_json(it, &json);
		if (it->spelled && folder)
			status = lx_explain_run(it, folder, NULL, &json);
		if (!it->spelled)
			status = lx_explain_sections(it->file, folder, NULL, &json);
		lx_json_object_end(&json);
	} else if (it->spelled) {
		lx_explain_text(it, &out);
		if (folder)
			status = lx_explain_run(it, folder, &out, NULL);
	} else {
		status = lx_explain_sections(it->file, folder, &out, NULL);
	}
	return lx_output_end(&out, status);
}

int lx_config_explain(const struct lx_args *args, char **words, int count)
{
	const char *path = NULL, *place = NULL, *thread = args->value[LX_CONFIG_THREAD], *folder = args->value[LX_CONFIG_RUN];
	struct lx_config_file file;
	struct lx_explained it = { .file = &file };
	char *end;

	for (int i = 0; i < count; i++) {
		const char **word = is_place(words[i]) ? &place : &path;

		if (*word) {
			lx_error("config explain: %s? One file and one place at a time", words[i]);
			return LX_STATUS_USAGE;
		}
		*word = words[i];
	}
	if (thread) {
		unsigned long number = strtoul(thread, &end, 10);

		if (*end || !*thread || *thread == '-' || number >= LX_NO_PUNIT) {
			lx_error("config explain: --thread: %s is no number of a thread", thread);
			return LX_STATUS_USAGE;
		}
		it.thread = (uint32_t)number;
	}
	if (place && !parse_subject(place, &it.subject))
		return LX_STATUS_USAGE;
	if (!path && !folder && !(path = lx_config_file_default())) {
		lx_error("config explain: no file named, and no pinsight_trace_config.txt here");
		return LX_STATUS_USAGE;
	}
	int status = path ? lx_config_file_read(path, -1, NULL, &file) : read_kept(folder, &file);

	if (status)
		return LX_STATUS_FAILED;
	it.spelled = place;
	if (place)
		decide(&it);
	status = answer(&it, args);
	if (file.rules->errors && !args->value[LX_CONFIG_JSON])
		lx_error("%s has errors, whose lines do not count: lextrace config check %s", file.name, file.name);
	lx_config_file_free(&file);
	return status;
}
