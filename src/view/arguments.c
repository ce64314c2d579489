#include "view/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The argument of that key, which may be new. NULL: no memory, or there are too many (*error stays 0). */
static struct lx_argument *entry_of(struct lx_arguments *arguments, uint32_t key, int *error)
{
	struct lx_argument *entry;

	for (uint32_t i = 0; i < arguments->count; i++)
		if (arguments->list[i].key == key)
			return &arguments->list[i];
	if (arguments->count == LX_ARGUMENTS_MAX)
		return NULL;
	if (arguments->count == arguments->room) {
		uint32_t room = arguments->room ? 2 * arguments->room : 8;
		struct lx_argument *list = realloc(arguments->list, room * sizeof(*list));

		if (!list) {
			*error = -ENOMEM;
			return NULL;
		}
		arguments->list = list;
		arguments->room = room;
	}
	entry = &arguments->list[arguments->count++];
	if (arguments->used < arguments->count) {
		arguments->used = arguments->count;
		memset(entry, 0, sizeof(*entry));
	}
	entry->key = key;
	entry->size = 0;
	return entry;
}

static int add_text(struct lx_argument *entry, const struct lx_event *event)
{
	uint32_t form = (uint32_t)event->more[0], bytes = 8 * (event->more_words - 1), padding = LX_TEXT_PADDING(form);
	uint32_t size = bytes > padding ? bytes - padding : 0;

	if (size > LX_TEXT_MAX - entry->size)
		size = LX_TEXT_MAX - entry->size;
	if (entry->size + size > entry->room) {
		uint32_t room = entry->size + size > 2 * entry->room ? entry->size + size : 2 * entry->room;
		char *text = realloc(entry->text, room);

		if (!text)
			return -ENOMEM;
		entry->text = text;
		entry->room = room;
	}
	if (size > 0)
		memcpy(entry->text + entry->size, event->more + 1, size);
	entry->size += size;
	return 0;
}

int lx_arguments_add(struct lx_arguments *arguments, const struct lx_event *event, struct lx_argument **part)
{
	bool text = event->kind == LX_EV_ARG_TEXT || event->kind == LX_EV_METADATA, goes_on = text && *part;
	int error = 0;
	struct lx_argument *entry = goes_on ? *part : entry_of(arguments, event->value, &error);

	*part = NULL;
	if (!entry)
		return error;
	if (text) {
		if (!goes_on) {
			entry->kind = LX_EV_ARG_TEXT;
			entry->form = (uint32_t)event->more[0] & LX_TEXT_FORM;
			entry->size = 0;
		}
		*part = lx_argument_goes_on(event) ? entry : NULL;
		return add_text(entry, event);
	}
	entry->kind = event->kind;
	if (event->kind == LX_EV_ARG_FLOAT)
		memcpy(&entry->real, event->more, sizeof(entry->real));
	else
		entry->integer = (int64_t)event->more[0];
	return 0;
}

void lx_arguments_clear(struct lx_arguments *arguments)
{
	arguments->count = 0;
}

void lx_arguments_free(struct lx_arguments *arguments)
{
	for (uint32_t i = 0; i < arguments->used; i++)
		free(arguments->list[i].text);
	free(arguments->list);
	*arguments = (struct lx_arguments){0};
}
