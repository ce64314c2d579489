#define _GNU_SOURCE
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool hooked; /* fork and exit handlers are in place */

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
	snprintf(line, sizeof line, "%s %s %s", name.sysname, name.release, name.machine);
	put_string(&text, "system", line);
	snprintf(line, sizeof line, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	put_string(&text, "cpus", line);
	put(&text, "argv", options->argv, options->argv_size);
	put_string(&text, "cwd", getcwd(cwd, sizeof cwd));
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
			snprintf(number, sizeof number, "-%u", n);
		if (snprintf(lx_session.folder, sizeof lx_session.folder, "%s/%.64s-%d%s", lx_session.run, name.nodename,
			     (int)getpid(), number) >= (int)sizeof lx_session.folder)
			return -ENAMETOOLONG;
		if (mkdir(lx_session.folder, 0777) == 0) {
			snprintf(inner, sizeof inner, "%s/lextrace", lx_session.folder);
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
	void *map, *place = lx_session.state == &fallback_state ? NULL : lx_session.state;

	snprintf(path, sizeof path, "%s/lextrace/state", lx_session.folder);
	int error = lx_file_map(path, 0, LX_STATE_SIZE, place, &map);

	if (error)
		return error;
	struct lx_state *state = lx_session.state = map;

	memset(state, 0, sizeof *state);
	state->version = LX_FORMAT_VERSION;
	state->pid = (uint32_t)getpid();
	state->parent_pid = (uint32_t)getppid();
	if (getrandom(state->uuid, sizeof state->uuid, GRND_NONBLOCK) != sizeof state->uuid)
		memcpy(state->uuid, &(uint64_t[2]){lx_ticks(), lx_clock_ns(CLOCK_REALTIME)}, sizeof state->uuid);
	state->uuid[6] = (uint8_t)((state->uuid[6] & 0x0f) | 0x40); /* version 4 */
	state->uuid[8] = (uint8_t)((state->uuid[8] & 0x3f) | 0x80);
	state->clock_kind = lx_clock_is_tsc ? LX_CLOCK_TSC : LX_CLOCK_MONOTONIC;
	lx_clock_sample(&state->start);
	return 0;
}

/* Opens the process folder in lx_session.run; `from` is the folder whose definitions are taken over, or NULL. */
static int open_process(const char *from, const struct lx_clock_sample *clock_base, uint64_t frequency)
{
	char path[LX_PATH_SIZE + 32], temporary[LX_PATH_SIZE + 32];
	int error = make_folder();

	if (!error)
		error = map_state();
	if (!error)
		error = lx_lexgions_open(lx_session.folder, from);
	if (!error) {
		snprintf(path, sizeof path, "%s/lextrace/process", lx_session.folder);
		snprintf(temporary, sizeof temporary, "%s/lextrace/process.new", lx_session.folder);
		error = lx_file_replace(path, temporary, produce_description, NULL);
	}
	if (error)
		return error;
	lx_session.state->clock_frequency =
		frequency ? frequency : lx_clock_frequency(clock_base, &lx_session.state->start);
	/* The magic number comes last: a folder without it was never used. */
	__atomic_store_n(&lx_session.state->magic, LX_STATE_MAGIC, __ATOMIC_RELEASE);
	lx_session.owner = (int)getpid();
	lx_session.next_thread = 1; /* 0 is the main thread's */
	lx_session.epoch++;
	lx_session.forked = false;
	return lx_metadata_write();
}

bool lx_session_ready(void)
{
	char parent[LX_PATH_SIZE];

	if (!lx_session.active || !lx_session.forked)
		return lx_session.active;
	memcpy(parent, lx_session.folder, sizeof parent);
	/* The state is mapped over the parent's mapping, whose frequency is read before. */
	if (!lx_session.follow || open_process(parent, NULL, lx_session.state->clock_frequency) != 0)
		lx_session.wanted = lx_session.active = false;
	return lx_session.active;
}

/* ---- Fork and exit ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&lx_session.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&lx_session.lock);
}

static void after_fork_child(void)
{
	lx_threads_after_fork();
	lx_session.forked = true;
	lx_session.announce = false;
	if (lx_session.active && !lx_session.follow)
		lx_session.wanted = lx_session.active = false;
	pthread_mutex_init(&lx_session.lock, NULL);
}

static void close_process(uint32_t how, int status)
{
	struct lx_state *state = lx_session.state;

	for (struct lx_thread *thread = lx_session.threads; thread; thread = thread->next)
		lx_thread_detach(thread);
	for (struct lx_slot *slot = lx_session.slots; slot; slot = slot->next)
		if (slot->epoch == lx_session.epoch && !slot->used)
			lx_session.sink->release(lx_session.folder, slot->number);
	lx_clock_sample(&state->end);
	state->clock_frequency = lx_clock_frequency(&state->start, &state->end);
	lx_metadata_write();
	lx_lexgions_close();
	state->exit_status = status;
	__atomic_store_n(&state->ended, how, __ATOMIC_RELEASE);
	lx_session.active = lx_session.wanted = false;
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	if (!lx_session.active || lx_session.owner != (int)getpid()) /* a child of vfork or clone is not ours to end */
		return;
	lx_lock();
	bool announce = lx_session.announce;

	if (lx_session.active && !lx_session.forked)
		close_process(1, status & 255);
	lx_unlock();
	if (announce)
		lx_closing_line();
}

/* ---- Public ---- */

int lx_session_start(const struct lx_session_options *options)
{
	struct lx_clock_sample before;

	if (lx_session_active())
		return -EBUSY;
	if (strlen(options->run) + 96 > LX_PATH_SIZE)
		return -ENAMETOOLONG;
	lx_clock_init();
	lx_clock_sample(&before);
	lx_lock();
	int error = mkdir(options->run, 0777) == 0 || errno == EEXIST ? 0 : -errno;

	if (error)
		goto end;
	strcpy(lx_session.run, options->run);
	snprintf(lx_session.program, sizeof lx_session.program, "%s", options->program);
	lx_session.sink = options->null_sink ? &lx_sink_null : &lx_sink_ctf;
	lx_session.follow = options->follow;
	lx_session.announce = options->announce;
	describe(options);
	lx_session_generation++;
	error = open_process(NULL, &before, 0);
	if (error)
		goto end;
	if (!hooked) {
		hooked = true;
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		on_exit(at_exit, NULL);
	}
	if (options->announce)
		lx_closing_remember_stderr();
	lx_session.active = lx_session.wanted = true;
end:
	lx_unlock();
	return error;
}

void lx_session_stop(void)
{
	lx_lock();
	if (lx_session.active && !lx_session.forked)
		close_process(2, 0);
	lx_session.active = lx_session.wanted = false;
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

const char *lx_session_folder(void)
{
	return lx_session.active ? lx_session.folder : "";
}

void lx_session_note(const char *text)
{
	char path[LX_PATH_SIZE + 16], line[512];
	struct stat status;

	if (!lx_session.active)
		return;
	snprintf(path, sizeof path, "%s/notes", lx_session.run);
	int size = snprintf(line, sizeof line, "process %d: %s\n", (int)getpid(), text);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		return;
	/* One write of one short line: whole also when processes write at the same time. */
	if (fstat(fd, &status) != 0 || write(fd, line, (size_t)size) != size)
		size = 0;
	close(fd);
}
