/* Functions and regions of include/lextrace/dftracer.h: updates name the one that they belong to. */
#include "lextrace/dftracer.h"

#include <stdlib.h>
#include <string.h>

#include "capture/annotate_c.h"

/* An update of a region in which another one is open: recorded when that has ended. */
struct later {
	struct later *next;
	uint32_t key;
	struct lx_arg_value value; /* its text is `bytes` */
	char bytes[];
};

void lextrace_dftracer_begin(struct DFTracerData *data)
{
	if (!lx_c_look(data->region, true))
		return;
	data->plan = lx_c_plan(data->region);
	data->open = 1;
	lx_region_begin(data, lx_c_word(data->region), data->plan);
}

static const struct lx_call *innermost(const struct lx_thread *thread)
{
	const struct lx_call *call = thread ? thread->stack.top : NULL;

	while (call && call > thread->stack.base)
		if (lx_call_is_region(--call))
			return call;
	return NULL;
}

static bool is_open(const struct lx_thread *thread, const struct DFTracerData *data)
{
	const struct lx_call *call = thread ? thread->stack.top : NULL;

	while (call && call > thread->stack.base)
		if ((--call)->key == data)
			return true;
	return false;
}

static void keep(struct DFTracerData *data, uint32_t key, const struct lx_arg_value *value)
{
	size_t size = value->kind != LX_ARG_TEXT ? 0 : value->size > LX_TEXT_MAX ? LX_TEXT_MAX + 1 : value->size;
	struct later *later = malloc(sizeof(*later) + size), **last = (struct later **)&data->later;

	if (!later)
		return;
	later->next = NULL;
	later->key = key;
	later->value = *value;
	later->value.text = later->bytes;
	later->value.size = size;
	memcpy(later->bytes, size > 0 ? value->text : "", size);
	while (*last)
		last = &(*last)->next;
	*last = later;
}

void lextrace_dftracer_update(struct DFTracerData *data, const lextrace_argument *argument)
{
	char room[LX_C_ROOM];
	const struct lx_call *call = lx_session_active() ? innermost(lx_thread_self) : NULL;
	uint32_t key = call && argument->key ? lx_key_find(argument->key) : 0;

	if (!key)
		return;
	const struct lx_arg_value value = lx_c_value(argument, room);

	if (call->key == data)
		lx_argument_add(key, &value);
	else if (is_open(lx_thread_self, data))
		keep(data, key, &value);
}

/* What is still open inside the region would take its arguments for its own: it ends now, as it would with the region. */
static void close_inner(const struct DFTracerData *data)
{
	const struct lx_call *call;

	while (is_open(lx_thread_self, data) && (call = innermost(lx_thread_self)) && call->key != data) {
		const struct lx_call *before = lx_thread_self->stack.top;

		lx_region_end(call->key, 0, true);
		if (lx_thread_self->stack.top == before)
			return;
	}
}

void lextrace_dftracer_end(struct DFTracerData *data, int unwinding)
{
	struct later *later = data->later;

	data->open = 0;
	data->later = NULL;
	if (later)
		close_inner(data);
	while (later) {
		struct later *next = later->next;

		if (is_open(lx_thread_self, data))
			lx_argument_add(later->key, &later->value);
		free(later);
		later = next;
	}
	lx_region_end(data, data->plan, unwinding != 0);
}
