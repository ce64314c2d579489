#include "cli/configured.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decide/rules.h"
#include "view/modes.h"

struct lx_rules *lx_config_rules(const struct lx_config *config)
{
	/* A rate from the environment is not kept: it says nothing about names and modes. */
	const struct lx_rules_environment environment = { .c_calls = -1 };
	struct lx_rules *rules = NULL;

	if (!config->text || lx_rules_parse(config->text, config->size, &environment, NULL, NULL, &rules) < 0)
		return NULL;
	return rules;
}

/* ---- Sections that fit nothing ---- */

static bool same_config(const struct lx_config *a, const struct lx_config *b)
{
	return a->text && b->text && a->size == b->size && memcmp(a->text, b->text, a->size) == 0 && !a->path == !b->path &&
	       (!a->path || strcmp(a->path, b->path) == 0);
}

static bool fits_process(const struct lx_section *section, const struct lx_process *process)
{
	for (size_t id = 1; id < process->lexgion_count; id++) {
		const struct lx_lexgion *lexgion = &process->lexgions[id];
		const struct lx_subject subject = { lexgion->domain,	lexgion->name,	    lexgion->file,
						    lexgion->name_size, lexgion->file_size, lexgion->line };

		if (lexgion->defined && lexgion->domain == section->domain && lx_section_matches(section, &subject))
			return true;
	}
	return false;
}

/* In this process, or in a later one with the same configuration. */
static bool fits(const struct lx_section *section, const struct lx_trace *trace, size_t first)
{
	for (size_t i = first; i < trace->process_count; i++)
		if (same_config(&trace->processes[i].config, &trace->processes[first].config) &&
		    fits_process(section, &trace->processes[i]))
			return true;
	return false;
}

/* Did another process before this one have the same configuration? */
static bool seen_before(const struct lx_trace *trace, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (same_config(&trace->processes[i].config, &trace->processes[at].config))
			return true;
	return false;
}

static bool met_something(const struct lx_trace *trace, size_t first)
{
	for (size_t i = first; i < trace->process_count; i++)
		if (trace->processes[i].lexgion_count > 1 &&
		    same_config(&trace->processes[i].config, &trace->processes[first].config))
			return true;
	return false;
}

static char *short_path(const struct lx_pass *pass, const struct lx_process *process)
{
	const struct lx_program *program = lx_functions_program(&pass->functions, process);
	const char *path = process->config.path ? lx_program_short(program, process->config.path) : "configuration";
	size_t room = 4 * strlen(path) + 1;
	char *out = malloc(room);

	if (out)
		lx_escape(out, room, path, strlen(path));
	return out;
}

static int add(struct lx_unmatched **list, size_t *count, const struct lx_pass *pass, const struct lx_process *process,
	       const struct lx_section *section)
{
	struct lx_unmatched *grown = realloc(*list, (*count + 1) * sizeof(*grown)), *now;
	size_t room = 4 * strlen(section->title) + 1;

	if (!grown)
		return -ENOMEM;
	*list = grown;
	now = &grown[(*count)++];
	*now = (struct lx_unmatched){ short_path(pass, process), section->line, malloc(room) };
	if (!now->file || !now->title)
		return -ENOMEM;
	lx_escape(now->title, room, section->title, strlen(section->title));
	return 0;
}

int lx_unmatched_find(const struct lx_pass *pass, struct lx_unmatched **list, size_t *count)
{
	const struct lx_trace *trace = pass->trace;
	int error = 0;

	*list = NULL;
	*count = 0;
	for (size_t i = 0; i < trace->process_count && !error; i++) {
		const struct lx_process *process = &trace->processes[i];
		struct lx_rules *rules;

		if (!process->config.size || seen_before(trace, i) || !met_something(trace, i))
			continue;
		rules = lx_config_rules(&process->config);
		if (!rules)
			return -ENOMEM;
		for (size_t n = 0; n < rules->section_count && !error; n++)
			if (rules->sections[n]->kind == LX_SECTION_NAMED && !fits(rules->sections[n], trace, i))
				error = add(list, count, pass, process, rules->sections[n]);
		lx_rules_free(rules);
	}
	return error;
}

void lx_unmatched_free(struct lx_unmatched *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].file);
		free(list[i].title);
	}
	free(list);
}

/* ---- Causes of modes ---- */

/* The cause in "mode DOMAIN MODE by CAUSE", or NULL. */
static const char *cause_in(const char *text, const char *domain)
{
	size_t size = strlen(domain);
	const char *by;

	if (strncmp(text, "mode ", 5) != 0 || strncmp(text + 5, domain, size) != 0 || text[5 + size] != ' ')
		return NULL;
	by = strstr(text + 5 + size, " by ");
	return by ? by + 4 : NULL;
}

const char *lx_short_cause(const struct lx_pass *pass, const struct lx_process *process, const char *cause)
{
	return *cause == '/' ? lx_program_short(lx_functions_program(&pass->functions, process), cause) : cause;
}

/* Where the configuration says so itself; "" where it does not. */
static const char *said_at(const struct lx_pass *pass, const struct lx_process *process, uint32_t domain, char *out,
			   size_t size)
{
	struct lx_rules *rules = lx_config_rules(&process->config);
	const struct lx_section *section = rules ? lx_rules_domain(rules, domain) : NULL;
	char *path;

	out[0] = '\0';
	if (section && section->mode.line && section->mode.number == process->state.modes[domain] &&
	    (path = short_path(pass, process))) {
		snprintf(out, size, "%s:%u", path, section->mode.line);
		free(path);
	}
	lx_rules_free(rules);
	return out;
}

const char *lx_mode_cause(const struct lx_pass *pass, const struct lx_process *process, uint32_t domain, char *out,
			  size_t size)
{
	const char *name = lx_domain_name(domain), *cause = NULL;

	for (size_t i = 0; i < process->journal_count; i++) {
		const char *found = cause_in(process->journal[i].text, name);

		cause = found ? found : cause;
	}
	if (!cause || strcmp(cause, "start") == 0 || strcmp(cause, "reload") == 0) {
		said_at(pass, process, domain, out, size);
		if (!*out && cause && strcmp(cause, "start") == 0) {
			size_t used = (size_t)snprintf(out, size, "PINSIGHT_TRACE_");

			for (; *name && used + 1 < size; name++)
				out[used++] = (char)toupper((unsigned char)*name);
			out[used < size ? used : size - 1] = '\0';
		}
		return out;
	}
	snprintf(out, size, "%s", lx_short_cause(pass, process, cause));
	return out;
}
