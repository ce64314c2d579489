/* `lextrace config explain --run`: what happened in a run. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_config.h"
#include "transform/trace.h"

struct happened {
	uint64_t seen, recorded, calls, ended_ns; /* ended_ns: from the start of the run */
	bool met, ended;
};

static struct lx_trace *open_trace(const char *folder)
{
	char message[1024];
	struct lx_trace *trace;

	if (lx_trace_open(folder, &trace, message, sizeof(message)) == 0)
		return trace;
	lx_error("%s", message);
	return NULL;
}

static struct lx_subject subject_of(const struct lx_lexgion *lexgion)
{
	return (struct lx_subject){ lexgion->domain, lexgion->name, lexgion->file, lexgion->name_size, lexgion->file_size,
				    lexgion->line };
}

/* Whether the lexgion is the place that was asked for. */
static bool is_place(const struct lx_explained *it, const struct lx_lexgion *lexgion)
{
	const struct lx_subject *asked = &it->subject;

	if (lexgion->domain != asked->domain || lexgion->name_size != asked->name_size ||
	    memcmp(lexgion->name, asked->name, asked->name_size) != 0 || (asked->line && asked->line != lexgion->line))
		return false;
	return asked->file_size == 0 ||
	       (lexgion->file_size >= asked->file_size &&
		memcmp(lexgion->file + lexgion->file_size - asked->file_size, asked->file, asked->file_size) == 0 &&
		(lexgion->file_size == asked->file_size || lexgion->file[lexgion->file_size - asked->file_size - 1] == '/'));
}

static void add_process(const struct lx_explained *it, const struct lx_process *process, struct happened *happened)
{
	for (size_t i = 0; i < process->lexgion_count; i++)
		happened->met |= process->lexgions[i].defined && is_place(it, &process->lexgions[i]);
	for (size_t i = 0; i < process->row_count; i++) {
		const struct lx_row *row = &process->rows[i];

		if (row->thread != it->thread || !is_place(it, lx_lexgion(process, row->lexgion)))
			continue;
		happened->seen += row->seen;
		happened->recorded += row->recorded;
		happened->calls += row->calls;
		if (row->ended) {
			happened->ended = true;
			happened->ended_ns = lx_real_ns(process, row->ended) - process->trace->first;
		}
	}
}

static void put_text(const struct happened *happened, const char *folder, FILE *file)
{
	char recorded[LX_NUMBER_SIZE], seen[LX_NUMBER_SIZE], moment[LX_NUMBER_SIZE];

	fprintf(file, "\nin %s: ", folder);
	if (!happened->met) {
		fprintf(file, "never met\n");
		return;
	}
	if (!happened->seen && !happened->calls) {
		fprintf(file, "met; no window counted its calls on this thread (lextrace report has them)\n");
		return;
	}
	fprintf(file, "recorded %s of %s calls seen", lx_format_count(recorded, sizeof(recorded), happened->recorded),
		lx_format_count(seen, sizeof(seen), happened->seen));
	if (happened->calls)
		fprintf(file, "; %s counted in MONITORING", lx_format_count(seen, sizeof(seen), happened->calls));
	if (happened->ended)
		fprintf(file, "; the window ended at %s", lx_format_seconds(moment, sizeof(moment), (double)happened->ended_ns));
	fputc('\n', file);
}

int lx_explain_run(const struct lx_explained *it, const char *folder, struct lx_output *out, struct lx_json *json)
{
	struct lx_trace *trace = open_trace(folder);
	struct happened happened = { .met = false };

	if (!trace)
		return LX_STATUS_FAILED;
	for (size_t i = 0; i < trace->process_count; i++)
		add_process(it, &trace->processes[i], &happened);
	if (out)
		put_text(&happened, folder, out->file);
	if (json) {
		lx_json_key(json, "run");
		lx_json_object(json);
		lx_json_key(json, "met");
		lx_json_bool(json, happened.met);
		lx_json_key(json, "seen");
		lx_json_u64(json, happened.seen);
		lx_json_key(json, "recorded");
		lx_json_u64(json, happened.recorded);
		lx_json_key(json, "counted");
		lx_json_u64(json, happened.calls);
		lx_json_key(json, "ended_ns");
		if (happened.ended)
			lx_json_u64(json, happened.ended_ns);
		else
			lx_json_null(json);
		lx_json_object_end(json);
	}
	lx_trace_close(trace);
	return LX_STATUS_OK;
}

/* ---- Sections, and how many places each matched ---- */

/* Places of the run to which a section applies, by the section's number. */
static uint64_t *count_places(const struct lx_rules *rules, const struct lx_trace *trace)
{
	uint64_t *places = calloc(rules->section_count + 1, sizeof(*places));

	for (size_t i = 0; places && trace && i < trace->process_count; i++) {
		const struct lx_process *process = &trace->processes[i];

		for (size_t id = 1; id < process->lexgion_count; id++) {
			const struct lx_lexgion *lexgion = &process->lexgions[id];
			struct lx_subject subject = subject_of(lexgion);

			if (lexgion->defined && subject.domain < LX_RULED_DOMAINS && !(lexgion->flags & LX_LEXGION_IMPORT))
				places[lx_rules_section(rules, &subject)->number]++;
		}
	}
	return places;
}

int lx_explain_sections(const struct lx_config_file *file, const char *folder, struct lx_output *out, struct lx_json *json)
{
	const struct lx_rules *rules = file->rules;
	struct lx_trace *trace = folder ? open_trace(folder) : NULL;
	uint64_t *places = folder && !trace ? NULL : count_places(rules, trace);
	char place[1200], count[LX_NUMBER_SIZE];

	if (!places)
		return LX_STATUS_FAILED;
	if (json) {
		lx_json_key(json, "sections");
		lx_json_array(json);
	}
	for (size_t i = 0; i < rules->section_count; i++) {
		const struct lx_section *section = rules->sections[i];
		bool named = section->kind == LX_SECTION_NAMED;

		if (section->line == LX_LINE_BUILT_IN || section->removed)
			continue;
		if (json) {
			lx_json_object(json);
			lx_json_key(json, "title");
			lx_json_string(json, section->title);
			lx_json_key(json, "line");
			lx_json_u64(json, section->line);
			lx_json_key(json, "places");
			if (trace)
				lx_json_u64(json, places[section->number]);
			else
				lx_json_null(json);
			lx_json_object_end(json);
			continue;
		}
		fprintf(out->file, "%-16s  %s", lx_config_place(file, section->line, place, sizeof(place)), section->title);
		if (section->punit_text)
			fprintf(out->file, ": %s", section->punit_text);
		if (trace && (named || section->kind == LX_SECTION_LEXGION_DOMAIN))
			fprintf(out->file, "    %s", lx_format_plural(count, sizeof(count), places[section->number], "place"));
		fputc('\n', out->file);
	}
	if (json)
		lx_json_array_end(json);
	free(places);
	if (trace)
		lx_trace_close(trace);
	return LX_STATUS_OK;
}
