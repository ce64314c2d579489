/* One event as one line, in the shape of babeltrace2's text or as a JSON object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/cmd_view.h"
#include "view/modes.h"

/* Numbers by hand: printf would take most of the time of a line. */
static char *put_number(char *at, uint64_t value, unsigned digits)
{
	char text[20];
	unsigned count = 0;

	do {
		text[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value || count < digits);
	while (count)
		*at++ = text[--count];
	return at;
}

static char *put_text(char *at, const char *text)
{
	size_t size = strlen(text);

	memcpy(at, text, size);
	return at + size;
}

static struct lx_view_source *source_of(struct lx_view *view, const struct lx_process *process)
{
	return &view->sources[process - view->pass.trace->processes];
}

int lx_view_line_init(struct lx_view *view, struct lx_view_source *source, const struct lx_process *process)
{
	const char *name = lx_functions_program(&view->pass.functions, process)->name;
	size_t room = 4 * strlen(name) + 32, used = 1;

	source->fields = calloc(process->lexgion_count + 1, sizeof(*source->fields));
	source->program = malloc(room);
	if (!source->fields || !source->program)
		return -ENOMEM;
	source->program[0] = ' ';
	used += lx_escape(source->program + used, room - used, name, strlen(name));
	snprintf(source->program + used, room - used, ":%u ", process->state.pid);
	return 0;
}

/* "qualname = " with colours; between fields a comma. */
static void start_field(const struct lx_view *view, FILE *file, const char *name, bool first)
{
	fprintf(file, "%s%s%s%s = ", first ? "" : ", ", lx_style(&view->out, LX_CYAN), name,
		lx_style_end(&view->out, LX_CYAN));
}

static const char *name_of_name(const struct lx_lexgion *lexgion)
{
	if (lexgion->flags & LX_LEXGION_C)
		return "callee";
	if (lexgion->flags & LX_LEXGION_IMPORT)
		return "module";
	if (lexgion->flags & LX_LEXGION_KEY)
		return "key";
	return lexgion->domain == LX_DOMAIN_PYTHON ? "qualname" : "name";
}

static void text_fields(const struct lx_view *view, FILE *file, const struct lx_lexgion *lexgion)
{
	struct lx_json js;

	lx_json_init(&js, file, false); /* for its way to quote */
	start_field(view, file, name_of_name(lexgion), true);
	lx_json_text(&js, lexgion->name, lexgion->name_size);
	if (lexgion->file_size) {
		start_field(view, file, "filename", false);
		lx_json_text(&js, lexgion->file, lexgion->file_size);
		start_field(view, file, "lineno", false);
		fprintf(file, "%s%u%s", lx_style(&view->out, LX_BOLD), lexgion->line, lx_style_end(&view->out, LX_BOLD));
	}
	fputs(", ", file);
}

static void json_fields(FILE *file, const struct lx_lexgion *lexgion)
{
	struct lx_json js;

	lx_json_init(&js, file, false);
	fputs(",\"qualname\":", file);
	lx_json_text(&js, lexgion->name, lexgion->name_size);
	if (lexgion->file_size) {
		fputs(",\"filename\":", file);
		lx_json_text(&js, lexgion->file, lexgion->file_size);
		fprintf(file, ",\"lineno\":%u", lexgion->line);
	}
}

/* The fields that a lexgion gives to each of its events. NULL: no memory. */
static const char *fields_of(const struct lx_view *view, struct lx_view_source *source, const struct lx_process *process,
			     uint32_t id)
{
	char **fields = &source->fields[id < process->lexgion_count ? id : process->lexgion_count];
	size_t size;
	FILE *file;

	if (*fields)
		return *fields;
	file = open_memstream(fields, &size);
	if (!file)
		return NULL;
	if (view->json)
		json_fields(file, lx_lexgion(process, id));
	else
		text_fields(view, file, lx_lexgion(process, id));
	if (fclose(file) != 0) {
		free(*fields);
		*fields = NULL;
	}
	return *fields;
}

static void set_clock(struct lx_view *view, int64_t second)
{
	time_t moment = (time_t)second;
	struct tm parts;

	view->second = second;
	if (!(view->gmt ? gmtime_r(&moment, &parts) : localtime_r(&moment, &parts)) ||
	    !strftime(view->clock, sizeof(view->clock), view->date ? "[%Y-%m-%d %H:%M:%S." : "[%H:%M:%S.", &parts))
		strcpy(view->clock, "[?.");
}

/* "[17:48:17.586634786] (+0.000076267)" */
static char *put_time(struct lx_view *view, char *at, uint64_t real)
{
	int64_t second = (int64_t)(real / 1000000000);
	uint64_t step = view->before && real > view->before ? real - view->before : 0;

	if (second != view->second)
		set_clock(view, second);
	at = put_text(at, lx_style(&view->out, LX_YELLOW));
	at = put_text(at, view->clock);
	at = put_number(at, real % 1000000000, 9);
	at = put_text(at, "]");
	at = put_text(at, lx_style_end(&view->out, LX_YELLOW));
	if (!view->before)
		return put_text(at, " (+?.?????????" ")");
	at = put_text(at, " (+");
	at = put_number(at, step / 1000000000, 1);
	*at++ = '.';
	at = put_number(at, step % 1000000000, 9);
	*at++ = ')';
	return at;
}

static int text_line(struct lx_view *view, const struct lx_merged *event, const char *fields)
{
	const struct lx_view_source *source = source_of(view, event->process);
	char text[256], *at = put_time(view, text, event->real_ns);
	FILE *file = view->out.file;

	fwrite_unlocked(text, 1, (size_t)(at - text), file);
	fwrite_unlocked(source->program, 1, strlen(source->program), file);
	at = put_text(text, lx_style(&view->out, LX_MAGENTA));
	at = put_text(at, lx_event_name(event->event.kind));
	at = put_text(at, lx_style_end(&view->out, LX_MAGENTA));
	at = put_text(at, ": { ");
	fwrite_unlocked(text, 1, (size_t)(at - text), file);
	if (fields) {
		fwrite_unlocked(fields, 1, strlen(fields), file);
		if (lx_view_more(view, &event->event) < 0)
			return -ENOMEM;
	} else if (event->event.kind == LX_EV_MODE) {
		start_field(view, file, "domain", true);
		fputs(lx_domain_name(event->event.value & 0xffff), file);
		start_field(view, file, "mode", false);
		fprintf(file, "%s, ", lx_mode_text(event->event.value >> 16));
	} else {
		start_field(view, file, event->event.kind == LX_EV_STACK_SWITCH ? "stack" : "value", true);
		fprintf(file, "%u, ", event->event.value);
	}
	at = put_text(text, lx_style(&view->out, LX_CYAN));
	at = put_text(at, "python_thread_id");
	at = put_text(at, lx_style_end(&view->out, LX_CYAN));
	at = put_text(at, " = ");
	at = put_text(at, lx_style(&view->out, LX_BOLD));
	at = put_number(at, event->thread->number, 1);
	at = put_text(at, lx_style_end(&view->out, LX_BOLD));
	at = put_text(at, " }\n");
	fwrite_unlocked(text, 1, (size_t)(at - text), file);
	return 0;
}

static int json_line(struct lx_view *view, const struct lx_merged *event, const char *fields)
{
	char text[256], *at = put_text(text, "{\"time_ns\":");
	FILE *file = view->out.file;

	at = put_number(at, event->real_ns, 1);
	at = put_text(at, ",\"pid\":");
	at = put_number(at, event->process->state.pid, 1);
	at = put_text(at, ",\"thread\":");
	at = put_number(at, event->thread->number, 1);
	at = put_text(at, ",\"name\":\"");
	at = put_text(at, lx_event_name(event->event.kind));
	at = put_text(at, "\"");
	fwrite_unlocked(text, 1, (size_t)(at - text), file);
	if (fields) {
		fwrite_unlocked(fields, 1, strlen(fields), file);
		if (lx_view_more(view, &event->event) < 0)
			return -ENOMEM;
	} else if (event->event.kind == LX_EV_MODE) {
		fprintf(file, ",\"qualname\":null,\"domain\":\"%s\",\"mode\":\"%s\"",
			lx_domain_name(event->event.value & 0xffff), lx_mode_text(event->event.value >> 16));
	} else {
		fprintf(file, ",\"qualname\":null,\"%s\":%u",
			event->event.kind == LX_EV_STACK_SWITCH ? "stack" : "value", event->event.value);
	}
	fwrite_unlocked("}\n", 1, 2, file);
	return 0;
}

int lx_view_line(struct lx_view *view, const struct lx_merged *event)
{
	const char *fields = NULL;
	int error;

	if (lx_event_has_lexgion(event->event.kind)) {
		fields = fields_of(view, source_of(view, event->process), event->process, event->event.value);
		if (!fields)
			return -ENOMEM;
	}
	error = view->json ? json_line(view, event, fields) : text_line(view, event, fields);
	view->before = event->real_ns;
	return error;
}

static bool read_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds >= 0 && *seconds < 1e10;
}

/* "17:48:17.586" to ns since midnight. */
static bool read_clock(const char *text, uint64_t *ns)
{
	unsigned hour, minute;
	int used = 0;
	double second;

	if (sscanf(text, "%2u:%2u:%n", &hour, &minute, &used) < 2 || !used || hour > 23 || minute > 59 ||
	    !read_seconds(text + used, &second) || second >= 61)
		return false;
	*ns = (hour * 3600ull + minute * 60ull) * 1000000000ull + (uint64_t)(second * 1e9 + 0.5);
	return true;
}

bool lx_view_time(const struct lx_trace *trace, const char *text, bool gmt, uint64_t *real_ns)
{
	time_t first = (time_t)(trace->first / 1000000000);
	struct tm parts;
	double seconds;
	uint64_t ns;

	if (read_seconds(text, &seconds)) {
		*real_ns = trace->first + (uint64_t)(seconds * 1e9 + 0.5);
		return true;
	}
	if (!read_clock(text, &ns) || !(gmt ? gmtime_r(&first, &parts) : localtime_r(&first, &parts)))
		return false;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	parts.tm_isdst = -1;
	*real_ns = (uint64_t)(gmt ? timegm(&parts) : mktime(&parts)) * 1000000000ull + ns;
	/* A run over midnight: times of the second day look as if they lay before its start. */
	if (*real_ns < trace->first && *real_ns + 86400000000000ull <= trace->last)
		*real_ns += 86400000000000ull;
	return true;
}
