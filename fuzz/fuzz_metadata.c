/* The metadata writer on any lexgions, process text and clock: what comes out is text with its quotes in pairs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctf_metadata.h"
#include "base/definitions.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has been written so far, literals apart. */
struct seen {
	bool quoted, escaped;
	int braces;
	char tail[4]; /* a sequence of UTF-8 that two pieces share */
	size_t tail_size;
};

static void require(bool what, const char *promise)
{
	if (!what) {
		fprintf(stderr, "broken promise: %s\n", promise);
		abort();
	}
}

static void see_utf8(struct seen *seen, char byte)
{
	seen->tail[seen->tail_size++] = byte;
	if (lx_utf8_length(seen->tail, seen->tail_size) == seen->tail_size)
		seen->tail_size = 0;
	require(seen->tail_size < sizeof(seen->tail), "the text is UTF-8");
}

static int see(void *context, const char *text, size_t size)
{
	struct seen *seen = context;

	for (size_t i = 0; i < size; i++) {
		if (!seen->quoted) {
			require(text[i] == '\n' || text[i] == '\t' || (text[i] >= ' ' && text[i] < 127), "plain text");
			seen->quoted = text[i] == '"';
			seen->braces += (text[i] == '{') - (text[i] == '}');
			continue;
		}
		see_utf8(seen, text[i]);
		require((unsigned char)text[i] >= ' ' && text[i] != 127, "no control characters in literals");
		if (seen->escaped)
			require(text[i] == '\\' || text[i] == '"', "only backslashes and quotes are escaped");
		else if (text[i] == '"')
			seen->quoted = false;
		seen->escaped = !seen->escaped && text[i] == '\\';
	}
	return 0;
}

/* Ids that large only make the text long. */
static bool tedious(const void *data, size_t size)
{
	struct lx_definition definition;
	size_t at = 0;

	while (lx_definition_next(data, size, &at, &definition))
		if (definition.id > 100 * LX_LABELS_PER_BLOCK)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lx_state state = {.version = LX_FORMAT_VERSION};
	struct seen seen = {.quoted = false};
	size_t half = size > sizeof(state) ? (size - sizeof(state)) / 2 & ~(size_t)7 : 0;

	if (size < sizeof(state))
		return 0;
	memcpy(&state, data, sizeof(state));
	data += sizeof(state);
	size -= sizeof(state);
	if (tedious(data, size))
		return 0;
	require(lx_ctf_metadata_write(see, &seen, &state, (const char *)data + half, size - half, data, size) == 0,
		"it ends well");
	require(!seen.quoted && seen.braces == 0 && seen.tail_size == 0, "it ends in the open");
	return 0;
}
