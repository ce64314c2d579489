#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/ctf_metadata.h"
#include "base/file.h"

#define WINDOW 65536u /* bytes of lextrace/lexgions that are mapped at a time */

/* Places are known by a 128-bit fingerprint of name, file, line and domain: their text is in the file only. */
struct known {
	uint64_t low, high;
	uint32_t id; /* 0: free */
};

static struct known *table;
static size_t table_space, table_used;

static char *window;
static uint64_t window_at;
static size_t window_used;
static char path[LX_PATH_SIZE + 32];
static uint64_t metadata_due; /* lexgions at which the metadata is written next */

static XXH128_hash_t fingerprint(const struct lx_place *place)
{
	uint64_t head[4] = {place->line, place->domain | (uint64_t)place->flags << 32, place->name_size, place->file_size};
	XXH3_state_t state;

	XXH3_128bits_reset(&state);
	XXH3_128bits_update(&state, head, sizeof(head));
	XXH3_128bits_update(&state, place->name, place->name_size);
	XXH3_128bits_update(&state, place->file, place->file_size);
	return XXH3_128bits_digest(&state);
}

static struct known *find(struct known *in, size_t space, uint64_t low, uint64_t high)
{
	size_t at = low & (space - 1);

	while (in[at].id != 0 && (in[at].low != low || in[at].high != high))
		at = (at + 1) & (space - 1);
	return &in[at];
}

static bool table_grow(void)
{
	size_t space = table_space ? table_space * 2 : 4096;
	struct known *larger = calloc(space, sizeof(*larger));

	if (!larger)
		return false;
	for (size_t i = 0; i < table_space; i++)
		if (table[i].id != 0)
			*find(larger, space, table[i].low, table[i].high) = table[i];
	free(table);
	table = larger;
	table_space = space;
	return true;
}

static int next_window(void)
{
	void *map;
	int error = lx_file_map(path, window_at + (window ? WINDOW : 0), WINDOW, NULL, &map);

	if (error)
		return error;
	if (window) {
		munmap(window, WINDOW);
		window_at += WINDOW;
	}
	window = map;
	window_used = 0;
	return 0;
}

/* At most LX_DEFINITION_TEXT_MAX bytes, the end of what is cut shown as "...". */
static size_t put_text(char *out, const char *text, size_t size)
{
	if (size <= LX_DEFINITION_TEXT_MAX) {
		memcpy(out, text, size);
		return size;
	}
	memcpy(out, text, LX_DEFINITION_TEXT_MAX - 3);
	memcpy(out + LX_DEFINITION_TEXT_MAX - 3, "...", 3);
	return LX_DEFINITION_TEXT_MAX;
}

static size_t text_size(size_t size)
{
	return size < LX_DEFINITION_TEXT_MAX ? size : LX_DEFINITION_TEXT_MAX;
}

static int write_definition(uint32_t id, const struct lx_place *place)
{
	size_t size = sizeof(struct lx_definition) + text_size(place->name_size) + text_size(place->file_size);

	size = (size + 7) & ~(size_t)7;
	if (!window || window_used + size > WINDOW) {
		if (window && window_used < WINDOW) {
			struct lx_definition *pad = (void *)(window + window_used);

			pad->id = LX_DEFINITION_PAD;
			__atomic_store_n(&pad->size, (uint32_t)(WINDOW - window_used), __ATOMIC_RELEASE);
			window_used = WINDOW;
		}
		int error = next_window();

		if (error)
			return error;
	}
	if (WINDOW - window_used - size < sizeof(struct lx_definition)) /* no room for a pad: zeros of this record fill it */
		size = WINDOW - window_used;
	struct lx_definition *definition = (void *)(window + window_used);
	char *text = (char *)(definition + 1);

	definition->id = id;
	definition->line = place->line;
	definition->domain = place->domain;
	definition->flags = place->flags;
	definition->name_size = (uint32_t)put_text(text, place->name, place->name_size);
	definition->file_size = (uint32_t)put_text(text + definition->name_size, place->file, place->file_size);
	__atomic_store_n(&definition->size, (uint32_t)size, __ATOMIC_RELEASE);
	window_used += size;
	return 0;
}

/* ---- Metadata ---- */

struct metadata {
	const void *definitions;
	size_t size;
};

static int produce_metadata(void *context, lx_text_sink sink, void *sink_context)
{
	const struct metadata *metadata = context;

	return lx_ctf_metadata_write(sink, sink_context, lx_session.state, lx_session.process_text,
				     lx_session.process_size, metadata->definitions, metadata->size);
}

int lx_metadata_write(void)
{
	char target[LX_PATH_SIZE + 32], temporary[LX_PATH_SIZE + 32];
	struct metadata metadata = {NULL, window_at + window_used};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	metadata_due = lx_session.state->lexgions < 256 ? 512 : lx_session.state->lexgions * 2;
	if (fd < 0)
		return -errno;
	struct stat status;
	void *map = MAP_FAILED;

	/* Mapped only as far as the file reaches: it may have been cut by somebody else. */
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size >= metadata.size && metadata.size > 0)
		map = mmap(NULL, metadata.size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -EIO;
	metadata.definitions = map;
	snprintf(target, sizeof(target), "%s/metadata", lx_session.folder);
	/* Not beside it: CTF readers take each file there for a stream. */
	snprintf(temporary, sizeof(temporary), "%s/lextrace/metadata.new", lx_session.folder);
	int error = lx_file_replace(target, temporary, produce_metadata, &metadata);

	munmap(map, metadata.size);
	return error;
}

/* ---- Session ---- */

/* A forked child starts with its parent's definitions: the words in its caches stay right. */
static int copy_definitions(const char *from)
{
	static char buffer[16384]; /* the stack may be a small one */
	char source[LX_PATH_SIZE + 32];
	uint64_t at = 0, size = window_at + window_used;

	snprintf(source, sizeof(source), "%s/lextrace/lexgions", from);
	int fd = open(source, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int error = 0;

	while (!error && at < size) {
		size_t part = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);
		ssize_t done = pread(fd, buffer, part, (off_t)at);

		if (done <= 0)
			error = -EIO;
		else
			error = lx_file_append(path, at, buffer, (size_t)done);
		at += done > 0 ? (uint64_t)done : 0;
	}
	close(fd);
	return error;
}

int lx_lexgions_open(const char *folder, const char *from)
{
	static const struct lx_place unknown = {.name = "<unknown>", .file = "", .name_size = 9, .domain = LX_DOMAIN_LEXTRACE};
	int error;

	snprintf(path, sizeof(path), "%s/lextrace/lexgions", folder);
	if (from) {
		error = copy_definitions(from);
		if (error)
			return error;
		void *map;

		error = lx_file_map(path, window_at, WINDOW, window, &map); /* in place of the parent's window */
		lx_session.state->lexgions = table_used + 1;
		return error;
	}
	lx_lexgions_forget(); /* of a session that did not get as far, or of the parent */
	if (table)
		memset(table, 0, table_space * sizeof(*table));
	table_used = 0;
	window_at = window_used = 0;
	error = write_definition(0, &unknown);
	lx_session.state->lexgions = 1;
	return error;
}

void lx_lexgions_forget(void)
{
	if (window)
		munmap(window, WINDOW);
	window = NULL;
}

void lx_lexgions_close(void)
{
	if (window && truncate(path, (off_t)(window_at + window_used)) != 0)
		window_used = 0; /* the rest are zeros, which end the file as well */
	lx_lexgions_forget();
}

uint32_t lx_lexgion_define(const struct lx_place *place)
{
	XXH128_hash_t print = fingerprint(place);
	uint32_t id = 0;

	lx_lock();
	if (!lx_session_ready() || !window)
		goto end;
	if ((table_used + 1) * 2 > table_space && !table_grow())
		goto end;
	struct known *known = find(table, table_space, print.low64, print.high64);

	if (known->id == 0 && table_used + 1 < LX_LEXGION_MAX &&
	    write_definition((uint32_t)table_used + 1, place) == 0) {
		*known = (struct known){print.low64, print.high64, (uint32_t)++table_used};
		lx_session.state->lexgions = table_used + 1;
		if (lx_session.state->lexgions >= metadata_due)
			lx_metadata_write();
	}
	id = known->id;
end:
	if (id == 0 && lx_session.active)
		lx_session.state->unnamed++;
	lx_unlock();
	return LX_LEXGION_WORD(id);
}
