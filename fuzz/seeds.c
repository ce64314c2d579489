/*
 * Writes first inputs for the fuzzers, made from format.h's tables: `fuzz_seeds fuzz/corpus`. The corpus in the tree is
 * these and what the fuzzers added to them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lextrace/format.h"
#include "sections.h"

struct seed {
	size_t size;
	uint8_t bytes[65536];
};

static void add(struct seed *seed, enum section type, const void *data, size_t size)
{
	uint8_t *at = seed->bytes + seed->size;

	if (size + SECTION_HEADER > sizeof(seed->bytes) - seed->size)
		abort();
	at[0] = (uint8_t)type;
	at[1] = (uint8_t)size;
	at[2] = (uint8_t)(size >> 8);
	at[3] = (uint8_t)(size >> 16);
	memcpy(at + SECTION_HEADER, data, size);
	seed->size += SECTION_HEADER + size;
}

static void write_file(const char *folder, const char *subject, const char *name, const void *data, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", folder, subject, name);
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static struct lx_state some_state(void)
{
	struct lx_state state = {.magic = LX_STATE_MAGIC, .version = LX_FORMAT_VERSION, .pid = 5000000, .ended = 1};

	memcpy(state.uuid, "0123456789abcdef", sizeof(state.uuid));
	state.clock_kind = LX_CLOCK_TSC;
	state.clock_frequency = 2600000000u;
	state.start = (struct lx_clock_sample){1000, 5000000, 1790000000000000000u};
	state.end = (struct lx_clock_sample){2600001000u, 1005000000, 1790000001000000000u};
	return state;
}

static void add_state(struct seed *seed)
{
	struct lx_state state = some_state();

	seed->size = 0;
	add(seed, SECTION_STATE, &state, sizeof(state));
}

static void add_lexgions(struct seed *seed)
{
	static const char *const names[] = {"<unknown>", "main", "say \"hi\"\n", "lone\xED\xA0\x80", "main"};
	struct {
		struct lx_definition definition;
		char text[32];
	} records[sizeof(names) / sizeof(names[0]) + 1];

	memset(records, 0, sizeof(records));
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		records[i].definition = (struct lx_definition){.size = sizeof(records[i]), .id = i, .line = 3 * i};
		records[i].definition.name_size = (uint32_t)strlen(names[i]);
		records[i].definition.file_size = i > 0 ? 6 : 0;
		memcpy(records[i].text, names[i], strlen(names[i]));
		memcpy(records[i].text + strlen(names[i]), "app.py", i > 0 ? 6 : 0);
	}
	records[3].definition.id = LX_DEFINITION_PAD;
	add(seed, SECTION_LEXGIONS, records, sizeof(records));
}

struct body {
	uint8_t thread, stack, unused[2];
	uint32_t begin;
	uint64_t words[64];
	size_t count;
};

static void put_event(struct body *body, uint32_t kind, uint32_t payload, uint64_t ticks, int extended)
{
	if (extended) {
		body->words[body->count++] = LX_EV_EXTENDED | (uint64_t)kind << 5 | ticks << 32;
		body->words[body->count++] = ticks >> 32 | (uint64_t)payload << 32;
	} else {
		body->words[body->count++] = kind | (uint32_t)(ticks << 5) | (uint64_t)payload << 32;
	}
}

/* The words behind the header of a long event, and for one with arguments these. */
static void put_behind(struct body *body, uint32_t kind, uint64_t ticks)
{
	uint64_t *at = body->words + body->count;

	if (kind < LX_EV_FIRST_LONG)
		return;
	if (kind == LX_EV_ARG_TEXT || kind == LX_EV_METADATA) {
		at[0] = LX_TEXT_JSON | 5u << 16 | 8ull << 32;
		memcpy(at + 1, "{}\n\0\0\0\0", 8);
		body->count += 2;
		return;
	}
	at[0] = kind == LX_EV_POINT ? 1 : 5;
	at[1] = 1000;
	at[2] = 1;
	body->count += kind == LX_EV_SPAN ? 3 : 1;
	if (kind == LX_EV_POINT || kind == LX_EV_SPAN) {
		put_event(body, LX_EV_ARG_FLOAT, LX_LEXGION_WORD(2), ticks, 0);
		body->words[body->count++] = 0x3ff0000000000000u;
	}
}

static void add_packet(struct seed *seed, const struct body *body)
{
	add(seed, SECTION_PACKET, body, SECTION_PACKET_HEADER + 8 * body->count);
}

/* A call and an event of every kind in it, in both headers. */
static void write_kinds(const char *folder, struct seed *seed)
{
	static const struct {
		uint32_t id;
		const char *name;
	} kinds[] = {
#define LX_X(id, NAME, domain, name, role, payload) {id, name},
		LX_EVENT_KINDS(LX_X)
#undef LX_X
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct body body = {.begin = 2000};
		char name[64];

		add_state(seed);
		add_lexgions(seed);
		add(seed, SECTION_STREAM, "", 0);
		put_event(&body, LX_EV_FUNCTION_BEGIN, LX_LEXGION_WORD(1), 2100, 0);
		put_event(&body, kinds[i].id, LX_LEXGION_WORD(2), 2200, 0);
		put_behind(&body, kinds[i].id, 2200);
		put_event(&body, kinds[i].id, LX_LEXGION_WORD(1), 1ull << 33, 1);
		put_behind(&body, kinds[i].id, 1ull << 33);
		put_event(&body, LX_EV_FUNCTION_END, LX_LEXGION_WORD(1), (1ull << 33) + 10, 0);
		add_packet(seed, &body);
		body.thread = 1;
		add_packet(seed, &body);
		snprintf(name, sizeof(name), "kind-%u-%s", kinds[i].id, kinds[i].name);
		write_file(folder, "trace", name, seed->bytes, seed->size);
	}
}

/*
 * A region that comes in slices with arguments, a text in parts, and a SPAN whose arguments never come; then a text that is
 * said to be longer than its packet.
 */
static void write_long(const char *folder, struct seed *seed)
{
	static const struct {
		uint32_t kind;
		uint64_t words[3];
		size_t count;
	} events[] = {
		{LX_EV_REGION_BEGIN, {0}, 0},
		{LX_EV_REGION_RUN, {9}, 1},
		{LX_EV_ARG_INT, {0xffffffffffffffffu}, 1},
		{LX_EV_ARG_TEXT, {LX_TEXT_STRING | LX_TEXT_MORE | 8ull << 32, 0x6162636465666768u}, 2},
		{LX_EV_ARG_TEXT, {LX_TEXT_STRING | 7u << 16 | 8ull << 32, 0x69u}, 2},
		{LX_EV_REGION_SUSPEND, {0}, 0},
		{LX_EV_COUNTER, {0x7ff8000000000000u}, 1},
		{LX_EV_METADATA, {LX_TEXT_NUMBER | 7u << 16 | 8ull << 32, '7'}, 2},
		{LX_EV_REGION_RESUME, {0}, 0},
		{LX_EV_REGION_RUN, {9}, 1},
		{LX_EV_SPAN, {1790000000000000000u, 1000, 1000}, 3},
		{LX_EV_ARG_FLOAT, {0x3ff0000000000000u}, 1},
		{LX_EV_REGION_UNWIND, {0}, 0},
		{LX_EV_ARG_TEXT, {LX_TEXT_STRING | 4096ull << 32, 0}, 2},
	};
	struct body body = {.begin = 2000};

	add_state(seed);
	add_lexgions(seed);
	add(seed, SECTION_STREAM, "", 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		put_event(&body, events[i].kind, LX_LEXGION_WORD(1), 2100 + 10 * i, 0);
		memcpy(body.words + body.count, events[i].words, 8 * events[i].count);
		body.count += events[i].count;
	}
	add_packet(seed, &body);
	write_file(folder, "trace", "long", seed->bytes, seed->size);
}

/* The files beside the trace, with threads that no packet knows. */
static void write_beside(const char *folder, struct seed *seed)
{
	static const char threads[] = "0 5000000 MainThread\n7 5000001 Worker\\x0A\n4000000000 1 far\n7 x\n";
	static const char journal[] = "1000 mode Python MONITORING by start\n2000 reload /tmp/\x1B.conf\nx\n3000 resume";
	static const char config[] = "/tmp/trace\\x20.conf\n[Python.default]\ntrace_mode = MONITORING\n";
	struct lx_row rows[] = {
		{.thread = 0, .lexgion = 1, .calls = 10, .inclusive = 5000, .exclusive = 4000, .seen = 10},
		{.thread = 7, .lexgion = 1, .calls = 1, .inclusive = 100, .exclusive = 100, .recorded = 3, .opened = 1500},
		{.lexgion = 0},
		{.thread = 4000000000u, .lexgion = 0xffffffffu, .calls = UINT64_MAX, .exclusive = UINT64_MAX},
	};

	add_state(seed);
	add_lexgions(seed);
	add(seed, SECTION_ROWS, rows, sizeof(rows));
	add(seed, SECTION_THREADS, threads, sizeof(threads) - 1);
	add(seed, SECTION_JOURNAL, journal, sizeof(journal) - 1);
	add(seed, SECTION_CONFIG, config, sizeof(config) - 1);
	write_file(folder, "trace", "beside", seed->bytes, seed->size);
}

/* Events whose other one is left out, from the middle on. */
static void write_sides(const char *folder, struct seed *seed)
{
	static const uint32_t kinds[] = {LX_EV_FUNCTION_BEGIN, LX_EV_C_CALL_BEGIN, LX_EV_FUNCTION_END, LX_EV_C_CALL_RAISE,
					 LX_EV_FUNCTION_YIELD, LX_EV_FUNCTION_RESUME};
	struct {
		uint32_t from;
		uint8_t bits[4];
	} sides = {2350, {0, 1, 2 + 4, 8}};
	struct body body = {.begin = 2000};

	add_state(seed);
	add_lexgions(seed);
	add(seed, SECTION_SIDES, &sides, sizeof(sides));
	add(seed, SECTION_STREAM, "", 0);
	for (uint32_t i = 0; i < 24; i++)
		put_event(&body, kinds[i % 6], LX_LEXGION_WORD(i / 6), 2100 + 50 * i, 0);
	add_packet(seed, &body);
	write_file(folder, "trace", "sides", seed->bytes, seed->size);
}

/* Whole files as they stand on the disk, an open packet too. */
static void write_raw(const char *folder, struct seed *seed)
{
	struct {
		struct lx_packet packet;
		uint64_t words[4];
	} raw;
	struct lx_state state = some_state();
	struct body body = {.begin = 0};

	memset(&raw, 0, sizeof(raw));
	put_event(&body, LX_EV_FUNCTION_BEGIN, LX_LEXGION_WORD(1), 2100, 0);
	put_event(&body, LX_EV_STACK_SWITCH, 7, 2200, 0);
	put_event(&body, LX_EV_FUNCTION_BEGIN, LX_LEXGION_WORD(300), 2300, 0);
	put_event(&body, LX_EV_STACK_SWITCH, 0, 2400, 0);
	memcpy(raw.words, body.words, sizeof(raw.words));
	raw.packet.magic = LX_CTF_MAGIC;
	memcpy(raw.packet.uuid, state.uuid, sizeof(raw.packet.uuid));
	raw.packet.timestamp_begin = 2000;
	raw.packet.timestamp_end = 2400;
	raw.packet.content_size = raw.packet.packet_size = 8 * sizeof(raw);
	memcpy(raw.packet.thread_name, "MainThread", 10);
	add_state(seed);
	add_lexgions(seed);
	add(seed, SECTION_STREAM, &raw, sizeof(raw));
	raw.packet.packet_seq_num = 1;
	raw.packet.lost[LX_LOSS_DISK_FULL] = raw.packet.events_discarded = 3;
	add(seed, SECTION_OPEN, &raw, sizeof(raw));
	write_file(folder, "trace", "raw", seed->bytes, seed->size);
}

static void write_text(const char *folder)
{
	static const char bytes[] = "\x00\x1F\x7F\x80\xC3\xA9\xED\xA0\x80\xF4\x8F\xBF\xBF\xF5\\\"\n";
	static const char text[] =
#define LX_X(key) #key " a\\\\b \\x00\\x0A \\xED\\xA0\\x80 \\x \xF0\x9F\x90\x8D\n"
		LX_PROCESS_KEYS(LX_X)
#undef LX_X
		;

	write_file(folder, "text", "process", text, sizeof(text) - 1);
	write_file(folder, "text", "bytes", bytes, sizeof(bytes) - 1);
}

/* State, lexgions, process text: as fuzz_metadata takes them apart. */
static void write_metadata(const char *folder, struct seed *seed)
{
	static const char process[] = "host \"h\"\nargv a\\\\ \\x00\n";
	struct lx_state state = some_state();
	struct lx_definition definition = {.size = sizeof(definition) + 8, .id = 300, .line = 3, .name_size = 4, .file_size = 4};

	seed->size = 0;
	memcpy(seed->bytes, &state, sizeof(state));
	seed->size = sizeof(state);
	for (unsigned i = 0; i < 3; i++, definition.id += 100 * (i % 2)) {
		memcpy(seed->bytes + seed->size, &definition, sizeof(definition));
		memcpy(seed->bytes + seed->size + sizeof(definition), "f\"\0\nb.py", 8);
		seed->size += definition.size;
	}
	memcpy(seed->bytes + seed->size, process, sizeof(process));
	write_file(folder, "metadata", "three", seed->bytes, seed->size + sizeof(process));
}

int main(int argc, char **argv)
{
	static struct seed seed;

	if (argc != 2) {
		fprintf(stderr, "usage: fuzz_seeds FOLDER, which has the folders metadata, text and trace\n");
		return 2;
	}
	write_kinds(argv[1], &seed);
	write_long(argv[1], &seed);
	write_raw(argv[1], &seed);
	write_beside(argv[1], &seed);
	write_sides(argv[1], &seed);
	write_metadata(argv[1], &seed);
	write_text(argv[1]);
	return 0;
}
