/* Bytes and folders of the trace format for the tests, made with format.h's structures. */
#ifndef LX_TESTS_MAKER_H
#define LX_TESTS_MAKER_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lextrace/format.h"

#define START 1000000u                 /* ticks at which made traces begin */
#define START_REAL 1790000000000000000u /* ns */
#define DEAD_PID 5000000u              /* above every pid that Linux gives */

/* Packets, one after the other. All zeros is empty; free(data) at the end. */
struct made {
	char *data;
	size_t size, room;
	size_t packet; /* where the current packet begins */
	uint64_t ticks, sequence;
	uint32_t thread, stack;
};

static inline void made_bytes(struct made *made, const void *bytes, size_t size)
{
	if (made->size + size > made->room) {
		made->room = 2 * (made->size + size);
		made->data = realloc(made->data, made->room);
		assert_non_null(made->data);
	}
	if (size > 0)
		memcpy(made->data + made->size, bytes, size);
	made->size += size;
}

static inline struct lx_packet *made_header(struct made *made)
{
	return (struct lx_packet *)(made->data + made->packet);
}

static inline void made_packet(struct made *made, uint64_t ticks)
{
	struct lx_packet packet = {.magic = LX_CTF_MAGIC, .uuid = "0123456789abcde"};

	packet.timestamp_begin = packet.timestamp_end = ticks;
	packet.content_size = packet.packet_size = 8 * sizeof(packet);
	packet.packet_seq_num = made->sequence++;
	packet.clock_monotonic = ticks - START + 7000;
	packet.clock_realtime = ticks - START + START_REAL;
	packet.thread = made->thread;
	packet.tid = 100 + made->thread;
	packet.stack = made->stack;
	snprintf(packet.thread_name, sizeof(packet.thread_name), "Thread-%u", made->thread);
	made->packet = made->size;
	made->ticks = ticks;
	made_bytes(made, &packet, sizeof(packet));
}

/* An event `after` ticks after the one before, with the header that it needs and `count` words behind it. */
static inline void made_long(struct made *made, uint64_t after, uint32_t kind, uint32_t value, const uint64_t *more,
			     size_t count)
{
	uint32_t payload = kind == LX_EV_STACK_SWITCH || kind == LX_EV_MODE ? value : LX_LEXGION_WORD(value);
	uint64_t words[2];
	size_t size = 8;

	made->ticks += after;
	if (after >> LX_TIMESTAMP_BITS) {
		words[0] = LX_EV_EXTENDED | (uint64_t)kind << 5 | made->ticks << 32;
		words[1] = made->ticks >> 32 | (uint64_t)payload << 32;
		size = 16;
	} else {
		words[0] = kind | (uint32_t)(made->ticks << 5) | (uint64_t)payload << 32;
	}
	made_bytes(made, words, size);
	made_bytes(made, more, 8 * count);
	size += 8 * count;
	made_header(made)->content_size += 8 * size;
	made_header(made)->packet_size += 8 * size;
	made_header(made)->events++;
	made_header(made)->timestamp_end = made->ticks;
}

static inline void made_event(struct made *made, uint64_t after, uint32_t kind, uint32_t value)
{
	made_long(made, after, kind, value, NULL, 0);
}

/* ARG_TEXT or METADATA; `form`: enum lx_text_form, and LX_TEXT_MORE. */
static inline void made_text(struct made *made, uint64_t after, uint32_t kind, uint32_t key, uint32_t form, const char *text,
			     size_t size)
{
	uint64_t words[1 + LX_TEXT_PART_MAX / 8] = {0};
	size_t count = (size + 7) / 8;

	assert_true(size <= LX_TEXT_PART_MAX);
	words[0] = form | (8 * count - size) << 16 | (uint64_t)(8 * count) << 32;
	memcpy(words + 1, text, size);
	made_long(made, after, kind, key, words, 1 + count);
}

static inline void made_int(struct made *made, uint64_t after, uint32_t key, int64_t value)
{
	made_long(made, after, LX_EV_ARG_INT, key, (const uint64_t *)&value, 1);
}

/* ARG_FLOAT or COUNTER. */
static inline void made_float(struct made *made, uint64_t after, uint32_t kind, uint32_t key, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	made_long(made, after, kind, key, &word, 1);
}

static inline void made_definition(struct made *made, uint32_t id, const char *name, const char *file, uint32_t line)
{
	struct lx_definition definition = {.id = id, .line = line};
	const char zeros[8] = {0};

	definition.name_size = (uint32_t)strlen(name);
	definition.file_size = (uint32_t)strlen(file);
	uint32_t size = (uint32_t)sizeof(definition) + definition.name_size + definition.file_size;

	definition.size = (size + 7) & ~7u;
	made_bytes(made, &definition, sizeof(definition));
	made_bytes(made, name, definition.name_size);
	made_bytes(made, file, definition.file_size);
	made_bytes(made, zeros, definition.size - size);
}

static inline struct lx_state made_state(uint32_t ended)
{
	struct lx_state state = {.magic = LX_STATE_MAGIC, .version = LX_FORMAT_VERSION, .pid = DEAD_PID, .ended = ended};

	memcpy(state.uuid, "0123456789abcde", 16);
	state.clock_kind = LX_CLOCK_TSC;
	state.clock_frequency = 1000000000;
	state.start = (struct lx_clock_sample){START, 7000, START_REAL};
	return state;
}

/* ---- Folders ---- */

static inline char *made_folder(void)
{
	char *path = strdup("/tmp/lextrace-unit-XXXXXX");

	assert_non_null(path);
	assert_non_null(mkdtemp(path));
	return path;
}

static inline void remove_folder(char *path)
{
	char *command;

	assert_true(asprintf(&command, "rm -rf '%s'", path) > 0);
	assert_int_equal(system(command), 0);
	free(command);
	free(path);
}

/* malloc'd "FOLDER/NAME". */
static inline char *path_in(const char *folder, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static inline void made_file(const char *folder, const char *name, const void *data, size_t size)
{
	char *path = path_in(folder, name);
	FILE *file;

	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(size > 0 ? fwrite(data, 1, size, file) : 0, size);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static inline bool has_file(const char *folder, const char *name)
{
	char *path = path_in(folder, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

/* The process folder NAME in `run`, without streams: lexgions "f" to "i" are 1 to 4. */
static inline void made_process(const char *run, const char *name, const struct lx_state *state)
{
	static const char process[] = "host nowhere\nargv app.py\\x00--fast\nprogram app\n";
	struct made lexgions = {0};
	char *folder = path_in(run, name);

	mkdir(folder, 0777);
	made_definition(&lexgions, 0, "<unknown>", "", 0);
	made_definition(&lexgions, 1, "f", "app.py", 3);
	made_definition(&lexgions, 2, "g", "app.py", 7);
	made_definition(&lexgions, 3, "h", "app.py", 11);
	made_definition(&lexgions, 4, "i", "app.py", 15);
	made_file(folder, "lextrace/state", state, sizeof(*state));
	made_file(folder, "lextrace/process", process, sizeof(process) - 1);
	made_file(folder, "lextrace/lexgions", lexgions.data, lexgions.size);
	free(lexgions.data);
	free(folder);
}

#endif
