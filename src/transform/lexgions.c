#include <errno.h>
#include <string.h>

#include "transform/parse.h"

#define IDS_PLENTY 65536u /* ids below are taken as they come; ids are dense, so larger ones need many definitions */

/* Size of the whole record at data, or 0 at the end. */
static size_t record_size(const char *data, size_t size, struct lx_definition *definition)
{
	if (size < sizeof(*definition))
		return 0;
	memcpy(definition, data, sizeof(*definition));
	if (definition->size < sizeof(*definition) || definition->size % 8 != 0 || definition->size > size)
		return 0;
	if (definition->id == LX_DEFINITION_PAD)
		return definition->size;
	if ((uint64_t)definition->name_size + definition->file_size > definition->size - sizeof(*definition))
		return 0;
	return definition->size;
}

static void define(struct lx_lexgion *lexgion, const struct lx_definition *definition, const char *name, const char *file)
{
	lexgion->name = name;
	lexgion->file = file;
	lexgion->name_size = definition->name_size;
	lexgion->file_size = definition->file_size;
	lexgion->line = definition->line;
	lexgion->flags = definition->flags;
	lexgion->domain = definition->domain < LX_DOMAIN_COUNT ? (uint8_t)definition->domain : LX_DOMAIN_PYTHON;
	lexgion->defined = true;
}

static const struct lx_lexgion unknown = {.name = "<unknown>", .file = "", .name_size = 9};

int lx_parse_lexgions(struct lx_process *process, struct lx_store *store, const void *data, size_t size)
{
	const char *bytes = data;
	struct lx_definition definition;
	size_t at, step, text = 0, records = 0, count = 0;
	char *out;

	for (at = 0; (step = record_size(bytes + at, size - at, &definition)) > 0; at += step) {
		if (definition.id == LX_DEFINITION_PAD)
			continue;
		records++;
		text += (size_t)definition.name_size + definition.file_size + 2;
		if (definition.id < LX_LEXGION_MAX && (definition.id < IDS_PLENTY || definition.id / 16 < records) &&
		    definition.id >= count)
			count = definition.id + 1;
	}
	process->lexgions = lx_store_alloc(store, count * sizeof(*process->lexgions));
	out = lx_store_alloc(store, text);
	if (!process->lexgions || !out)
		return -ENOMEM;
	process->lexgion_count = count;
	for (size_t i = 0; i < count; i++)
		process->lexgions[i] = unknown;
	for (at = 0; (step = record_size(bytes + at, size - at, &definition)) > 0; at += step) {
		const char *from = bytes + at + sizeof(definition);
		char *name = out, *file = out + definition.name_size + 1;

		if (definition.id >= count || process->lexgions[definition.id].defined)
			continue;
		memcpy(name, from, definition.name_size);
		memcpy(file, from + definition.name_size, definition.file_size);
		out = file + definition.file_size + 1;
		define(&process->lexgions[definition.id], &definition, name, file);
	}
	return 0;
}

const struct lx_lexgion *lx_lexgion(const struct lx_process *process, uint32_t id)
{
	return id < process->lexgion_count ? &process->lexgions[id] : &unknown;
}
