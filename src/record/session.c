#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "lextrace/version.h"

static struct lx_state fallback_state; /* where lextrace/state cannot be mapped any more */

struct lx_session lx_session = {.lock = PTHREAD_MUTEX_INITIALIZER, .state = &fallback_state};
uint32_t lx_session_generation;
uint32_t *lx_attention = &fallback_state.attention;
static uint32_t attention_kept; /* bits that outlive a process folder */

unsigned char lextrace_on;

static void set_active(bool active)
{
	lx_session.active = active;
	__atomic_store_n(&lextrace_on, active, __ATOMIC_RELEASE);
}

static bool hooked; /* fork and exit handlers are in place */
static char parent_folder[LX_PATH_SIZE]; /* in a forked child: where its definitions come from */

/* ---- The text of lextrace/process ---- */

struct text {
	char *bytes;
	size_t size, space;
};

static void put(struct text *text, const char *key, const char *value, size_t size)
{
	size_t need = text->size + strlen(key) + size * 4 + 3;

	if (need > text->space) {
		char *larger = realloc(text->bytes, need * 2);

		if (!larger)
			return;
		text->bytes = larger;
		text->space = need * 2;
	}
	text->size += (size_t)sprintf(text->bytes + text->size, "%s ", key);
	text->size += lx_escape(text->bytes + text->size, text->space - text->size, value, size);
	text->bytes[text->size++] = '\n';
}

static void put_string(struct text *text, const char *key, const char *value)
{
	if (value)
		put(text, key, value, strlen(value));
}

static void describe(const struct lx_session_options *options)
{
	struct text text = {lx_session.process_text, 0, 0};
	struct utsname name;
	char line[512], cwd[LX_PATH_SIZE];

	free(text.bytes);
	text.bytes = NULL;
	uname(&name);
	put_string(&text, "host", name.nodename);
	snprintf(line, sizeof(line), "%s %s %s", name.sysname, name.release, name.machine);
	put_string(&text, "system", line);
	snprintf(line, sizeof(line), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	put_string(&text, "cpus", line);
	put(&text, "argv", options->argv, options->argv_size);
	put_string(&text, "cwd", getcwd(cwd, sizeof(cwd)));
	put_string(&text, "executable", options->executable);
	put_string(&text, "python", options->python);
	put_string(&text, "program", options->program);
	put_string(&text, "c_calls", options->c_calls ? "1" : NULL);
	put_string(&text, "lextrace", LX_VERSION);
	lx_session.process_text = text.bytes;
	lx_session.process_size = text.size;
}

static int produce_description(void *context, lx_text_sink sink, void *sink_context)
{
	(void)context;
	return sink(sink_context, lx_session.process_text, lx_session.process_size);
}

/* ---- The process folder ---- */

/* HOST-PID, HOST-PID-2, … : a pid comes back after exec, after stop and start, and in the end by itself. */
static int make_folder(void)
{
	struct utsname name;

	uname(&name);
	for (char *at = name.nodename; *at; at++)
		if (*at == '/' || (unsigned char)*at < 0x21)
			*at = '_';
	for (unsigned n = 1; n < 100000; n++) {
		char number[16] = "", inner[LX_PATH_SIZE + 16];

		if (n > 1)
			snprintf(number, sizeof(number), "-%u", n);
		if (snprintf(lx_session.folder, sizeof(lx_session.folder), "%s/%.64s-%d%s", lx_session.run, name.nodename,
			     (int)getpid(), number) >= (int)sizeof(lx_session.folder))
			return -ENAMETOOLONG;
		if (mkdir(lx_session.folder, 0777) == 0) {
			snprintf(inner, sizeof(inner), "%s/lextrace", lx_session.folder);
			return mkdir(inner, 0777) == 0 ? 0 : -errno;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int map_state(void)
{
	char path[LX_PATH_SIZE + 32];
	void *map;

	snprintf(path, sizeof(path), "%s/lextrace/state", lx_session.folder);
	int error = lx_file_map(path, 0, LX_STATE_SIZE, NULL, &map);

	if (error)
		return error;
	struct lx_state *state = map, *before = lx_session.state;

	uint32_t modes[8];

	memcpy(modes, lx_session.state->modes, sizeof(modes));
	memset(state, 0, sizeof(*state));
	memcpy(state->modes, modes, sizeof(modes));
	state->version = LX_FORMAT_VERSION;
	state->pid = (uint32_t)getpid();
	state->parent_pid = (uint32_t)getppid();
	if (getrandom(state->uuid, sizeof(state->uuid), GRND_NONBLOCK) != sizeof(state->uuid))
		memcpy(state->uuid, &(uint64_t[2]){lx_ticks(), lx_clock_ns(CLOCK_REALTIME)}, sizeof(state->uuid));
	state->uuid[6] = (uint8_t)((state->uuid[6] & 0x0f) | 0x40); /* version 4 */
	state->uuid[8] = (uint8_t)((state->uuid[8] & 0x3f) | 0x80);
	state->attention = attention_kept;
	lx_attention = &state->attention;
	lx_session.state = state;
	if (before != &fallback_state) /* of the session before */
		munmap(before, LX_STATE_SIZE);
	state->clock_kind = lx_clock_is_tsc ? LX_CLOCK_TSC : LX_CLOCK_MONOTONIC;
	lx_clock_sample(&state->start);
	return 0;
}

/* Attention is looked at in memory of our own from here on; modes and rows are as they were. */
static void use_fallback_state(void)
{
	memcpy(fallback_state.modes, lx_session.state->modes, sizeof(fallback_state.modes));
	fallback_state.attention = attention_kept;
	lx_attention = &fallback_state.attention;
}

void lx_attention_set(uint32_t bits)
{
	if (bits & LX_ATTENTION_STACKS)
		attention_kept |= LX_ATTENTION_STACKS;
	__atomic_fetch_or(lx_attention, bits, __ATOMIC_SEQ_CST);
}

void lx_attention_clear(uint32_t bits)
{
	__atomic_fetch_and(lx_attention, ~bits, __ATOMIC_SEQ_CST);
}

/* Goes on with a state in memory, where there is no folder. */
static void leave_state(void)
{
	fallback_state.clock_frequency = lx_session.state->clock_frequency;
	use_fallback_state();
	if (lx_session.state != &fallback_state)
		munmap(lx_session.state, LX_STATE_SIZE);
	lx_session.state = &fallback_state;
}

/* A folder that could not be completed holds nothing. */
static void remove_folder(void)
{
	static const char *const parts[] = {"metadata",		"lextrace/metadata.new", "lextrace/process",
					    "lextrace/process.new", "lextrace/lexgions", "lextrace/state"};
	char path[LX_PATH_SIZE + 32];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s/%s", lx_session.folder, parts[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/lextrace", lx_session.folder);
	rmdir(path);
	rmdir(lx_session.folder);
}

/* Opens a process folder in lx_session.run; `from` is the folder whose definitions are taken over, or NULL. */
static int open_process(const char *from, const struct lx_clock_sample *clock_base, uint64_t frequency)
{
	char path[LX_PATH_SIZE + 32], temporary[LX_PATH_SIZE + 32];
	int error = make_folder();

	if (error)
		return error;
	error = map_state();
	if (!error)
		error = lx_lexgions_open(lx_session.folder, from);
	if (!error) {
		lx_session.state->clock_frequency =
			frequency ? frequency : lx_clock_frequency(clock_base, &lx_session.state->start);
		snprintf(path, sizeof(path), "%s/lextrace/process", lx_session.folder);
		snprintf(temporary, sizeof(temporary), "%s/lextrace/process.new", lx_session.folder);
		error = lx_file_replace(path, temporary, produce_description, NULL);
	}
	if (!error)
		error = lx_metadata_write();
	if (error) {
		leave_state();
		remove_folder();
		return error;
	}
	/* The magic number comes last: a folder without it was never used. */
	__atomic_store_n(&lx_session.state->magic, LX_STATE_MAGIC, __ATOMIC_RELEASE);
	lx_session.owner = (int)getpid();
	lx_session.epoch++;
	lx_session.forked = false;
	return 0;
}

bool lx_session_ready(void)
{
	if (!lx_session.active || !lx_session.forked)
		return lx_session.active;
	/* What hinders it now (no descriptor, no room) may pass: tried again at the 1st, 2nd, 4th, 8th … event. */
	uint32_t attempt = ++lx_session.attempts;

	if ((attempt & (attempt - 1)) != 0)
		return false;
	lx_session.error = open_process(parent_folder, NULL, lx_session.state->clock_frequency);
	return lx_session.error == 0;
}

/* ---- Fork and exit ---- */

static void before_fork(void)
{
	lx_lock();
}

static void after_fork_parent(void)
{
	lx_unlock();
}

/* Nothing here may touch what is still the parent's: its packets, its state, its names. */
static void after_fork_child(void)
{
	lx_threads_after_fork();
	lx_regions_forget();
	memcpy(parent_folder, lx_session.folder, sizeof(parent_folder));
	if (lx_session.state != &fallback_state) {
		fallback_state.clock_frequency = lx_session.state->clock_frequency;
		use_fallback_state();
		lx_session.ancestor = lx_session.state;
		lx_session.state = &fallback_state;
	}
	lx_session.attempts = 0;
	lx_session.forked = true;
	lx_session.announce = lx_session.speaks = false;
	if (lx_session.active && !lx_session.follow) {
		lx_session.wanted = false;
		set_active(false);
		lx_lexgions_forget();
	}
	lx_unlock();
}

static void close_process(uint32_t how, int status)
{
	struct lx_state *state = lx_session.state;

	for (struct lx_thread *thread = lx_session.threads; thread; thread = thread->next) {
		lx_thread_detach(thread);
		lx_thread_count_open(thread);
	}
	for (struct lx_slot *slot = lx_session.slots; slot; slot = slot->next)
		if (slot->epoch == lx_session.epoch && !slot->used)
			lx_session.sink->release(lx_session.folder, slot->number);
	state->counted = lx_rows_counted();
	lx_clock_sample(&state->end);
	state->clock_frequency = lx_clock_frequency(&state->start, &state->end);
	lx_metadata_write();
	lx_lexgions_close();
	state->exit_status = status;
	__atomic_store_n(&state->ended, how, __ATOMIC_RELEASE);
}

/* A forked child that has no folder has nothing to close. */
static void end_session(uint32_t how, int status)
{
	if (lx_session.active && !lx_session.forked)
		close_process(how, status);
	lx_session.wanted = false;
	set_active(false);
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	/* A child of vfork or clone is not ours to end. */
	if (lx_session.owner != (int)getpid() && !(lx_session.forked && lx_session.active))
		return;
	lx_lock();
	end_session(1, status & 255);
	lx_unlock();
	if (lx_session.announce)
		lx_closing_line();
}

/* ---- Public ---- */

int lx_session_start(const struct lx_session_options *options)
{
	struct lx_clock_sample before;

	if (strlen(options->run) + 96 > LX_PATH_SIZE)
		return -ENAMETOOLONG;
	lx_lock();
	if (lx_session.active) {
		lx_unlock();
		return -EBUSY;
	}
	lx_clock_init();
	lx_clock_sample(&before);
	int error = mkdir(options->run, 0777) == 0 || errno == EEXIST ? 0 : -errno;

	if (error)
		goto end;
	strcpy(lx_session.run, options->run);
	lx_session.sink = options->null_sink ? &lx_sink_null : &lx_sink_ctf;
	lx_session.follow = options->follow;
	lx_session.announce = lx_session.announce || options->announce; /* a later session of the root process says it, too */
	describe(options);
	lx_session_generation++;
	lx_threads_renew();
	lx_regions_forget();
	error = open_process(NULL, &before, 0);
	if (error)
		goto end;
	if (!hooked) {
		hooked = true;
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		on_exit(at_exit, NULL);
	}
	lx_session.speaks = options->announce || (!getenv("LEXTRACE_ROOT") && !getenv("LEXTRACE_QUIET"));
	if (lx_session.speaks)
		lx_closing_remember_stderr();
	lx_session.wanted = true;
	set_active(true);
end:
	lx_unlock();
	return error;
}

void lx_session_stop(void)
{
	lx_lock();
	bool ended = lx_session.active && !lx_session.forked;

	end_session(2, 0);
	if (ended && lx_session.state != &fallback_state) { /* what changes from here on is not the trace's any more */
		struct lx_state *state = lx_session.state;

		fallback_state = *state;
		fallback_state.attention = attention_kept;
		lx_attention = &fallback_state.attention;
		lx_session.state = &fallback_state;
		munmap(state, LX_STATE_SIZE);
	}
	lx_unlock();
}

bool lx_session_active(void)
{
	return lx_session.active;
}

bool lx_session_wanted(void)
{
	return lx_session.wanted;
}

const char *lx_session_run_folder(void)
{
	return lx_session.active ? lx_session.run : "";
}

struct lx_state *lx_session_state(void)
{
	return lx_session.state;
}

const char *lx_session_folder(void)
{
	return lx_session.active && !lx_session.forked ? lx_session.folder : "";
}

bool lx_session_speaks(void)
{
	return lx_session.speaks;
}
