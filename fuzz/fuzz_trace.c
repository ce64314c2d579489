/*
 * The reader on hostile files: parsing, spans and merge, in memory. Beside crashes it looks for
 * broken promises: spans nest, no time is negative, every event that one reader sees the other one sees too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sections.h"
#include "transform/parse.h"
#include "view/arguments.h"
#include "view/json_value.h"
#include "view/spans.h"

#define STREAMS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A buffer as long as what is in it, so that a sanitizer sees every read past its end. */
struct bytes {
	uint8_t *data;
	size_t size;
};

struct input {
	struct bytes state, process, lexgions, rows, threads, journal, config, sides;
	struct bytes stream[STREAMS_MAX], open[STREAMS_MAX];
	size_t streams;
	uint64_t sequence;
};

static void append(struct bytes *bytes, const void *data, size_t size)
{
	uint8_t *grown = malloc(bytes->size + size + 1);

	REQUIRE(grown);
	if (bytes->size > 0)
		memcpy(grown, bytes->data, bytes->size);
	memcpy(grown + bytes->size, data, size);
	free(bytes->data);
	bytes->data = realloc(grown, bytes->size + size > 0 ? bytes->size + size : 1);
	REQUIRE(bytes->data);
	bytes->size += size;
}

/* A packet whose header is right: mutations then go where the events are. */
static void append_packet(struct input *input, struct bytes *stream, const uint8_t *data, size_t size)
{
	struct lx_packet packet = {.magic = LX_CTF_MAGIC};
	uint32_t begin;

	if (size < SECTION_PACKET_HEADER)
		return;
	memcpy(&begin, data + 4, sizeof(begin));
	size = (size - SECTION_PACKET_HEADER) & ~(size_t)7;
	if (stream->size >= sizeof(packet))
		memcpy(packet.uuid, ((struct lx_packet *)stream->data)->uuid, sizeof(packet.uuid));
	packet.thread = data[0];
	packet.stack = data[1];
	packet.timestamp_begin = packet.timestamp_end = begin;
	packet.packet_seq_num = input->sequence++;
	packet.content_size = packet.packet_size = 8 * (sizeof(packet) + size);
	append(stream, &packet, sizeof(packet));
	append(stream, data + SECTION_PACKET_HEADER, size);
}

static void take_section(struct input *input, unsigned type, const uint8_t *data, size_t size)
{
	struct bytes *stream = input->streams > 0 ? &input->stream[input->streams - 1] : NULL;

	switch (type % SECTION_TYPES) {
	case SECTION_STATE:
		append(&input->state, data, size);
		break;
	case SECTION_PROCESS:
		append(&input->process, data, size);
		break;
	case SECTION_LEXGIONS:
		append(&input->lexgions, data, size);
		break;
	case SECTION_STREAM:
		if (input->streams < STREAMS_MAX)
			append(&input->stream[input->streams++], data, size);
		break;
	case SECTION_PACKET:
		if (stream)
			append_packet(input, stream, data, size);
		break;
	case SECTION_OPEN:
		if (stream)
			append(&input->open[input->streams - 1], data, size);
		break;
	case SECTION_ROWS:
		append(&input->rows, data, size);
		break;
	case SECTION_THREADS:
		append(&input->threads, data, size);
		break;
	case SECTION_JOURNAL:
		append(&input->journal, data, size);
		break;
	case SECTION_CONFIG:
		append(&input->config, data, size);
		break;
	case SECTION_SIDES:
		append(&input->sides, data, size);
		break;
	}
}

static void unpack(struct input *input, const uint8_t *data, size_t size)
{
	while (size >= SECTION_HEADER) {
		size_t length = data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;

		if (length > size - SECTION_HEADER)
			length = size - SECTION_HEADER;
		take_section(input, data[0], data + SECTION_HEADER, length);
		data += SECTION_HEADER + length;
		size -= SECTION_HEADER + length;
	}
}

static void release(struct input *input)
{
	free(input->state.data);
	free(input->process.data);
	free(input->lexgions.data);
	free(input->rows.data);
	free(input->threads.data);
	free(input->journal.data);
	free(input->config.data);
	free(input->sides.data);
	for (size_t i = 0; i < input->streams; i++) {
		free(input->stream[i].data);
		free(input->open[i].data);
	}
}

/* What the spans of a process come to. */
struct seen {
	uint32_t depth;
	uint64_t entered, left, recursive;
	uint64_t now;
	const struct lx_thread_info *thread;
	uint64_t told, runs, named;
};

static void check_arguments(const struct lx_arguments *arguments)
{
	REQUIRE(!arguments || arguments->count <= LX_ARGUMENTS_MAX);
	for (uint32_t i = 0; arguments && i < arguments->count; i++) {
		const struct lx_argument *one = &arguments->list[i];

		REQUIRE(one->kind >= LX_EV_ARG_INT && one->kind <= LX_EV_ARG_TEXT && one->size <= LX_TEXT_MAX);
		REQUIRE(one->size <= one->room);
		for (uint32_t k = 0; k < i; k++)
			REQUIRE(arguments->list[k].key != one->key);
		if (one->kind == LX_EV_ARG_TEXT && one->size > 0)
			lx_json_valid(one->text, one->size);
	}
}

static void told(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 const struct lx_told *told)
{
	(void)process;
	(void)thread;
	REQUIRE(told->kind >= LX_EV_SPAN && told->kind < LX_EV_COUNT);
	REQUIRE(told->kind != LX_EV_METADATA || (told->arguments && told->arguments->count == 1));
	check_arguments(told->arguments);
	((struct seen *)context)->told++;
}

static void run_end(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		    const struct lx_run *run)
{
	struct seen *seen = context;

	(void)process;
	REQUIRE(run->slices > 0 && run->begin <= run->end && run->thread == thread);
	check_arguments(run->arguments);
	seen->runs += run->slices;
}

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		  struct lx_span *span)
{
	struct seen *seen = context;

	REQUIRE(thread >= process->threads && thread < process->threads + process->thread_count);
	if (thread != seen->thread) {
		REQUIRE(seen->depth == 0);
		seen->thread = thread;
		seen->now = 0;
	}
	REQUIRE(span->depth == seen->depth && (span->parent == NULL) == (span->depth == 0));
	REQUIRE(!span->parent || (span->parent->depth + 1 == span->depth && span->parent->begin <= span->begin));
	REQUIRE(span->begin >= seen->now || span->depth == 0);
	REQUIRE(span->data == NULL && span->children == 0);
	for (struct lx_span *outer = span->parent; outer && span->depth < 64; outer = outer->parent)
		seen->recursive += outer->lexgion == span->lexgion && span->recursive;
	seen->now = span->begin;
	span->data = seen;
	seen->depth++;
	seen->entered++;
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		  struct lx_span *span)
{
	struct seen *seen = context;
	size_t name = strlen(lx_lexgion(process, span->lexgion)->file);

	REQUIRE(thread == seen->thread && span->data == seen);
	REQUIRE(span->depth == seen->depth - 1);
	REQUIRE(span->begin <= span->end && span->end >= seen->now);
	REQUIRE(span->children <= span->end - span->begin);
	REQUIRE(name <= lx_lexgion(process, span->lexgion)->file_size);
	check_arguments(span->arguments);
	REQUIRE(!span->run || span->run->lexgion == span->lexgion);
	seen->named += span->run != NULL;
	seen->now = span->end;
	seen->depth--;
	seen->left++;
}

static void read_all(struct lx_trace *trace)
{
	static const struct lx_spans_ops ops = {.enter = enter, .leave = leave, .told = told, .run_end = run_end};
	struct lx_process *process = &trace->processes[0];
	struct lx_spans_totals totals = {0};
	struct seen seen = {0};
	struct lx_merge *merge;
	struct lx_merged event;
	uint64_t merged = 0;

	REQUIRE(lx_spans_run(process, &ops, &seen, &totals) == 0);
	REQUIRE(seen.depth == 0 && seen.entered == seen.left && seen.entered >= totals.begins);
	REQUIRE(seen.runs == seen.named); /* every slice of a run is told of with its run, once */
	REQUIRE(seen.told <= totals.kinds[LX_EV_SPAN] + totals.kinds[LX_EV_POINT] + totals.kinds[LX_EV_COUNTER] +
				     totals.kinds[LX_EV_METADATA]);
	REQUIRE(lx_merge_open(trace, NULL, &merge) == 0);
	while (lx_merge_next(merge, &event)) {
		merged++;
		REQUIRE(event.thread->number == event.packet->header->thread);
		REQUIRE(lx_event_name(event.event.kind)[0] != '\0');
	}
	lx_merge_close(merge);
	REQUIRE(merged == totals.events);
}

/* As a configuration would leave out events: in all threads, from some time on. */
static void set_sides(struct lx_process *process, struct lx_store *store, const struct bytes *bytes)
{
	uint8_t *bits = lx_store_alloc(store, process->lexgion_count + 1);
	uint32_t from;

	if (bytes->size <= sizeof(from))
		return;
	process->sides = lx_store_alloc(store, sizeof(*process->sides));
	process->side_count = 1;
	memcpy(&from, bytes->data, sizeof(from));
	process->sides->from = from;
	process->sides->threads = lx_store_alloc(store, (process->thread_count + 1) * sizeof(*process->sides->threads));
	for (size_t i = 0; i <= process->lexgion_count; i++)
		bits[i] = bytes->data[sizeof(from) + i % (bytes->size - sizeof(from))] & 15;
	for (size_t i = 0; i < process->thread_count; i++)
		process->sides->threads[i] = bits;
}

static void check_beside(const struct lx_process *process)
{
	for (size_t i = 0; i < process->row_count; i++) {
		REQUIRE(process->rows[i].lexgion != 0 && process->rows[i].thread < process->thread_count);
		REQUIRE(lx_lexgion(process, process->rows[i].lexgion)->name);
	}
	for (size_t i = 0; i < process->thread_count; i++)
		REQUIRE(process->threads[i].number == i && strlen(process->threads[i].name) <= LX_THREAD_NAME_SIZE);
	for (size_t i = 0; i < process->journal_count; i++)
		REQUIRE(!strpbrk(process->journal[i].text, "\n\x1b\x7f"));
	REQUIRE(!process->config.text || process->config.text[process->config.size] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.streams = 0};
	struct lx_stream streams[STREAMS_MAX] = {{0}};
	struct lx_process process = {.streams = streams, .name = "fuzz"};
	struct lx_trace trace = {.processes = &process, .process_count = 1};
	struct lx_store store = {NULL};

	unpack(&input, data, size);
	process.trace = &trace;
	lx_parse_state(&process, input.state.data, input.state.size);
	append(&input.process, "", 1); /* its reader may count on a NUL after the text */
	lx_parse_process(&process, (char *)input.process.data, input.process.size - 1);
	REQUIRE(lx_parse_lexgions(&process, &store, input.lexgions.data, input.lexgions.size) == 0);
	for (size_t i = 0; i < input.streams; i++) {
		streams[i].number = (unsigned)i;
		REQUIRE(lx_parse_stream(&store, &streams[i], input.stream[i].data, input.stream[i].size,
					input.open[i].data, input.open[i].size) == 0);
	}
	process.stream_count = input.streams;
	append(&input.config, "", 1);
	lx_parse_rows(&process, input.rows.data, input.rows.size);
	REQUIRE(lx_parse_journal(&process, &store, (char *)input.journal.data, input.journal.size) == 0);
	lx_parse_config(&process.config, (char *)input.config.data, input.config.size - 1);
	REQUIRE(lx_parse_finish(&process, &store) == 0);
	lx_parse_threads(&process, (char *)input.threads.data, input.threads.size);
	check_beside(&process);
	set_sides(&process, &store, &input.sides);
	read_all(&trace);
	lx_store_free(&store);
	release(&input);
	return 0;
}
