#include "transform/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctf_metadata.h"
#include "base/file.h"
#include "transform/folder.h"

/* Removes FOLDER/NAME; that it is not there is fine. */
static int remove_file(const char *folder, const char *name)
{
	char *path = lx_folder_path(folder, name);
	int error = path && unlink(path) < 0 && errno != ENOENT ? -errno : 0;

	if (!path)
		error = -ENOMEM;
	free(path);
	return error;
}

/* Cuts the stream and appends `packet` (may be NULL), which is on the disk before the caller removes its only copy. */
static int write_stream(const char *path, const struct lx_stream *stream, const struct lx_packet *packet)
{
	int error = 0, fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	if (stream->whole < stream->size && ftruncate(fd, (off_t)stream->whole) < 0)
		error = -errno;
	if (error == 0 && packet) {
		error = lx_file_write_at(fd, stream->whole, packet, (size_t)(packet->packet_size / 8));
		if (error == 0 && fdatasync(fd) < 0)
			error = -errno;
	}
	close(fd);
	return error;
}

/*
 * First the stream, then the open packet's file goes: a kill in between leaves a packet file whose number the stream
 * has, which the next repair takes for the copy that it is.
 */
static int repair_stream(const struct lx_process *process, const struct lx_stream *stream, struct lx_repaired *done)
{
	const struct lx_packet *packet = NULL;
	char name[40];
	int error = 0;

	if (stream->packet_count > 0 && stream->packets[stream->packet_count - 1].open)
		packet = stream->packets[stream->packet_count - 1].header;
	if (packet || stream->whole < stream->size) {
		snprintf(name, sizeof(name), "stream-%u", stream->number);
		char *path = lx_folder_path(process->folder, name);

		error = path ? write_stream(path, stream, packet) : -ENOMEM;
		free(path);
	}
	if (error < 0)
		return error;
	done->cut += stream->size - stream->whole;
	if (packet) {
		done->packets++;
		done->events += packet->events;
	}
	snprintf(name, sizeof(name), "lextrace/packet-%u", stream->number);
	return remove_file(process->folder, name);
}

/* ---- Metadata ---- */

struct metadata {
	struct lx_state state;
	char *process_text, *definitions;
	size_t process_size, definitions_size;
	const char *old;    /* what the folder has */
	size_t old_size, at;
	bool same;
};

static int produce(void *context, lx_text_sink sink, void *sink_context)
{
	struct metadata *metadata = context;

	return lx_ctf_metadata_write(sink, sink_context, &metadata->state, metadata->process_text, metadata->process_size,
				     metadata->definitions, metadata->definitions_size);
}

static int compare(void *context, const char *text, size_t size)
{
	struct metadata *metadata = context;

	if (metadata->old_size - metadata->at < size || memcmp(metadata->old + metadata->at, text, size) != 0)
		metadata->same = false;
	else
		metadata->at += size;
	return 0;
}

/* The state as the metadata needs it: with the clock as it was measured, and the uuid that the packets have. */
static void complete_state(struct lx_state *state, const struct lx_process *process)
{
	*state = process->state;
	if (state->ended == 0)
		state->clock_frequency = (uint64_t)llround(1e9 / process->ns_per_tick);
	state->start.ticks = process->clock_ticks;
	state->start.realtime = process->clock_real;
	for (size_t i = 0; i < process->stream_count; i++) {
		if (process->streams[i].packet_count > 0) {
			memcpy(state->uuid, process->streams[i].packets[0].header->uuid, sizeof(state->uuid));
			break;
		}
	}
}

static void read_or_empty(const struct lx_process *process, struct lx_store *store, const char *name, char **data,
			  size_t *size)
{
	char *path = lx_folder_path(process->folder, name);

	*data = NULL;
	*size = 0;
	if (path && lx_store_read(store, path, SIZE_MAX - 1, data, size) < 0)
		*size = 0;
	free(path);
}

static int repair_metadata(const struct lx_process *process, struct lx_repaired *done)
{
	struct lx_store store = {NULL};
	struct metadata metadata = {.same = true};
	char *path = lx_folder_path(process->folder, "metadata"), *old;
	char *temporary = lx_folder_path(process->folder, "lextrace/metadata.new");
	int error = -ENOMEM;

	complete_state(&metadata.state, process);
	read_or_empty(process, &store, "lextrace/process", &metadata.process_text, &metadata.process_size);
	read_or_empty(process, &store, "lextrace/lexgions", &metadata.definitions, &metadata.definitions_size);
	read_or_empty(process, &store, "metadata", &old, &metadata.old_size);
	metadata.old = old;
	if (path && temporary)
		error = produce(&metadata, compare, &metadata);
	if (error == 0 && !(metadata.same && metadata.at == metadata.old_size)) {
		error = lx_file_replace(path, temporary, produce, &metadata);
		done->metadata = error == 0;
	}
	if (error == 0) /* what a writer that was killed while it replaced the metadata left */
		error = remove_file(process->folder, "lextrace/metadata.new");
	lx_store_free(&store);
	free(temporary);
	free(path);
	return error;
}

static int repair_process(const struct lx_process *process, struct lx_repaired *done)
{
	int error = 0;

	if (process->running) {
		done->running = true;
		return 0;
	}
	for (size_t i = 0; i < process->stream_count && error == 0; i++)
		error = repair_stream(process, &process->streams[i], done);
	return error < 0 ? error : repair_metadata(process, done);
}

static int complain(int error, const char *folder, char *message, size_t size)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
		snprintf(message, size, "can't write in the folder: %s; copy the run to where you may write and repair the copy",
			 folder);
		break;
	case -ENOSPC:
	case -EDQUOT:
		snprintf(message, size, "disk full while repairing: %s; make room and repair again", folder);
		break;
	default:
		snprintf(message, size, "%s while repairing: %s; see to the cause and repair again", strerror(-error), folder);
		break;
	}
	return error;
}

/* Opens the folder anew under a lock: another repair may have just been there. */
static int repair_folder(const char *folder, struct lx_repaired *done, char *message, size_t size)
{
	struct lx_trace *trace;
	int error, fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return complain(-errno, folder, message, size);
	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	error = lx_trace_open(folder, &trace, message, size);
	if (error == 0) {
		error = repair_process(&trace->processes[0], done);
		if (error < 0)
			complain(error, folder, message, size);
		lx_trace_close(trace);
	}
	close(fd);
	return error;
}

int lx_repair(const char *path, struct lx_repair_result *result, char *message, size_t size)
{
	struct lx_trace *trace;
	int error = lx_trace_open(path, &trace, message, size);

	*result = (struct lx_repair_result){NULL, 0};
	if (error < 0)
		return error;
	result->processes = calloc(trace->process_count, sizeof(*result->processes));
	if (!result->processes)
		error = complain(-ENOMEM, path, message, size);
	for (size_t i = 0; i < trace->process_count && error == 0; i++) {
		struct lx_repaired *done = &result->processes[i];

		done->name = strdup(trace->processes[i].name);
		result->count++;
		error = done->name ? repair_folder(trace->processes[i].folder, done, message, size) :
				     complain(-ENOMEM, path, message, size);
		done->failed = error != 0;
	}
	lx_trace_close(trace);
	return error;
}

void lx_repair_free(struct lx_repair_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->processes[i].name);
	free(result->processes);
	*result = (struct lx_repair_result){NULL, 0};
}
