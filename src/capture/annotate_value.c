/* What annotations carry beside their begin and end: arguments, spans told afterwards, moments, counters, metadata. */
#include "capture/annotate.h"

#include <string.h>

#include "base/text.h"

uint32_t lx_key_look(const char *name, size_t size)
{
	struct lx_place place = {.name = name, .name_size = size, .file = "", .domain = LX_DOMAIN_USER, .flags = LX_LEXGION_KEY};

	return lx_lexgion_define(&place);
}

/* ---- Values ---- */

/* `size` or a little less of a longer text, so that it ends between two characters. */
static size_t whole_characters(const char *text, size_t size)
{
	for (size_t back = 0; back < 4; back++)
		if (((unsigned char)text[size - back] & 0xC0) != 0x80)
			return size - back;
	return size; /* no UTF-8 */
}

static size_t part_size(const char *text, size_t size)
{
	return size <= LX_TEXT_PART_MAX - 8 ? size : whole_characters(text, LX_TEXT_PART_MAX - 8);
}

static bool put_part(struct lx_thread *thread, uint32_t kind, uint32_t key, uint32_t form, const char *text, size_t size)
{
	uint64_t more[LX_LONG_WORDS_MAX];
	size_t space = (size + 7) & ~(size_t)7;

	more[0] = form | (uint64_t)(space - size) << 16 | (uint64_t)space << 32;
	if (space > 0)
		more[space / 8] = 0;
	memcpy(more + 1, text, size);
	return lx_record_long(thread, kind, key, more, 1 + space / 8);
}

static void put_text(struct lx_thread *thread, uint32_t kind, uint32_t key, const struct lx_arg_value *value)
{
	const char *text = value->text;
	bool cut = value->size > LX_TEXT_MAX, whole = true;
	size_t size = cut ? whole_characters(text, LX_TEXT_MAX - 3) : value->size, part;

	while (whole && (part = part_size(text, size)) < size) {
		whole = put_part(thread, kind, key, value->form | LX_TEXT_MORE, text, part);
		text += part;
		size -= part;
	}
	if (whole && cut)
		whole = put_part(thread, kind, key, value->form | LX_TEXT_MORE, text, size);
	if (whole)
		put_part(thread, kind, key, value->form, cut ? "..." : text, cut ? 3 : size);
}

static void put_value(struct lx_thread *thread, uint32_t key, const struct lx_arg_value *value)
{
	uint64_t word;

	switch (value->kind) {
	case LX_ARG_INT:
		word = (uint64_t)value->integer;
		lx_record_long(thread, LX_EV_ARG_INT, key, &word, 1);
		break;
	case LX_ARG_FLOAT:
		memcpy(&word, &value->real, sizeof(word));
		lx_record_long(thread, LX_EV_ARG_FLOAT, key, &word, 1);
		break;
	case LX_ARG_TEXT:
		put_text(thread, LX_EV_ARG_TEXT, key, value);
		break;
	}
}

/* ---- Arguments of regions ---- */

/* The thread, its guard set, if its innermost region is recorded. */
static struct lx_thread *enter_region(void)
{
	struct lx_thread *thread = lx_thread_self;

	if (!thread || thread->busy || !lx_session_active() || thread->special & (LX_THREAD_FORGETS | LX_THREAD_RENEW))
		return NULL;
	for (const struct lx_call *call = thread->stack.top; call > thread->stack.base;) {
		call--;
		if (!lx_call_is_region(call))
			continue;
		if (call->kind >= LX_MARKED && call->marks & (LX_CALL_QUIET | LX_CALL_NO_BEGIN))
			return NULL; /* in the trace it would be its caller's */
		lx_guard(thread, 1);
		return thread;
	}
	return NULL;
}

bool lx_argument_wanted(void)
{
	struct lx_thread *thread = enter_region();

	if (thread)
		lx_guard(thread, 0);
	return thread != NULL;
}

void lx_argument_add(uint32_t key, const struct lx_arg_value *value)
{
	struct lx_thread *thread = enter_region();

	if (!thread)
		return;
	put_value(thread, key, value);
	lx_guard(thread, 0);
}

/* ---- What stands alone ---- */

/* The thread, its guard set, if calls of this plan are recorded; a window counts it as a call. */
static struct lx_thread *enter_alone(uint32_t word, uint32_t plan)
{
	struct lx_thread *thread = plan & LX_PLAN_NEVER ? NULL : lx_region_thread();
	bool wanted = true;

	if (!thread || !(plan & LX_PLAN_SLOW))
		return thread;
	if (plan & LX_PLAN_COUNT) {
		wanted = false;
		lx_counted_begin(thread, &wanted, word, LX_EV_REGION_BEGIN);
		lx_call_end(thread, &wanted, LX_REGION_KINDS, LX_EV_REGION_END);
	} else {
		wanted = lx_metered_alone(thread, word);
	}
	if (wanted)
		return thread;
	lx_guard(thread, 0);
	return NULL;
}

static void put_arguments(struct lx_thread *thread, const struct lx_argument *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_value(thread, arguments[i].key, &arguments[i].value);
	lx_guard(thread, 0);
}

void lx_span_add(uint32_t word, uint32_t plan, int64_t begin, uint64_t duration, const struct lx_argument *arguments,
		 size_t count)
{
	struct lx_thread *thread = enter_alone(word, plan);
	const uint64_t more[] = {(uint64_t)begin, duration, count};

	if (!thread)
		return;
	if (!lx_record_long(thread, LX_EV_SPAN, word, more, 3))
		count = 0;
	put_arguments(thread, arguments, count);
}

void lx_point_add(uint32_t word, uint32_t plan, const struct lx_argument *arguments, size_t count)
{
	struct lx_thread *thread = enter_alone(word, plan);
	const uint64_t more[] = {count};

	if (!thread)
		return;
	if (!lx_record_long(thread, LX_EV_POINT, word, more, 1))
		count = 0;
	put_arguments(thread, arguments, count);
}

void lx_counter_add(uint32_t word, uint32_t plan, double value)
{
	struct lx_thread *thread = enter_alone(word, plan);
	uint64_t more;

	if (!thread)
		return;
	memcpy(&more, &value, sizeof(more));
	lx_record_long(thread, LX_EV_COUNTER, word, &more, 1);
	lx_guard(thread, 0);
}

void lx_metadata_add(uint32_t key, const struct lx_arg_value *value)
{
	struct lx_thread *thread = lx_region_thread();

	if (!thread)
		return;
	put_text(thread, LX_EV_METADATA, key, value);
	lx_guard(thread, 0);
}
