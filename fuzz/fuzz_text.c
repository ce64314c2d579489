/* Escaping there and back, and the process file, on any bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "transform/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool what, const char *promise)
{
	if (!what) {
		fprintf(stderr, "broken promise: %s\n", promise);
		abort();
	}
}

static void round_trip(const char *text, size_t size)
{
	size_t room = 4 * size + 1;
	char *escaped = malloc(room), *back = malloc(room), *cut = malloc(size / 2 + 1);

	require(escaped && back && cut, "memory");
	size_t length = lx_escape(escaped, room, text, size);

	require(length < room && escaped[length] == '\0', "the escaped text ends in a NUL");
	require(memchr(escaped, '\n', length) == NULL && memchr(escaped, '\0', length) == NULL, "no newline and no NUL");
	for (size_t at = 0, step; at < length; at += step) {
		step = lx_utf8_length(escaped + at, length - at);
		require(step > 0, "the escaped text is UTF-8");
	}
	require(lx_unescape(back, room, escaped, length) == size && memcmp(back, text, size) == 0, "the way back");
	length = lx_escape(cut, size / 2 + 1, text, size);
	require(length <= size / 2 && memcmp(cut, escaped, length) == 0, "a cut text is the beginning of the whole");
	memcpy(back, text, size);
	require(lx_unescape(back, size, back, size) <= size, "unescaping never grows");
	free(escaped);
	free(back);
	free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lx_process process = {.name = "fuzz"};
	char *text = malloc(size + 1);

	require(text != NULL, "memory");
	memcpy(text, data, size);
	text[size] = '\0';
	round_trip(text, size);
	lx_parse_process(&process, text, size);
	for (size_t i = 0; i < sizeof(process.key) / sizeof(process.key[0]); i++)
		require(!process.key[i] || process.key[i][process.key_size[i]] == '\0', "a value ends in a NUL");
	free(text);
	return 0;
}
