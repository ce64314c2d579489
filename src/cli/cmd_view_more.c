/* What an event has behind its header. */
#include <inttypes.h>
#include <string.h>

#include "cli/cmd_view.h"
#include "view/export.h"
#include "view/json_value.h"

/* The value of an argument, a counter or a metadata entry; of a long text the part that this event has. */
static int put_value(FILE *file, const struct lx_event *event)
{
	struct lx_arguments arguments = { 0 };
	struct lx_argument *part = NULL;
	struct lx_event argument = *event;
	struct lx_json json;
	int error;

	if (event->kind == LX_EV_COUNTER)
		argument.kind = LX_EV_ARG_FLOAT;
	error = lx_arguments_add(&arguments, &argument, &part);
	lx_json_init(&json, file, false);
	if (!error && part) /* no whole value: never JSON by itself */
		lx_json_text(&json, part->text ? part->text : "", part->size);
	else if (!error)
		lx_export_argument(&json, &arguments.list[0]);
	lx_arguments_free(&arguments);
	return error;
}

/* `,"NAME":` or `NAME = `; the value comes next, then in text a comma. */
static void put_name(const struct lx_view *view, const char *name)
{
	if (view->json)
		fprintf(view->out.file, ",\"%s\":", name);
	else
		fprintf(view->out.file, "%s%s%s = ", lx_style(&view->out, LX_CYAN), name, lx_style_end(&view->out, LX_CYAN));
}

static void put_number(const struct lx_view *view, const char *name, uint64_t value, bool negative)
{
	put_name(view, name);
	fprintf(view->out.file, "%s%" PRIu64 "%s", negative ? "-" : "", negative ? 0 - value : value, view->json ? "" : ", ");
}

int lx_view_more(const struct lx_view *view, const struct lx_event *event)
{
	int error = 0;

	switch (event->kind < LX_EV_COUNT ? event->kind : LX_EV_FUNCTION_BEGIN) {
	case LX_EV_REGION_RUN:
		put_number(view, "run", event->more[0], false);
		break;
	case LX_EV_SPAN:
		put_number(view, "begin_ns", event->more[0], (int64_t)event->more[0] < 0);
		put_number(view, "duration_ns", event->more[1], false);
		put_number(view, "arguments", (uint32_t)event->more[2], false);
		break;
	case LX_EV_POINT:
		put_number(view, "arguments", (uint32_t)event->more[0], false);
		break;
	case LX_EV_ARG_INT:
	case LX_EV_ARG_FLOAT:
	case LX_EV_ARG_TEXT:
	case LX_EV_COUNTER:
	case LX_EV_METADATA:
		put_name(view, "value");
		error = put_value(view->out.file, event);
		if (!view->json)
			fputs(", ", view->out.file);
		if (lx_argument_goes_on(event))
			fputs(view->json ? ",\"more\":true" : "more = true, ", view->out.file);
		break;
	default:
		break;
	}
	return error;
}
