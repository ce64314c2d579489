#include <errno.h>
#include <stdlib.h>

#include "transform/trace.h"

/* A stream with its next event at hand. */
struct source {
	const struct lx_process *process;
	const struct lx_stream *stream;
	size_t packet;              /* index of the packet that the cursor is in */
	struct lx_cursor cursor;
	struct lx_merged next;
};

/* A heap of sources by the time of their next event; the order of sources decides between equal times. */
struct lx_merge {
	size_t count;
	struct source **heap;
	struct source *sources;
};

static bool before(const struct source *a, const struct source *b)
{
	return a->next.real_ns != b->next.real_ns ? a->next.real_ns < b->next.real_ns : a < b;
}

static void start_packet(struct source *source)
{
	const struct lx_packet_ref *packet = &source->stream->packets[source->packet];

	lx_cursor_start(&source->cursor, packet);
	source->next.packet = packet;
	source->next.thread = &source->process->threads[packet->header->thread];
	source->next.packet_start = true;
}

/* Fetches the next event; false at the stream's end. */
static bool advance(struct source *source)
{
	source->next.packet_start = false;
	while (!lx_cursor_next(&source->cursor, &source->next.event)) {
		if (++source->packet >= source->stream->packet_count)
			return false;
		lx_packets_passed(source->stream, source->packet);
		start_packet(source);
	}
	source->next.real_ns = lx_real_ns(source->process, source->next.event.ticks);
	return true;
}

static void sift_down(struct lx_merge *merge, size_t at)
{
	struct source **heap = merge->heap, *moving = heap[at];

	for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
		if (child + 1 < merge->count && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], moving))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moving;
}

static void add_process(struct lx_merge *merge, const struct lx_process *process)
{
	for (size_t i = 0; i < process->stream_count; i++) {
		struct source *source = &merge->sources[merge->count];

		source->process = source->next.process = process;
		source->stream = &process->streams[i];
		source->cursor = (struct lx_cursor){0};
		source->packet = SIZE_MAX; /* in front of the first */
		if (advance(source))
			merge->heap[merge->count++] = source;
	}
}

int lx_merge_open(const struct lx_trace *trace, const struct lx_process *only_or_null, struct lx_merge **out)
{
	struct lx_merge *merge = calloc(1, sizeof(*merge));
	size_t streams = 1;

	*out = NULL;
	for (size_t i = 0; i < trace->process_count; i++)
		streams += trace->processes[i].stream_count;
	if (merge) {
		merge->sources = calloc(streams, sizeof(*merge->sources));
		merge->heap = calloc(streams, sizeof(struct source *));
	}
	if (!merge || !merge->sources || !merge->heap) {
		lx_merge_close(merge);
		return -ENOMEM;
	}
	for (size_t i = 0; i < trace->process_count; i++)
		if (!only_or_null || only_or_null == &trace->processes[i])
			add_process(merge, &trace->processes[i]);
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	*out = merge;
	return 0;
}

bool lx_merge_next(struct lx_merge *merge, struct lx_merged *out)
{
	struct source *source;

	if (merge->count == 0)
		return false;
	source = merge->heap[0];
	*out = source->next;
	if (!advance(source)) {
		merge->heap[0] = merge->heap[--merge->count];
		if (merge->count == 0)
			return true;
	}
	sift_down(merge, 0);
	return true;
}

void lx_merge_close(struct lx_merge *merge)
{
	if (!merge)
		return;
	free(merge->sources);
	free(merge->heap);
	free(merge);
}
