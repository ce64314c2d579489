/* A process of .pfw files as one of a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transform/parse.h"
#include "transform/pfw_lane.h"

#define NS 1000000000u

enum {
#define LX_X(key) KEY_##key,
	LX_PROCESS_KEYS(LX_X)
#undef LX_X
};

/* What the process has so far; its lists move to the store at the end. */
struct built {
	struct lx_pfw *pfw;
	struct lx_pfw_process *from;
	struct lx_process *process;
	struct lx_stream *streams;
	struct lx_thread_info *threads;
	size_t stream_count, thread_count, stream_room, thread_room;
};

static bool grow(void **list, size_t *room, size_t count, size_t size)
{
	size_t wider = *room ? 2 * *room : 8;
	void *grown;

	if (count < *room)
		return true;
	grown = realloc(*list, wider * size);
	if (!grown)
		return false;
	*list = grown;
	*room = wider;
	return true;
}

static bool is_main(const struct built *built, const struct lx_pfw_track *track)
{
	return track->tid == built->from->pid || track->tid == 0;
}

static void name_thread(const struct built *built, struct lx_thread_info *info, const struct lx_pfw_track *track, uint32_t lane)
{
	char name[LX_THREAD_NAME_SIZE + 1], number[24] = "main";
	size_t size;

	if (!is_main(built, track))
		snprintf(number, sizeof(number), "thread %u", info->tid);
	size = track->name ? track->name_size : strlen(number);
	if (size > LX_THREAD_NAME_SIZE)
		size = LX_THREAD_NAME_SIZE;
	memcpy(name, track->name ? track->name : number, size);
	if (lane > 0) {
		char more[32];
		size_t length = (size_t)snprintf(more, sizeof(more), " (overlapping %u)", lane);

		if (size + length > LX_THREAD_NAME_SIZE)
			size = LX_THREAD_NAME_SIZE - length;
		memcpy(name + size, more, length);
		size += length;
	}
	lx_parse_thread_name(info, name, size);
}

static int add_lane(struct built *built, const struct lx_pfw_lane *lane, const struct lx_pfw_track *track, uint32_t index)
{
	struct lx_pfw *pfw = built->pfw;

	if (!grow((void **)&built->threads, &built->thread_room, built->thread_count, sizeof(*built->threads)) ||
	    !grow((void **)&built->streams, &built->stream_room, built->stream_count, sizeof(*built->streams)))
		return -ENOMEM;
	struct lx_thread_info *info = &built->threads[built->thread_count];
	struct lx_stream *stream = &built->streams[built->stream_count];
	uint64_t tid = track->tid ? track->tid : built->from->pid;

	*info = (struct lx_thread_info){ .number = (uint32_t)built->thread_count, .tid = (uint32_t)tid ? (uint32_t)tid : 1 };
	name_thread(built, info, track, index);
	built->thread_count++;
	if (lane->packet_count == 0)
		return 0;
	*stream = (struct lx_stream){ .number = (unsigned)built->stream_count, .packet_count = lane->packet_count };
	stream->packets = lx_store_alloc(pfw->store, lane->packet_count * sizeof(*stream->packets));
	if (!stream->packets)
		return -ENOMEM;
	memcpy(stream->packets, lane->packets, lane->packet_count * sizeof(*stream->packets));
	info->first = stream->packets[0].header->timestamp_begin;
	for (size_t i = 0; i < stream->packet_count; i++) {
		struct lx_packet *packet = (struct lx_packet *)stream->packets[i].header; /* ours until it is handed over */

		memcpy(packet->thread_name, info->name, strnlen(info->name, sizeof(packet->thread_name)));
		stream->size += packet->packet_size / 8;
		built->process->state.events += packet->events;
		info->last = packet->timestamp_end;
	}
	stream->whole = stream->size;
	built->process->state.bytes += stream->size;
	built->stream_count++;
	return 0;
}

static int add_track(struct built *built, struct lx_pfw_track *track)
{
	struct lx_pfw_lanes lanes = { .pfw = built->pfw, .first_number = (uint32_t)built->thread_count,
				      .tid = (uint32_t)track->tid };
	int error;

	track->number = lanes.first_number;
	lx_pfw_sort(track);
	error = lx_pfw_lay_out(&lanes, track, built->process->first);
	for (size_t i = 0; i < lanes.count && error == 0; i++)
		error = add_lane(built, &lanes.list[i], track, (uint32_t)i);
	lx_pfw_lanes_free(&lanes);
	return error;
}

/* The main thread first, then by begin. */
static int by_begin(const void *a, const void *b)
{
	const struct lx_pfw_track *left = *(struct lx_pfw_track *const *)a, *right = *(struct lx_pfw_track *const *)b;

	if ((left->number == 0) != (right->number == 0))
		return left->number == 0 ? -1 : 1;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int add_tracks(struct built *built)
{
	struct lx_pfw *pfw = built->pfw;
	size_t count = 0, at = 0;
	int error = 0;

	for (uint32_t i = built->from->tracks; i != LX_PFW_NONE; i = pfw->tracks[i].next)
		count++;
	struct lx_pfw_track **list = calloc(count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t i = built->from->tracks; i != LX_PFW_NONE; i = pfw->tracks[i].next) {
		list[at++] = &pfw->tracks[i];
		pfw->tracks[i].number = is_main(built, &pfw->tracks[i]) ? 0 : 1;
	}
	qsort(list, count, sizeof(struct lx_pfw_track *), by_begin);
	for (size_t i = 0; i < count && error == 0; i++)
		error = add_track(built, list[i]);
	free(list);
	return error;
}

static int set_key(struct built *built, unsigned key, const char *text, size_t size)
{
	char *copy = lx_store_alloc(built->pfw->store, size + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	built->process->key[key] = copy;
	built->process->key_size[key] = size;
	return 0;
}

static const struct lx_pfw_hash *hash_of(const struct built *built, uint32_t index)
{
	return index != LX_PFW_NONE && built->pfw->names.hashes[index].name ? &built->pfw->names.hashes[index] : NULL;
}

/* The command's words are joined by semicolons there, and none follows the last. Without a command the file stands for it. */
static int set_command(struct built *built)
{
	const struct lx_pfw_hash *command = hash_of(built, built->from->command);
	const char *path = built->process->folder, *slash = strrchr(path, '/');
	const char *text = command ? command->name : slash ? slash + 1 : path;
	size_t size = command ? command->name_size : strlen(text);
	int error = set_key(built, KEY_argv, text, size);

	if (error)
		return error;
	char *words = built->process->key[KEY_argv];
	const char *word = words;

	for (size_t i = 0; i < size && command; i++)
		if (words[i] == ';')
			words[i] = '\0';
	if (strncmp(words, "python", 6) == 0 && strlen(words) + 1 < size)
		word += strlen(words) + 1;
	slash = strrchr(word, '/');
	word = slash ? slash + 1 : word;
	return set_key(built, KEY_program, word, strlen(word));
}

static int set_keys(struct built *built)
{
	const struct lx_pfw_hash *host = hash_of(built, built->from->host), *folder = hash_of(built, built->from->folder);
	const struct lx_pfw_hash *executable = hash_of(built, built->from->executable);
	char name[512];
	int error = set_command(built);

	if (!error && host)
		error = set_key(built, KEY_host, host->name, host->name_size);
	if (!error && folder)
		error = set_key(built, KEY_cwd, folder->name, folder->name_size);
	if (!error && executable)
		error = set_key(built, KEY_executable, executable->name, executable->name_size);
	if (error)
		return error;
	snprintf(name, sizeof(name), "%.400s%s%u", host ? host->name : "", host ? "-" : "", built->process->state.pid);
	char *copy = lx_store_alloc(built->pfw->store, strlen(name) + 1);

	if (!copy)
		return -ENOMEM;
	built->process->name = strcpy(copy, name);
	return 0;
}

static int set_rows(struct built *built)
{
	struct lx_pfw_process *from = built->from;
	struct lx_row *rows = lx_store_alloc(built->pfw->store, from->row_count * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	if (from->row_count > 0)
		memcpy(rows, from->rows, from->row_count * sizeof(*rows));
	for (size_t i = 0; i < from->row_count; i++) {
		rows[i].thread = built->pfw->tracks[rows[i].thread].number;
		built->process->state.counted += rows[i].calls;
	}
	built->process->rows = rows;
	built->process->row_count = from->row_count;
	built->process->state.rows = from->row_count;
	return 0;
}

/* Times are ticks of a clock that counts ns since the epoch. */
static void set_state(struct built *built)
{
	struct lx_pfw_process *from = built->from;
	struct lx_process *process = built->process;
	struct lx_state *state = &process->state;

	process->blank = from->first > from->last;
	process->first = process->blank ? 0 : from->first;
	process->last = process->blank ? 0 : from->last;
	for (unsigned i = 0; i < LX_LOSS_COUNT; i++) {
		process->lost[i] = from->lost[i];
		process->lost_total += from->lost[i];
	}
	process->clock_ticks = process->clock_real = process->first;
	process->ns_per_tick = 1;
	process->killed = from->started && !from->ended;
	*state = (struct lx_state){
		.magic = LX_STATE_MAGIC, .version = LX_FORMAT_VERSION, .pid = (uint32_t)from->pid, .parent_pid = from->parent,
		.clock_kind = LX_CLOCK_MONOTONIC, .ended = process->killed ? 0 : 2, .clock_frequency = NS,
		.start = { process->first, process->first, process->first },
	};
	if (!process->killed)
		state->end = (struct lx_clock_sample){ process->last, process->last, process->last };
}

/* The lists at their full length to the store. */
static int hand_over(struct built *built)
{
	struct lx_process *process = built->process;

	process->streams = lx_store_alloc(built->pfw->store, built->stream_count * sizeof(*process->streams));
	process->threads = lx_store_alloc(built->pfw->store, built->thread_count * sizeof(*process->threads));
	if (!process->streams || !process->threads)
		return -ENOMEM;
	if (built->stream_count > 0)
		memcpy(process->streams, built->streams, built->stream_count * sizeof(*process->streams));
	if (built->thread_count > 0)
		memcpy(process->threads, built->threads, built->thread_count * sizeof(*process->threads));
	process->stream_count = built->stream_count;
	process->thread_count = built->thread_count;
	process->state.threads = (uint32_t)built->thread_count;
	return 0;
}

int lx_pfw_build(struct lx_pfw *pfw, struct lx_pfw_process *from, struct lx_process *process)
{
	struct built built = { .pfw = pfw, .from = from, .process = process };
	int error;

	set_state(&built);
	error = set_keys(&built);
	if (!error)
		error = add_tracks(&built);
	if (!error)
		error = set_rows(&built);
	if (!error)
		error = hand_over(&built);
	free(built.streams);
	free(built.threads);
	return error;
}
