/*
 * The recording that a program begins by DFTRACER_C_INIT: a run folder beside the prefix, which becomes a .pfw file when the
 * recording or the process ends.
 */
#include "lextrace/dftracer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pfw_export.h"
#include "record/internal.h"

static struct recording {
	bool begun;
	int creator;              /* pid */
	char prefix[LX_PATH_SIZE];
	char run[LX_PATH_SIZE];   /* PREFIX-<16 hex>-app.lextrace */
	char number[17];
} recording;
static int turn; /* one thread at a time begins or ends it; a second one meanwhile has nothing to do */

static void say(const char *what, const char *where, const char *why, const char *then)
{
	fprintf(stderr, "lextrace: %s: %s: %s; %s\n", what, where, why, then);
}

/* ---- What the environment says ---- */

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static int among(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcasecmp(value, words[i]) == 0)
			return i;
	return -1;
}

static bool enabled(void)
{
	static const char *const on[] = {"1", "true", "on", "yes", NULL};

	return among(variable("DFTRACER_ENABLE", ""), on) >= 0;
}

static struct lx_pfw_options options_now(void)
{
	static const char *const off[] = {"0", "false", "off", "no", NULL};
	static const char *const metrics[] = {"US", "NS", "MS", "SEC", NULL}; /* enum lx_pfw_metric */
	int metric = among(variable("DFTRACER_TIME_METRIC", "US"), metrics);

	return (struct lx_pfw_options){
		.dialect = *variable("DFTRACER_TRACE_DIALECT", "2") == '1' ? LX_PFW_1 : LX_PFW_2,
		.metric = metric > 0 ? (enum lx_pfw_metric)metric : LX_PFW_US,
		.text = among(variable("DFTRACER_TRACE_COMPRESSION", "1"), off) >= 0,
	};
}

/* The rank that was given, else the launcher's. */
static bool rank_now(const int *process_id, int *rank)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK",
					    "SLURM_PROCID"};
	char *end;

	if (process_id && *process_id != -1) {
		*rank = *process_id;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = variable(names[i], "");

		*rank = (int)strtol(value, &end, 10);
		if (end > value && *end == '\0')
			return true;
	}
	return false;
}

/* ---- Beginning ---- */

static bool ends_in(const char *path, const char *ending)
{
	size_t size = strlen(path), tail = strlen(ending);

	return size > tail && strcmp(path + size - tail, ending) == 0;
}

/* The absolute prefix that a log file's name stands for. False: too long. */
static bool set_prefix(const char *log_file)
{
	char *prefix = recording.prefix;
	size_t used = 0;

	if (*log_file != '/') {
		if (!getcwd(prefix, sizeof(recording.prefix) / 2))
			return false;
		used = strlen(prefix);
		prefix[used++] = '/';
	}
	if (used + strlen(log_file) + 128 > sizeof(recording.prefix))
		return false;
	strcpy(prefix + used, log_file);
	if (ends_in(prefix, "/"))
		strcat(prefix, "trace");
	else if (ends_in(prefix, ".pfw.gz"))
		prefix[strlen(prefix) - strlen(".pfw.gz")] = '\0';
	else if (ends_in(prefix, ".pfw"))
		prefix[strlen(prefix) - strlen(".pfw")] = '\0';
	return true;
}

/* The folders above it, where they are missing. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777); /* what hinders it hinders the run, too */
		*slash = '/';
	}
}

static void number_of_random(void)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (lx_clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40) * 0x9e3779b97f4a7c15u;
	snprintf(recording.number, sizeof(recording.number), "%016jx", (uintmax_t)number);
}

static void end_with_process(void)
{
	lextrace_dftracer_fini();
}

static void begin(const char *log_file)
{
	static bool hooked;

	if (!set_prefix(log_file)) {
		say("cannot write a trace", log_file, strerror(ENAMETOOLONG), "nothing is recorded, name another log_file");
		return;
	}
	number_of_random();
	snprintf(recording.run, sizeof(recording.run), "%.*s-%s-app.lextrace", (int)(sizeof(recording.run) - 64),
		 recording.prefix, recording.number);
	make_parents(recording.run);
	if (!hooked) /* before the session's own, so that it comes after that: the trace then holds the exit status */
		hooked = atexit(end_with_process) == 0;
	int error = lextrace_start(recording.run);

	if (error) {
		rmdir(recording.run);
		say("cannot write a trace", recording.prefix, strerror(-error), "nothing is recorded, name another log_file");
		return;
	}
	recording.creator = (int)getpid();
	recording.begun = true;
}

void lextrace_dftracer_init(const char *log_file, const char *data_dirs, const int *process_id)
{
	int rank;

	if (__atomic_exchange_n(&turn, 1, __ATOMIC_ACQUIRE))
		return;
	bool joins = lx_session_active();

	if (!joins && enabled()) {
		if (!log_file || !*log_file)
			log_file = variable("DFTRACER_LOG_FILE", "trace");
		begin(log_file);
	}
	if (!data_dirs || !*data_dirs)
		data_dirs = variable("DFTRACER_DATA_DIR", NULL);
	if (lx_session_active() && !(joins && recording.begun)) {
		if (rank_now(process_id, &rank))
			lextrace_metadata_int("rank", rank);
		if (data_dirs)
			lextrace_metadata_string("data_dir", data_dirs);
	}
	__atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
}

void lextrace_dftracer_used(const char *layer)
{
	char key[256];

	if (!lx_session_active() || !layer)
		return;
	snprintf(key, sizeof(key), "used.%s", layer);
	lextrace_metadata_int(key, 1);
}

/* ---- Ending ---- */

/* The 16 digits of a file: the run's for who made it, a hash of run and process folder for its children. */
static void number_of(const char *folder, char out[17])
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	const char *at = strrchr(recording.run, '/');

	if (recording.creator == (int)getpid()) {
		memcpy(out, recording.number, 17);
		return;
	}
	for (at = folder + (at - recording.run) + 1; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	snprintf(out, 17, "%016jx", (uintmax_t)hash);
}

/* Makes the file of a process folder; where that fails, the folder stays. */
static void write_file(const char *folder)
{
	char number[17], out[LX_PATH_SIZE + 64], message[LX_PATH_SIZE * 2] = "";
	const struct lx_pfw_options options = options_now();
	bool creator = recording.creator == (int)getpid();
	bool keep = strcmp(variable("LEXTRACE_KEEP", "0"), "0") != 0;

	number_of(folder, number);
	snprintf(out, sizeof(out), "%s-%s-%s.pfw%s", recording.prefix, number, creator ? "app" : "fork",
		 options.text ? "" : ".gz");
	int error = lx_pfw_export(folder, out, &options, !keep, message, sizeof(message));

	if (error == -ELIBACC)
		say("cannot write the trace", out, message, "`lextrace export --to pfw` makes it of the folder beside it");
	else if (error)
		fprintf(stderr, "lextrace: %s\n", message);
}

/* The calling process's folder, also of a session that has just ended; "": nothing was recorded. */
static void process_folder(char out[LX_PATH_SIZE])
{
	bool own = lx_session.owner == (int)getpid() && !lx_session.forked && strcmp(lx_session.run, recording.run) == 0;

	strcpy(out, own ? lx_session.folder : "");
}

void lextrace_dftracer_fini(void)
{
	char folder[LX_PATH_SIZE];

	if (__atomic_exchange_n(&turn, 1, __ATOMIC_ACQUIRE))
		return;
	if (recording.begun) {
		recording.begun = false;
		process_folder(folder);
		if (lx_session_active() && strcmp(lx_session.run, recording.run) == 0)
			lextrace_stop();
		if (folder[0])
			write_file(folder);
	}
	__atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
}
