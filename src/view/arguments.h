/* The arguments of a span, a point or a metadata entry, collected from ARG_* events: the last value of a key counts. */
#ifndef LX_VIEW_ARGUMENTS_H
#define LX_VIEW_ARGUMENTS_H

#include "transform/trace.h"

struct lx_argument {
	uint32_t key;       /* lexgion whose name is the key */
	uint32_t kind;      /* LX_EV_ARG_INT, LX_EV_ARG_FLOAT or LX_EV_ARG_TEXT */
	int64_t integer;
	double real;
	/* TEXT: */
	uint32_t form;      /* enum lx_text_form */
	uint32_t size, room;
	char *text;         /* size bytes of any kind */
};

/* In the order in which the keys came first. All zeros is empty. */
struct lx_arguments {
	struct lx_argument *list;
	uint32_t count;     /* at most LX_ARGUMENTS_MAX */
	uint32_t room, used; /* entries from count on keep their memory of `text` for the next ones */
	struct lx_arguments *next; /* the owner's */
};

/*
 * Takes an ARG_* or METADATA event over. *part is, while a text goes on, the argument that the next part belongs to: NULL at
 * first. A key past LX_ARGUMENTS_MAX is left out, and so is what a text has past LX_TEXT_MAX bytes. 0 or -ENOMEM.
 */
int lx_arguments_add(struct lx_arguments *arguments, const struct lx_event *event, struct lx_argument **part);

/* Whether the next text event goes on with this one. */
static inline bool lx_argument_goes_on(const struct lx_event *event)
{
	return (event->kind == LX_EV_ARG_TEXT || event->kind == LX_EV_METADATA) && event->more[0] & LX_TEXT_MORE;
}

void lx_arguments_clear(struct lx_arguments *arguments); /* the memory stays */
void lx_arguments_free(struct lx_arguments *arguments);

#endif
