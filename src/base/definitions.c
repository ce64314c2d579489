#include "base/definitions.h"

#include <string.h>

/* A pad may be too short for more than its first two members. */
#define SHORTEST offsetof(struct lx_definition, line)

const char *lx_definition_next(const void *data, size_t size, size_t *at, struct lx_definition *definition)
{
	while (size - *at >= SHORTEST) {
		const char *record = (const char *)data + *at;

		memcpy(definition, record, SHORTEST);
		if (definition->size < SHORTEST || definition->size % 8 != 0 || definition->size > size - *at)
			return NULL;
		if (definition->id < LX_LEXGION_MAX) {
			if (definition->size < sizeof(*definition))
				return NULL;
			memcpy(definition, record, sizeof(*definition));
			if ((uint64_t)definition->name_size + definition->file_size >
			    definition->size - sizeof(*definition))
				return NULL;
		}
		*at += definition->size;
		if (definition->id < LX_LEXGION_MAX)
			return record + sizeof(*definition);
	}
	return NULL;
}
