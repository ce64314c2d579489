#include "view/modes.h"

#include <errno.h>
#include <stdlib.h>

struct marks {
	struct lx_mode_mark *list;
	size_t count, room;
};

const char *lx_domain_name(uint32_t domain)
{
	static const char *const names[LX_DOMAIN_COUNT] = {
#define LX_X(number, NAME, name, prefix) [number] = name,
		LX_DOMAINS(LX_X)
#undef LX_X
	};

	return domain < LX_DOMAIN_COUNT ? names[domain] : "?";
}

const char *lx_mode_text(uint32_t mode)
{
	static const char *const names[LX_MODE_COUNT] = {
#define LX_X(number, NAME) [number] = #NAME,
		LX_MODES(LX_X)
#undef LX_X
	};

	return mode < LX_MODE_COUNT ? names[mode] : "?";
}

/*
 * Whether an event of that kind may be in the packet. The second words of extended headers are looked at as if they were
 * events, so that nothing hangs on the word before: packets without the kind, all but a few, cost a cycle a word.
 */
static bool may_have(const struct lx_packet_ref *packet, uint32_t kind)
{
	bool found = false;

	for (size_t i = 0; i < packet->words; i++) {
		uint32_t id = (uint32_t)packet->events[i];

		found |= (id & 31) == kind;
		found |= (id & (31u << 5 | 31)) == (LX_EV_EXTENDED | kind << 5);
	}
	return found;
}

static int add(struct marks *marks, const struct lx_event *event)
{
	struct lx_mode_mark mark = {event->ticks, event->value & 0xffff, event->value >> 16};

	if (mark.domain >= LX_DOMAIN_COUNT || mark.mode >= LX_MODE_COUNT)
		return 0;
	if (marks->count == marks->room) {
		size_t room = marks->room ? 2 * marks->room : 16;
		struct lx_mode_mark *list = realloc(marks->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		marks->list = list;
		marks->room = room;
	}
	marks->list[marks->count++] = mark;
	return 0;
}

/* Most programs never leave TRACING, which is known without a look at their events. */
static bool never_changed(const struct lx_process *process)
{
	if (process->state.magic != LX_STATE_MAGIC || process->journal_count)
		return false;
	for (uint32_t domain = 0; domain < LX_DOMAIN_LEXTRACE; domain++)
		if (process->state.modes[domain] != LX_MODE_TRACING)
			return false;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct lx_mode_mark *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return x->domain != y->domain ? (x->domain < y->domain ? -1 : 1) : (x->mode > y->mode) - (x->mode < y->mode);
}

int lx_modes_find(const struct lx_process *process, struct lx_mode_mark **list, size_t *count)
{
	struct marks marks = {0};
	int error = 0;

	for (size_t i = 0; i < process->stream_count && !never_changed(process); i++) {
		const struct lx_stream *stream = &process->streams[i];

		for (size_t n = 0; n < stream->packet_count && !error; n++) {
			struct lx_cursor cursor;
			struct lx_event event;

			lx_packets_passed(stream, n);
			if (!may_have(&stream->packets[n], LX_EV_MODE))
				continue;
			lx_cursor_start(&cursor, &stream->packets[n]);
			while (!error && lx_cursor_next(&cursor, &event))
				if (event.kind == LX_EV_MODE)
					error = add(&marks, &event);
		}
	}
	if (error) {
		free(marks.list);
		marks = (struct marks){0};
	}
	if (marks.count > 1)
		qsort(marks.list, marks.count, sizeof(*marks.list), by_time);
	*list = marks.list;
	*count = marks.count;
	return error;
}
