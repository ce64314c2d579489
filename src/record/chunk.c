#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Copies the first `size` bytes of a file (all of it: UINT64_MAX). A file that is not there is no error. */
static int copy_file(const char *from, const char *to, uint64_t size)
{
	static char buffer[65536]; /* the stack may be a small one; the lock is held */
	int source = open(from, O_RDONLY | O_CLOEXEC), error = 0;

	if (source < 0)
		return errno == ENOENT ? 0 : -errno;
	for (uint64_t at = 0; !error && at < size;) {
		size_t part = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);
		ssize_t got = pread(source, buffer, part, (off_t)at);

		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		error = lx_file_append(to, at, buffer, (size_t)got);
		at += (uint64_t)got;
	}
	close(source);
	return error;
}

/* The open packet as it is now, as a whole one behind the copied stream. */
static int append_packet(const struct lx_slot *slot, const char *to, struct lx_state *state)
{
	static union {
		struct lx_packet packet;
		uint64_t words[LX_PACKET_MAX / 8];
	} copy;
	uint64_t content = __atomic_load_n(&slot->packet->content_size, __ATOMIC_ACQUIRE) / 8;

	if (content <= sizeof(struct lx_packet) || content > slot->size)
		return 0;
	memcpy(copy.words, slot->packet, content);
	/* Events may have come while it was copied: those before `content` are whole. */
	copy.packet.content_size = copy.packet.packet_size = content * 8;
	uint32_t events = 0;

	for (uint64_t at = sizeof(struct lx_packet) / 8; at < content / 8; events++)
		at += lx_event_words(&copy.words[at], content / 8 - at);
	copy.packet.events = events;
	state->events += events;
	state->bytes += content;
	return lx_file_append(to, slot->file_size, copy.words, content);
}

static int copy_streams(const char *chunk, struct lx_state *state)
{
	char from[LX_PATH_SIZE + 64], to[LX_PATH_SIZE + 96];
	int error = 0;

	for (struct lx_slot *slot = lx_session.slots; slot && !error; slot = slot->next) {
		if (slot->epoch != lx_session.epoch)
			continue;
		snprintf(from, sizeof(from), "%s/stream-%u", lx_session.folder, slot->number);
		snprintf(to, sizeof(to), "%s/stream-%u", chunk, slot->number);
		error = copy_file(from, to, slot->file_size);
		if (!error)
			error = append_packet(slot, to, state);
	}
	return error;
}

static int copy_side_files(const char *chunk)
{
	static const char *const names[] = {"lexgions", "process", "rows", "threads", "config", "journal"};
	char from[LX_PATH_SIZE + 64], to[LX_PATH_SIZE + 96];
	int error = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !error; i++) {
		snprintf(from, sizeof(from), "%s/lextrace/%s", lx_session.folder, names[i]);
		snprintf(to, sizeof(to), "%s/lextrace/%s", chunk, names[i]);
		error = copy_file(from, to, UINT64_MAX);
	}
	for (unsigned n = 1; !error; n++) {
		snprintf(from, sizeof(from), "%s/lextrace/config-%u", lx_session.folder, n);
		snprintf(to, sizeof(to), "%s/lextrace/config-%u", chunk, n);
		if (access(from, F_OK) != 0)
			break;
		error = copy_file(from, to, UINT64_MAX);
	}
	return error;
}

/* Makes lextrace/chunks/N and lextrace/ in it; the next free N. */
static int make_folder(char *chunk, size_t size)
{
	char path[LX_PATH_SIZE + 96];

	snprintf(path, sizeof(path), "%s/lextrace/chunks", lx_session.folder);
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return -errno;
	for (unsigned n = 1; n < 1000000; n++) {
		if (snprintf(chunk, size, "%s/lextrace/chunks/%u", lx_session.folder, n) >= (int)size)
			return -ENAMETOOLONG;
		if (mkdir(chunk, 0777) == 0) {
			snprintf(path, sizeof(path), "%s/lextrace", chunk);
			return mkdir(path, 0777) == 0 ? 0 : -errno;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int write_state(const char *chunk, struct lx_state *state)
{
	char path[LX_PATH_SIZE + 96];
	void *map;

	lx_clock_sample(&state->end);
	state->clock_frequency = lx_clock_frequency(&state->start, &state->end);
	state->ended = 2;
	state->attention = state->paused = 0;
	snprintf(path, sizeof(path), "%s/lextrace/state", chunk);
	int error = lx_file_map(path, 0, LX_STATE_SIZE, NULL, &map);

	if (error)
		return error;
	memcpy(map, state, sizeof(*state));
	munmap(map, LX_STATE_SIZE);
	return 0;
}

int lx_chunk_make(char *chunk, size_t size)
{
	char from[LX_PATH_SIZE + 64], to[LX_PATH_SIZE + 96];
	int error = -ENOENT;

	lx_lock();
	if (!lx_session.active || lx_session.forked)
		goto end;
	struct lx_state state = *lx_session.state;

	error = make_folder(chunk, size);
	if (!error)
		error = copy_streams(chunk, &state);
	if (!error)
		error = copy_side_files(chunk);
	if (!error)
		error = write_state(chunk, &state);
	if (!error) { /* the metadata last: with it the chunk is one */
		lx_metadata_write();
		snprintf(from, sizeof(from), "%s/metadata", lx_session.folder);
		snprintf(to, sizeof(to), "%s/metadata", chunk);
		error = copy_file(from, to, UINT64_MAX);
	}
end:
	lx_unlock();
	return error;
}
