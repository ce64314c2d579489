#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "transform/parse.h"
#include "transform/passed.h"

size_t lx_packet_check(const void *data, size_t size, const uint8_t *uuid)
{
	const struct lx_packet *packet = data;
	uint64_t bytes;

	if (size < sizeof(*packet) || packet->magic != LX_CTF_MAGIC || packet->stream_id != 0)
		return 0;
	if (uuid && memcmp(packet->uuid, uuid, sizeof(packet->uuid)) != 0)
		return 0;
	if (packet->packet_size % 64 != 0 || packet->content_size % 64 != 0)
		return 0;
	if (packet->content_size < 8 * sizeof(*packet) || packet->content_size > packet->packet_size)
		return 0;
	bytes = packet->packet_size / 8;
	return bytes <= size && bytes <= LX_PACKET_MAX ? (size_t)bytes : 0;
}

static void refer(struct lx_packet_ref *ref, const void *data, bool open)
{
	ref->header = data;
	ref->events = (const uint64_t *)(ref->header + 1);
	ref->words = (size_t)(ref->header->content_size / 8 - sizeof(struct lx_packet)) / 8;
	ref->open = open;
}

/*
 * The open packet of a writer that was killed, or is at work: content_size is stored after the event and timestamp_end,
 * so an event that lies past timestamp_end was under way.
 */
static bool complete_open(struct lx_packet *packet, size_t size, const uint8_t *uuid)
{
	struct lx_packet_ref ref;
	struct lx_cursor cursor;
	struct lx_event event;
	const uint64_t *whole;
	uint32_t events = 0;
	uint64_t last;

	size &= ~(size_t)7;
	if (size < sizeof(*packet))
		return false;
	if (size > LX_PACKET_MAX)
		size = LX_PACKET_MAX;
	packet->packet_size = 8 * size;
	if (packet->content_size > packet->packet_size)
		packet->content_size = packet->packet_size;
	packet->content_size &= ~63ull;
	if (!lx_packet_check(packet, size, uuid))
		return false;
	refer(&ref, packet, true);
	lx_cursor_start(&cursor, &ref);
	whole = cursor.at;
	last = cursor.ticks;
	while (lx_cursor_next(&cursor, &event) && event.ticks >= last && event.ticks <= packet->timestamp_end) {
		whole = cursor.at;
		last = event.ticks;
		events++;
	}
	packet->content_size = 8 * (uint64_t)((const char *)whole - (const char *)packet);
	packet->packet_size = packet->content_size;
	packet->timestamp_end = last;
	packet->events = events;
	return true;
}

#define SCANNED_AT_ONCE 64u

/* The scan has come to `at`; a page of each packet, and what the kernel read around it, was touched. */
static void pass(const struct lx_stream *stream, const char *bytes, size_t *passed, size_t at)
{
	if (stream->mapped)
		lx_memory_passed(bytes + *passed, bytes + at);
	*passed = at;
}

int lx_parse_stream(struct lx_store *store, struct lx_stream *stream, const void *data, size_t size,
		    void *open, size_t open_size)
{
	const char *bytes = size > 0 ? data : "";
	const uint8_t *uuid = NULL;
	size_t at = 0, count = 0, passed = 0, packet_size;
	int64_t sequence = -1;
	struct lx_packet *headers; /* copies: later looks at them touch no page of the file */

	/* Not the state's: if that is damaged, the packets are still good. */
	if (size >= sizeof(struct lx_packet))
		uuid = ((const struct lx_packet *)data)->uuid;
	while ((packet_size = lx_packet_check(bytes + at, size - at, uuid)) > 0) {
		at += packet_size;
		if (++count % SCANNED_AT_ONCE == 0)
			pass(stream, bytes, &passed, at);
	}
	stream->size = size;
	stream->whole = at;
	stream->torn = at < size;
	stream->packets = lx_store_alloc(store, (count + 1) * sizeof(*stream->packets));
	headers = lx_store_alloc(store, count * sizeof(*headers));
	if (!stream->packets || !headers)
		return -ENOMEM;
	at = passed = 0;
	for (size_t i = 0; i < count; i++) {
		const struct lx_packet *packet = (const void *)(bytes + at);

		/* A number that does not rise is a copy: an append that was repeated. */
		if ((int64_t)packet->packet_seq_num > sequence) {
			struct lx_packet_ref *ref = &stream->packets[stream->packet_count++];

			refer(ref, packet, false);
			ref->header = memcpy(&headers[i], packet, sizeof(*packet));
			sequence = (int64_t)packet->packet_seq_num;
		}
		at += (size_t)(packet->packet_size / 8);
		if (i % SCANNED_AT_ONCE == 0)
			pass(stream, bytes, &passed, at);
	}
	pass(stream, bytes, &passed, at);
	if (open && complete_open(open, open_size, uuid)) {
		const struct lx_packet *packet = open;

		if ((int64_t)packet->packet_seq_num > sequence && packet->events > 0)
			refer(&stream->packets[stream->packet_count++], packet, true);
	}
	return 0;
}

void lx_parse_thread_name(struct lx_thread_info *thread, const char *text, size_t size)
{
	size = strnlen(text, size < LX_THREAD_NAME_SIZE ? size : LX_THREAD_NAME_SIZE);
	memset(thread->name, 0, sizeof(thread->name));
	for (size_t at = 0; at < size;) {
		unsigned length = lx_utf8_length(text + at, size - at);

		if (length > 0)
			memcpy(thread->name + at, text + at, length);
		else
			thread->name[at] = '?';
		at += length > 0 ? length : 1;
	}
}

static void note_packet(struct lx_process *process, const struct lx_packet *packet)
{
	struct lx_thread_info *thread = &process->threads[packet->thread];
	uint64_t begin = packet->timestamp_begin;
	uint64_t end = packet->timestamp_end > begin ? packet->timestamp_end : begin;

	if (thread->last == 0 || begin < thread->first)
		thread->first = begin;
	if (thread->last == 0 || end >= thread->last) {
		thread->last = end;
		thread->tid = packet->tid;
		lx_parse_thread_name(thread, packet->thread_name, sizeof(packet->thread_name));
	}
	if (process->last == 0 || begin < process->first)
		process->first = begin;
	if (end > process->last)
		process->last = end;
}

/* Packets whose thread number no real program reaches would make the table of threads huge. */
static uint32_t drop_absurd_threads(struct lx_process *process)
{
	size_t packets = 0;
	uint32_t count = 0;

	for (size_t i = 0; i < process->stream_count; i++)
		packets += process->streams[i].packet_count;
	for (size_t i = 0; i < process->stream_count; i++) {
		struct lx_stream *stream = &process->streams[i];
		size_t kept = 0;

		for (size_t k = 0; k < stream->packet_count; k++) {
			uint32_t thread = stream->packets[k].header->thread;

			if (thread >= LX_THREADS_PLENTY && thread / 16 >= packets) {
				stream->torn = true;
				continue;
			}
			stream->packets[kept++] = stream->packets[k];
			if (thread >= count)
				count = thread + 1;
		}
		stream->packet_count = kept;
	}
	return count;
}

int lx_parse_finish(struct lx_process *process, struct lx_store *store)
{
	uint64_t lost[LX_LOSS_COUNT] = {0};
	size_t packets = 0;

	process->thread_count = drop_absurd_threads(process);
	for (size_t i = 0; i < process->row_count; i++)
		if (process->rows[i].thread >= process->thread_count)
			process->thread_count = process->rows[i].thread + 1;
	process->threads = lx_store_alloc(store, process->thread_count * sizeof(*process->threads));
	if (!process->threads)
		return -ENOMEM;
	for (size_t i = 0; i < process->thread_count; i++)
		process->threads[i].number = (uint32_t)i;
	for (size_t i = 0; i < process->stream_count; i++) {
		struct lx_stream *stream = &process->streams[i];

		packets += stream->packet_count;
		for (size_t k = 0; k < stream->packet_count; k++)
			note_packet(process, stream->packets[k].header);
		for (unsigned cause = 0; stream->packet_count > 0 && cause < LX_LOSS_COUNT; cause++)
			lost[cause] += stream->packets[stream->packet_count - 1].header->lost[cause];
	}
	/* A loss after a stream's last packet stands in the state only. */
	for (unsigned cause = 0; cause < LX_LOSS_COUNT; cause++) {
		uint64_t known = process->state.lost[cause];

		process->lost[cause] = lost[cause] > known ? lost[cause] : known;
		process->lost_total += process->lost[cause];
	}
	if (process->last == 0) {
		process->first = process->last = process->state.start.ticks;
		if (process->row_count > 0 && process->state.end.ticks > process->first)
			process->last = process->state.end.ticks;
	}
	process->blank = packets == 0 && process->state.magic != LX_STATE_MAGIC;
	lx_parse_clock(process);
	return 0;
}
