/* Labels and arguments, as the exports in JSON write them. */
#include <string.h>

#include "view/export.h"
#include "view/json_value.h"

void lx_export_label(const struct lx_lexgion *lexgion, struct lx_export_label *label)
{
	static const char *const comps[] = {
#define LX_X(number, NAME, name) [number] = name,
		LX_COMPS(LX_X)
#undef LX_X
	};
	size_t size = LX_LEXGION_CATEGORY(lexgion->flags);
	uint32_t comp = LX_LEXGION_COMP(lexgion->flags);
	const char *slash;

	label->category = lx_export_category(lexgion);
	label->category_size = strlen(label->category);
	label->name = lexgion->title;
	label->name_size = lexgion->title_size;
	label->comp = NULL;
	if (lexgion->domain == LX_DOMAIN_PYTHON)
		return;
	if (comp < sizeof(comps) / sizeof(comps[0]))
		label->comp = comps[comp];
	slash = memchr(lexgion->name, '/', lexgion->name_size);
	if (size == 0 && slash && lexgion->domain == LX_DOMAIN_USER)
		size = (size_t)(slash - lexgion->name);
	if (size == 0 || size >= lexgion->name_size || lexgion->name[size] != '/')
		return;
	label->category = lexgion->name;
	label->category_size = size;
	label->name = lexgion->name + size + 1;
	label->name_size = lexgion->name_size - size - 1;
}

/* A whole number of more than 64 bits: no reader of numbers keeps it, and some refuse the line. It becomes a string. */
static bool is_too_large(const struct lx_argument *argument)
{
	uint64_t number = 0, most = argument->size > 0 && argument->text[0] == '-' ? 1ull << 63 : UINT64_MAX;

	if (argument->form != LX_TEXT_NUMBER)
		return false;
	for (size_t i = argument->text[0] == '-'; i < argument->size; i++) {
		unsigned digit = (unsigned char)argument->text[i] - '0';

		if (digit > 9)
			return false;
		if (number > (most - digit) / 10)
			return true;
		number = number * 10 + digit;
	}
	return false;
}

void lx_export_argument(struct lx_json *json, const struct lx_argument *argument)
{
	if (argument->kind == LX_EV_ARG_INT)
		lx_json_i64(json, argument->integer);
	else if (argument->kind == LX_EV_ARG_FLOAT)
		lx_json_float(json, argument->real);
	else if (argument->form != LX_TEXT_STRING && !is_too_large(argument) && lx_json_valid(argument->text, argument->size))
		lx_json_raw(json, argument->text, argument->size);
	else
		lx_json_text(json, argument->text ? argument->text : "", argument->size);
}

void lx_export_arguments(struct lx_json *json, const struct lx_process *process, const struct lx_arguments *arguments)
{
	for (uint32_t i = 0; arguments && i < arguments->count; i++) {
		const struct lx_lexgion *key = lx_lexgion(process, arguments->list[i].key);

		lx_json_key_text(json, key->name, key->name_size);
		lx_export_argument(json, &arguments->list[i]);
	}
}
