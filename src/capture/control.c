#include "capture/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/control_file.h"

bool lx_python_attends;
bool lx_annotations_only;

static char *path;          /* of the configuration; NULL: none */
static struct lx_text_file text; /* in force */
static bool c_calls_on;
static int8_t said[LX_RULED_DOMAINS]; /* what the file says about the modes: enum lx_mode, -1: nothing */
static char error_text[1024];
static size_t error_count;

#define SAID_MAX 8 /* lines on stderr about the configuration, in all */
static uint32_t errors_said[SAID_MAX]; /* hashes: each is said once */
static size_t errors_said_count;
static bool checked_at_exit;

const char *lx_control_error(void)
{
	return error_text;
}

/* ---- Reading ---- */

/* The configuration's path as people write it: relative to where the program started, if it is below. */
static const char *shown_path(void)
{
	const char *folder = lx_start_folder();
	size_t size = strlen(folder);

	if (!path)
		return "configuration";
	return size > 1 && strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

/* Keeps the first error. */
static void on_message(void *context, const struct lx_message *message)
{
	const char *source = message->source ? message->source : shown_path();

	(void)context;
	if (!message->error || error_count++ > 0)
		return;
	if (message->line)
		snprintf(error_text, sizeof(error_text), "%s:%u:%u: error: %s", source, message->line, message->column,
			 message->text);
	else
		snprintf(error_text, sizeof(error_text), "%s: error: %s", source, message->text);
}

static struct lx_rules *parse(const struct lx_text_file *file, bool with_file)
{
	static const char *const variables[LX_RULED_DOMAINS] = {
		"PINSIGHT_TRACE_PYTHON", "PINSIGHT_TRACE_USER", "PINSIGHT_TRACE_IO",
		"PINSIGHT_TRACE_OPENMP", "PINSIGHT_TRACE_MPI",	"PINSIGHT_TRACE_CUDA",
	};
	struct lx_rules_environment environment = {
		.rate = getenv("PINSIGHT_TRACE_RATE"),
		.window = getenv("PINSIGHT_TRACE_WINDOW"),
		.c_calls = c_calls_on ? 1 : with_file ? -1 : 0,
	};
	struct lx_rules *rules = NULL;

	for (int domain = 0; domain < LX_RULED_DOMAINS; domain++)
		environment.modes[domain] = getenv(variables[domain]);
	error_count = 0;
	error_text[0] = '\0';
	if (lx_rules_parse(file->bytes ? file->bytes : "", file->size, &environment, on_message, NULL, &rules) != 0)
		return NULL;
	return rules;
}

static int8_t mode_said(const struct lx_rules *rules, uint32_t domain)
{
	const struct lx_section *section = lx_rules_domain(rules, domain);

	return section->mode.line == LX_LINE_BUILT_IN ? -1 : (int8_t)section->mode.number;
}

/* The mode at the start: the environment's, else the file's, else TRACING, or OFF for what only annotations are wanted of. */
static uint32_t first_mode(uint32_t domain)
{
	char name[64];
	const char *upper = lx_domain_info(domain)->name;
	size_t size = (size_t)snprintf(name, sizeof(name), "PINSIGHT_TRACE_");

	for (; *upper && size + 1 < sizeof(name); upper++)
		name[size++] = (char)(*upper >= 'a' && *upper <= 'z' ? *upper - 32 : *upper);
	name[size] = '\0';
	const char *value = getenv(name);
	int mode = value ? lx_mode_of(value, strlen(value)) : -1;

	return mode >= 0 ? (uint32_t)mode : said[domain] >= 0 ? (uint32_t)said[domain]
	       : domain == LX_DOMAIN_PYTHON && lx_annotations_only ? LX_MODE_OFF
								   : LX_MODE_TRACING;
}

/* Where the configuration is: an absolute path, since the program may change its folder. NULL: there is none. */
static char *find_config(const char *named)
{
	if (!named || !*named)
		named = getenv("PINSIGHT_TRACE_CONFIG_FILE");
	if (named && *named)
		return lx_absolute_path(named);
	char *here = lx_absolute_path("pinsight_trace_config.txt");

	if (here && access(here, F_OK) == 0)
		return here;
	free(here);
	return NULL;
}

int lx_control_start(const char *config, bool c_calls)
{
	struct lx_text_file file = {NULL, 0};

	lx_remember_folder();
	free(path);
	path = find_config(config);
	c_calls_on = c_calls;
	int error = path ? lx_text_read(path, &file) : 0;

	if (error && config)
		return error;
	struct lx_rules *rules = parse(&file, path && !error);

	if (!rules) {
		free(file.bytes);
		return -ENOMEM;
	}
	if (error)
		snprintf(error_text, sizeof(error_text), "%s: %s; the defaults hold", shown_path(),
			 error == -EISDIR ? "is a folder" : strerror(-error));
	free(text.bytes);
	text = file;
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		said[domain] = mode_said(rules, domain);
		lx_session_state()->modes[domain] = first_mode(domain);
	}
	lx_meters_rule(rules);
	return 0;
}

static bool is_new_error(void)
{
	uint32_t hash = 0;

	for (const char *at = error_text; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	for (size_t i = 0; i < errors_said_count; i++)
		if (errors_said[i] == hash)
			return false;
	if (errors_said_count == SAID_MAX)
		return false;
	errors_said[errors_said_count++] = hash;
	return true;
}

/* Says what is wrong with the configuration, each time it is something else. */
static void say_error(const char *what)
{
	size_t more = error_count > 1 ? error_count - 1 : 0;

	lx_journal("%s %s", what, error_text);
	if (!is_new_error())
		return;
	lx_note("%s", error_text);
	if (more)
		lx_say("%s (and %zu more: lextrace config check %s)", error_text, more, shown_path());
	else
		lx_say("%s", error_text);
}

void lx_control_started(void)
{
	lx_config_keep(path, text.bytes, text.size);
	lx_session_state()->c_calls_off = lx_python_attends && !path && !c_calls_on;
	errors_said_count = 0;
	if (!checked_at_exit)
		checked_at_exit = atexit(lx_signal_check) == 0; /* before the session ends */
	if (error_text[0] && getenv("LEXTRACE_DIR")) { /* `lextrace run` has said it */
		is_new_error();
		lx_note("%s", error_text);
	} else if (error_text[0]) {
		say_error("config");
	}
	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++)
		if (lx_mode(domain) != LX_MODE_TRACING)
			lx_journal("mode %s %s by start", lx_domain_info(domain)->name, lx_mode_name(lx_mode(domain)));
}

int lx_control_reload(void)
{
	struct lx_text_file file;

	if (!path) { /* one may have come since */
		path = find_config(NULL);
		if (!path)
			return 0;
	}
	int error = lx_text_read(path, &file);

	if (error) {
		error_count = 1;
		snprintf(error_text, sizeof(error_text), "%s: %s; the configuration stays as it is", shown_path(),
			 error == -EISDIR ? "is a folder" : strerror(-error));
		say_error("reload-failed");
		return error;
	}
	lx_session_state()->reloads++;
	if (file.size == text.size && text.bytes && memcmp(file.bytes, text.bytes, text.size) == 0) {
		free(file.bytes);
		return 0;
	}
	struct lx_rules *rules = parse(&file, true);

	if (!rules || rules->errors) {
		lx_rules_free(rules);
		free(file.bytes);
		say_error("reload-failed");
		return -EINVAL;
	}
	free(text.bytes);
	text = file;
	lx_meters_rule(rules);
	lx_config_keep(path, text.bytes, text.size);
	lx_journal("reload %s", path);
	return 1;
}

/* ---- Modes ---- */

bool lx_control_mode(struct lx_thread *thread, uint32_t domain, uint32_t mode, const char *cause)
{
	if (lx_mode(domain) == mode)
		return false;
	__atomic_store_n(&lx_session_state()->modes[domain], mode, __ATOMIC_RELAXED);
	lx_lock();
	lx_meters_undecided();
	lx_unlock();
	if (mode == LX_MODE_STANDBY || mode == LX_MODE_OFF) {
		if (lx_session_active() && thread)
			lx_record(thread, LX_EV_MODE, LX_MODE_WORD(domain, mode));
		lx_calls_forget_everywhere(domain);
		if (thread)
			lx_thread_special(thread);
	}
	lx_journal("mode %s %s by %s", lx_domain_info(domain)->name, lx_mode_name(mode), cause);
	return true;
}

bool lx_control_modes(struct lx_thread *thread, const int8_t modes[LX_RULED_DOMAINS], const char *cause)
{
	bool changed = false;

	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++)
		if (modes[domain] >= 0)
			changed |= lx_control_mode(thread, domain, (uint32_t)modes[domain], cause);
	return changed;
}

uint32_t lx_control_reload_modes(struct lx_thread *thread)
{
	uint32_t changed = 0;

	for (uint32_t domain = 0; domain < LX_RULED_DOMAINS; domain++) {
		int8_t now = mode_said(lx_rules_now, domain);

		if (now == said[domain])
			continue;
		said[domain] = now;
		lx_control_mode(thread, domain, now >= 0 ? (uint32_t)now : LX_MODE_TRACING, "reload");
		changed |= 1u << domain;
	}
	return changed;
}

void lx_control_cause(const struct lx_work *work, char *out, size_t size)
{
	if (work->line == LX_LINE_ENVIRONMENT)
		snprintf(out, size, "PINSIGHT_TRACE_RATE");
	else
		snprintf(out, size, "%s:%u", shown_path(), work->line);
}

const char *lx_control_path(void)
{
	return path;
}

/* ---- Knobs ---- */

/* Texts that were given out stay, each once. */
static const char *keep_text(const char *value)
{
	static struct kept {
		struct kept *next;
		char text[];
	} *kept;

	for (struct kept *at = kept; at; at = at->next)
		if (strcmp(at->text, value) == 0)
			return at->text;
	struct kept *added = malloc(sizeof(*added) + strlen(value) + 1);

	if (!added)
		return NULL;
	strcpy(added->text, value);
	added->next = kept;
	kept = added;
	return added->text;
}

const struct lx_knob *lx_control_knob(const char *name, struct lx_knob *out)
{
	lx_lock();
	const struct lx_knob *knob = lx_rules_now ? lx_rules_knob(lx_rules_now, name) : NULL;

	if (knob) {
		*out = *knob;
		out->name = NULL;
		out->text = keep_text(knob->text);
	}
	lx_unlock();
	return knob && out->text ? out : NULL;
}

/* ---- Programs without Python ---- */

static void do_work(struct lx_thread *thread)
{
	struct lx_work *work;
	char cause[512];

	while ((work = lx_work_take())) {
		lx_control_cause(work, cause, sizeof(cause));
		if (work->action.introspect) {
			lx_introspect_begin(&work->action);
			while (!lx_introspect_is_over())
				lx_introspect_wait();
			lx_introspect_end("time");
			if (*lx_attention & LX_ATTENTION_RELOAD) {
				lx_attention_clear(LX_ATTENTION_RELOAD);
				if (lx_control_reload() > 0)
					lx_work_yield(work, lx_control_reload_modes(thread));
			}
		}
		lx_control_modes(thread, work->action.modes, cause);
		if (work->action.modes[work->domain] == LX_MODE_TRACING)
			lx_work_renew(work);
		lx_work_free(work);
	}
}

void lx_control_serve(struct lx_thread *thread)
{
	uint32_t bits = __atomic_load_n(lx_attention, __ATOMIC_ACQUIRE);

	if (bits & LX_ATTENTION_REQUEST && lx_control_request(thread)) {
		bits |= LX_ATTENTION_RELOAD;
		int error = lx_control_reload();

		if (error < 0)
			lx_control_answer(false, "%s", lx_control_error());
		else
			lx_control_answer(true, "%s", error ? "new rules are in force" : "nothing has changed");
		lx_control_reload_modes(thread);
	} else if (bits & LX_ATTENTION_RELOAD) {
		lx_attention_clear(LX_ATTENTION_RELOAD);
		if (lx_control_reload() > 0)
			lx_control_reload_modes(thread);
	}
	if (bits & LX_ATTENTION_WORK)
		do_work(thread);
}
