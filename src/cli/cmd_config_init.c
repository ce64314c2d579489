/* lextrace config init: from a run, a configuration under which the next one is small. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd_config.h"
#include "cli/open_run.h"
#include "transform/trace.h"

#define FUNCTIONS_MAX 60   /* that get a section */
#define CAP 100u           /* recorded calls of each on each thread */
#define WORTH_CALLS (4 * CAP)

/* A function on a thread: what is summed. */
struct tally {
	uint64_t events, begins;
};

struct noisy {
	const struct lx_lexgion *lexgion;
	uint64_t events, calls, kept; /* kept: events that remain under the window */
};

struct totals {
	struct noisy *list;
	size_t count, space;
	uint64_t events, bytes;
	bool c_calls, no_memory;
};

/* The same place in another process or thread is one. */
static struct noisy *noisy_of(struct totals *totals, const struct lx_lexgion *lexgion)
{
	for (size_t i = 0; i < totals->count; i++) {
		const struct lx_lexgion *known = totals->list[i].lexgion;

		if (known->name_size == lexgion->name_size && known->line == lexgion->line && known->file_size == lexgion->file_size &&
		    memcmp(known->name, lexgion->name, known->name_size) == 0 &&
		    memcmp(known->file, lexgion->file, known->file_size) == 0)
			return &totals->list[i];
	}
	if (totals->count == totals->space) {
		size_t space = totals->space ? totals->space * 2 : 64;
		struct noisy *larger = realloc(totals->list, space * sizeof(*larger));

		if (!larger)
			return NULL;
		totals->list = larger;
		totals->space = space;
	}
	totals->list[totals->count] = (struct noisy){ .lexgion = lexgion };
	return &totals->list[totals->count++];
}

/* Adds what one thread has done. Functions without many calls are not worth a section. */
static void add_thread(struct totals *totals, const struct lx_process *process, const struct tally *tallies)
{
	for (size_t id = 1; id < process->lexgion_count; id++) {
		const struct tally *tally = &tallies[id];
		const struct lx_lexgion *lexgion = &process->lexgions[id];

		totals->events += tally->events;
		if (tally->begins < WORTH_CALLS || lexgion->domain != LX_DOMAIN_PYTHON ||
		    lexgion->flags & (LX_LEXGION_C | LX_LEXGION_IMPORT))
			continue;
		struct noisy *noisy = noisy_of(totals, lexgion);

		if (!noisy) {
			totals->no_memory = true;
			return;
		}
		noisy->events += tally->events;
		noisy->calls += tally->begins;
		noisy->kept += (tally->events * CAP + tally->begins / 2) / tally->begins;
	}
}

static void add_packet(const struct lx_packet_ref *packet, const struct lx_process *process, struct tally *tallies)
{
	struct lx_cursor cursor;
	struct lx_event event;

	lx_cursor_start(&cursor, packet);
	while (lx_cursor_next(&cursor, &event)) {
		if (!lx_event_has_lexgion(event.kind) || event.value >= process->lexgion_count)
			continue;
		tallies[event.value].events++;
		tallies[event.value].begins += lx_event_role(event.kind) == LX_ROLE_BEGIN;
	}
}

static void add_process(struct totals *totals, const struct lx_process *process)
{
	struct tally *tallies = calloc(process->lexgion_count + 1, sizeof(*tallies));

	if (!tallies) {
		totals->no_memory = true;
		return;
	}
	for (size_t thread = 0; thread < process->thread_count; thread++) {
		memset(tallies, 0, (process->lexgion_count + 1) * sizeof(*tallies));
		for (size_t i = 0; i < process->stream_count; i++)
			for (size_t n = 0; n < process->streams[i].packet_count; n++)
				if (process->streams[i].packets[n].header->thread == thread)
					add_packet(&process->streams[i].packets[n], process, tallies);
		add_thread(totals, process, tallies);
	}
	free(tallies);
	for (size_t id = 1; id < process->lexgion_count; id++)
		totals->c_calls |= (process->lexgions[id].flags & LX_LEXGION_C) != 0;
}

static int by_events(const void *a, const void *b)
{
	const struct noisy *one = a, *other = b;

	return (one->events < other->events) - (one->events > other->events);
}

/* The name as a section writes it. False: it cannot be written. */
static bool write_name(FILE *file, const struct lx_lexgion *lexgion)
{
	const char *slash = strrchr(lexgion->file, '/'), *base = slash ? slash + 1 : lexgion->file;
	bool unnamed = lexgion->name_size > 0 && lexgion->name[lexgion->name_size - 1] == '>';

	if (strpbrk(lexgion->name, "*?[]\"\\\n\r") || strpbrk(base, ":*?[]\"\\,\n\r") || !*base ||
	    strlen(lexgion->name) != lexgion->name_size || lexgion->name[0] == '/')
		return false;
	if (file)
		fprintf(file, "[Lexgion(Python:%s:%s", base, lexgion->name);
	if (file && unnamed) /* <lambda>, <listcomp>: told apart by their first line */
		fprintf(file, "@%u", lexgion->line);
	if (file)
		fprintf(file, ")] : Python.default\n");
	return true;
}

/* Lines in a file that a user is to change. */
static void write_config(FILE *file, const struct totals *totals, const char *run, size_t chosen, uint64_t expected)
{
	char events[LX_NUMBER_SIZE], calls[LX_NUMBER_SIZE], after[LX_NUMBER_SIZE];

	fprintf(file, "# Written from %s, a trace of %s events: the noisiest functions have a window.\n", run,
		lx_format_count(events, sizeof(events), totals->events));
	fprintf(file, "# Under this configuration about %s events are left (%.2g %%).\n",
		lx_format_count(after, sizeof(after), expected),
		totals->events ? 100.0 * (double)expected / (double)totals->events : 100.0);
	fprintf(file, "# What a line means: lextrace config explain FILE Python:NAME; check it: lextrace config check FILE\n\n");
	fprintf(file, "[Python.default]\n    trace_mode = TRACING\n");
	fprintf(file, "    pysysmon_c_start  = %-3s   # calls of C functions\n    pysysmon_c_return = %s\n",
		totals->c_calls ? "on" : "off", totals->c_calls ? "on" : "off");
	fprintf(file, "\n# All that is not named below is recorded: remove the # to give it a window, too.\n"
		      "# [Lexgion(Python).default]\n#     max_num_traces = 1000\n");
	for (size_t i = 0; i < chosen; i++) {
		const struct noisy *noisy = &totals->list[i];

		fprintf(file, "\n# %s events of %s calls, %.1f %% of the trace\n",
			lx_format_count(events, sizeof(events), noisy->events),
			lx_format_count(calls, sizeof(calls), noisy->calls),
			100.0 * (double)noisy->events / (double)totals->events);
		write_name(file, noisy->lexgion);
		fprintf(file, "    max_num_traces = %u      # recorded calls on each thread; 0: none\n", CAP);
	}
}

/* The file is opened before the work. NULL after a message. */
static FILE *open_output(const char *path, bool force)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!file && errno == EEXIST)
		lx_error("%s exists; --force replaces it", path);
	else if (!file)
		lx_error("cannot write %s: %s", path, strerror(errno));
	return file;
}

static int init_from(const struct lx_trace *trace, const char *path, FILE *file)
{
	struct totals totals = { .list = NULL };
	char before[LX_NUMBER_SIZE], after[LX_NUMBER_SIZE];
	size_t chosen = 0;

	for (size_t i = 0; i < trace->process_count && !totals.no_memory; i++)
		add_process(&totals, &trace->processes[i]);
	if (totals.no_memory) {
		lx_error("not enough memory to read %s", trace->path);
		free(totals.list);
		return LX_STATUS_FAILED;
	}
	if (totals.count > 0)
		qsort(totals.list, totals.count, sizeof(*totals.list), by_events);
	uint64_t expected = totals.events;

	for (size_t i = 0; i < totals.count && chosen < FUNCTIONS_MAX; i++) {
		if (!write_name(NULL, totals.list[i].lexgion))
			continue;
		expected -= totals.list[i].events - totals.list[i].kept;
		totals.list[chosen++] = totals.list[i];
	}
	write_config(file, &totals, lx_run_name(trace), chosen, expected);
	free(totals.list);
	printf("%s: %zu function%s under a window, %s events -> about %s: lextrace run -c %s …\n", path, chosen,
	       chosen == 1 ? "" : "s", lx_format_count(before, sizeof(before), totals.events),
	       lx_format_count(after, sizeof(after), expected), path);
	return LX_STATUS_OK;
}

int lx_config_init(const struct lx_args *args, char **words, int count)
{
	const char *path = args->value[LX_CONFIG_OUT] ? args->value[LX_CONFIG_OUT] : "pinsight_trace_config.txt";
	struct lx_args run = *args;
	bool named_by_us;

	run.words = words;
	run.word_count = count;
	struct lx_trace *trace = lx_open_run(&run, &named_by_us);

	if (!trace)
		return LX_STATUS_FAILED;
	FILE *file = open_output(path, args->value[LX_CONFIG_FORCE] != NULL);
	int status = file ? init_from(trace, path, file) : LX_STATUS_FAILED;
	bool written = file && !ferror(file);

	if (file && (fclose(file) != 0 || !written) && status == LX_STATUS_OK) {
		lx_error("cannot write %s: %s", path, strerror(errno));
		status = LX_STATUS_FAILED;
	}
	struct stat what;

	if (file && status != LX_STATUS_OK && lstat(path, &what) == 0 && S_ISREG(what.st_mode)) /* no half of a file is left */
		unlink(path);
	lx_trace_close(trace);
	return status;
}
