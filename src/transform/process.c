#include <string.h>

#include "base/text.h"
#include "transform/parse.h"

#define DEFAULT_FREQUENCY 1000000000u
#define FREQUENCY_MAX 100000000000u

bool lx_parse_state(struct lx_process *process, const void *data, size_t size)
{
	struct lx_state *state = &process->state;
	bool whole = size >= sizeof(*state);

	if (whole)
		memcpy(state, data, sizeof(*state));
	if (!whole || state->magic != LX_STATE_MAGIC) {
		memset(state, 0, sizeof(*state));
		whole = false;
	}
	if (state->clock_frequency == 0 || state->clock_frequency > FREQUENCY_MAX)
		state->clock_frequency = DEFAULT_FREQUENCY;
	return whole;
}

void lx_parse_process(struct lx_process *process, char *text, size_t size)
{
	static const char *const keys[] = {
#define LX_X(key) #key,
		LX_PROCESS_KEYS(LX_X)
#undef LX_X
	};

	for (size_t at = 0; at < size;) {
		char *line = text + at, *end = memchr(line, '\n', size - at);
		size_t length = end ? (size_t)(end - line) : size - at;
		char *blank = memchr(line, ' ', length);

		at += length + 1;
		/* A line without an end was being written; the text's NUL would do, but half a value misleads. */
		if (!end || !blank)
			continue;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			size_t key_size = strlen(keys[i]), value_size = length - key_size - 1;

			if ((size_t)(blank - line) != key_size || memcmp(line, keys[i], key_size) != 0 || process->key[i])
				continue;
			process->key_size[i] = lx_unescape(blank + 1, value_size, blank + 1, value_size);
			blank[1 + process->key_size[i]] = '\0';
			process->key[i] = blank + 1;
		}
	}
}
