#include <errno.h>
#include <string.h>

#include "base/definitions.h"
#include "transform/parse.h"

#define IDS_PLENTY 65536u /* ids below are taken as they come; ids are dense, so larger ones need many definitions */

#define IMPORT "import "

static uint32_t title_before(const struct lx_definition *definition)
{
	return definition->flags & LX_LEXGION_IMPORT ? (uint32_t)strlen(IMPORT) : 0;
}

static void define(struct lx_lexgion *lexgion, const struct lx_definition *definition, const char *title, const char *file)
{
	lexgion->title = title;
	lexgion->name = title + title_before(definition);
	lexgion->file = file;
	lexgion->title_size = title_before(definition) + definition->name_size;
	lexgion->name_size = definition->name_size;
	lexgion->file_size = definition->file_size;
	lexgion->line = definition->line;
	lexgion->flags = definition->flags;
	lexgion->domain = definition->domain < LX_DOMAIN_COUNT ? (uint8_t)definition->domain : LX_DOMAIN_PYTHON;
	lexgion->defined = true;
}

static const struct lx_lexgion unknown = {
	.name = "<unknown>", .title = "<unknown>", .file = "", .name_size = 9, .title_size = 9
};

/* Number of lexgions, and bytes of their texts. */
static size_t count_lexgions(const void *data, size_t size, size_t *text)
{
	struct lx_definition definition;
	size_t at = 0, records = 0, count = 0;

	*text = 0;
	while (lx_definition_next(data, size, &at, &definition)) {
		records++;
		*text += (size_t)title_before(&definition) + definition.name_size + definition.file_size + 2;
		if ((definition.id < IDS_PLENTY || definition.id / 16 < records) && definition.id >= count)
			count = definition.id + 1;
	}
	return count;
}

int lx_parse_lexgions(struct lx_process *process, struct lx_store *store, const void *data, size_t size)
{
	const void *bytes = size > 0 ? data : "";
	struct lx_definition definition;
	size_t at = 0, text_size, count = count_lexgions(bytes, size, &text_size);
	char *out = lx_store_alloc(store, text_size);
	const char *text;

	process->lexgions = lx_store_alloc(store, count * sizeof(*process->lexgions));
	if (!process->lexgions || !out)
		return -ENOMEM;
	process->lexgion_count = count;
	for (size_t i = 0; i < count; i++)
		process->lexgions[i] = unknown;
	while ((text = lx_definition_next(bytes, size, &at, &definition)) != NULL) {
		uint32_t before = title_before(&definition);
		char *title = out, *file = out + before + definition.name_size + 1;

		if (definition.id >= count || process->lexgions[definition.id].defined)
			continue;
		memcpy(title, IMPORT, before);
		memcpy(title + before, text, definition.name_size);
		memcpy(file, text + definition.name_size, definition.file_size);
		out = file + definition.file_size + 1;
		define(&process->lexgions[definition.id], &definition, title, file);
	}
	return 0;
}

const struct lx_lexgion *lx_lexgion(const struct lx_process *process, uint32_t id)
{
	return id < process->lexgion_count ? &process->lexgions[id] : &unknown;
}
