/* What info says of configurations, modes and all that changed while the program ran. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cmd_info.h"
#include "cli/configured.h"
#include "cli/doubts.h"
#include "view/modes.h"

#define CHANGES_MAX 20u /* lines of the journal that are shown; --json has all */

/* Domains without a place in the code and in their first mode are not worth a word, but for the two that always are. */
static bool is_worth_saying(const struct lx_process *process, uint32_t domain)
{
	if (domain <= LX_DOMAIN_USER)
		return true;
	for (size_t id = 1; id < process->lexgion_count; id++)
		if (process->lexgions[id].defined && process->lexgions[id].domain == domain)
			return true;
	return false;
}

static const char *c_calls(const struct lx_process *process)
{
	if (process->key[LX_KEY_c_calls] && strcmp(process->key[LX_KEY_c_calls], "1") == 0)
		return "C calls on";
	return process->config.path ? "C calls as configured" : "C calls off";
}

char *lx_info_modes(const struct lx_process *process, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (uint32_t domain = 0; domain < LX_DOMAIN_LEXTRACE && used < size; domain++) {
		if (!is_worth_saying(process, domain))
			continue;
		used += (size_t)snprintf(out + used, size - used, "%s%s %s", used ? ", " : "", lx_domain_name(domain),
					 lx_mode_text(process->state.modes[domain]));
		if (domain == LX_DOMAIN_PYTHON && used < size)
			used += (size_t)snprintf(out + used, size - used, " (%s)", c_calls(process));
	}
	return out;
}

/* ---- Chunks ---- */

static int by_number(const struct dirent **a, const struct dirent **b)
{
	long x = strtol((*a)->d_name, NULL, 10), y = strtol((*b)->d_name, NULL, 10);

	return (x > y) - (x < y);
}

static int is_number(const struct dirent *entry)
{
	return entry->d_name[strspn(entry->d_name, "0123456789")] == '\0';
}

/* The process's chunks; returns how many. *list and its entries are malloc'd. */
static int list_chunks(const struct lx_process *process, char **folder, struct dirent ***list)
{
	int count = 0;

	*list = NULL;
	if (asprintf(folder, "%s/lextrace/chunks", process->folder) < 0)
		*folder = NULL;
	else
		count = scandir(*folder, list, is_number, by_number);
	return count > 0 ? count : 0;
}

static void free_chunks(char *folder, struct dirent **list, int count)
{
	for (int i = 0; i < count; i++)
		free(list[i]);
	free(list);
	free(folder);
}

static void say_chunks(const struct lx_info *info, const struct lx_process *process)
{
	struct dirent **list;
	char *folder, text[1024], word[900];
	int count = list_chunks(process, &folder, &list);

	if (count) {
		char *last;

		if (asprintf(&last, "%s/%s", folder, list[count - 1]->d_name) >= 0) {
			lx_put_word(word, sizeof(word), last);
			snprintf(text, sizeof(text), "%d; the last one: lextrace report %s", count, word);
			lx_info_fact(info, "chunks", text, true);
			free(last);
		}
	}
	free_chunks(folder, list, count);
}

/* ---- For people ---- */

static void say_config(const struct lx_info *info, const struct lx_process *process)
{
	const struct lx_program *program = lx_functions_program(&info->pass.functions, process);
	const char *full = process->config.path;
	char text[1024], path[900], number[LX_NUMBER_SIZE];
	uint32_t reloads = process->state.reloads;

	if (!full) {
		lx_info_fact(info, "config", "none (defaults)", true);
		return;
	}
	full = lx_program_short(program, full);
	lx_escape(path, sizeof(path), full, strlen(full));
	snprintf(text, sizeof(text), "%s%s%s%s", path, reloads ? ", read again " : "",
		 reloads > 1 ? lx_format_count(number, sizeof(number), reloads) : "", reloads > 1 ? " times" : reloads ? "once" : "");
	lx_info_fact(info, "config", text, true);
}

/* "0.41 s  mode Python STANDBY by trace.conf:7" */
static void say_change(const struct lx_info *info, const struct lx_process *process, const struct lx_journal_line *line,
		       bool several)
{
	const struct lx_trace *trace = info->pass.trace;
	const char *slash = strchr(line->text, '/'), *cause = slash ? lx_short_cause(&info->pass, process, slash) : NULL;
	char text[1024], at[LX_NUMBER_SIZE], pid[32] = "";

	lx_format_seconds(at, sizeof(at), lx_since_start(trace, lx_real_ns(process, line->ticks)));
	if (several)
		snprintf(pid, sizeof(pid), "process %u: ", process->state.pid);
	snprintf(text, sizeof(text), "%s  %s%.*s%s", at, pid, slash ? (int)(slash - line->text) : 0, slash ? line->text : "",
		 slash ? cause : line->text);
	lx_info_fact(info, "change", text, true);
}

/* An action without a domain changes all of them, also those that the program knows nothing of. */
static bool is_shown(const struct lx_process *process, const struct lx_journal_line *line)
{
	for (uint32_t domain = 0; domain < LX_DOMAIN_LEXTRACE; domain++) {
		size_t size = strlen(lx_domain_name(domain));

		if (strncmp(line->text, "mode ", 5) == 0 && strncmp(line->text + 5, lx_domain_name(domain), size) == 0 &&
		    line->text[5 + size] == ' ')
			return is_worth_saying(process, domain);
	}
	return true;
}

static void say_changes(const struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	size_t lines = 0, processes = 0, shown = 0;
	char text[LX_NUMBER_SIZE + 32], number[LX_NUMBER_SIZE];

	for (size_t i = 0; i < trace->process_count; i++)
		processes += trace->processes[i].journal_count > 0;
	for (size_t i = 0; i < trace->process_count; i++) {
		for (size_t n = 0; n < trace->processes[i].journal_count; n++) {
			if (!is_shown(&trace->processes[i], &trace->processes[i].journal[n]))
				continue;
			if (lines++ < CHANGES_MAX)
				say_change(info, &trace->processes[i], &trace->processes[i].journal[n], processes > 1);
		}
	}
	shown = lines < CHANGES_MAX ? lines : CHANGES_MAX;
	if (shown == lines)
		return;
	lx_format_count(number, sizeof(number), lines - shown);
	snprintf(text, sizeof(text), "… and %s more (--json has all)", number);
	lx_info_fact(info, "change", text, true);
}

void lx_info_say_control(const struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	char text[LX_NUMBER_SIZE + 32], number[LX_NUMBER_SIZE];

	say_config(info, &trace->processes[0]);
	say_changes(info);
	if (info->health.counted) {
		snprintf(text, sizeof(text), "%s (MONITORING)",
			 lx_format_plural(number, sizeof(number), info->health.counted, "call"));
		lx_info_fact(info, "counted", text, true);
	}
	if (info->health.bounded) {
		snprintf(text, sizeof(text), "%s, by max_c_traces",
			 lx_format_plural(number, sizeof(number), info->health.bounded, "C call"));
		lx_info_fact(info, "left out", text, true);
	}
	for (size_t i = 0; i < trace->process_count; i++)
		say_chunks(info, &trace->processes[i]);
}

/* ---- For programs ---- */

void lx_info_json_control(struct lx_json *js, const struct lx_process *process)
{
	struct dirent **list;
	char *folder, *path;
	uint64_t counted = 0;
	int count = list_chunks(process, &folder, &list);

	for (size_t i = 0; i < process->row_count; i++)
		counted += process->rows[i].calls;
	lx_json_key(js, "modes");
	lx_json_object(js);
	for (uint32_t domain = 0; domain < LX_DOMAIN_LEXTRACE; domain++) {
		lx_json_key(js, lx_domain_name(domain));
		lx_json_string(js, lx_mode_text(process->state.modes[domain]));
	}
	lx_json_object_end(js);
	lx_json_key(js, "config");
	lx_json_string(js, process->config.path);
	lx_json_key(js, "reloads");
	lx_json_u64(js, process->state.reloads);
	lx_json_key(js, "changes");
	lx_json_array(js);
	for (size_t i = 0; i < process->journal_count; i++) {
		lx_json_object(js);
		lx_json_key(js, "at_ns");
		lx_json_u64(js, lx_real_ns(process, process->journal[i].ticks));
		lx_json_key(js, "what");
		lx_json_string(js, process->journal[i].text);
		lx_json_object_end(js);
	}
	lx_json_array_end(js);
	lx_json_key(js, "counted");
	lx_json_u64(js, counted);
	lx_json_key(js, "c_calls_left_out");
	lx_json_u64(js, process->state.bounded);
	lx_json_key(js, "chunks");
	lx_json_array(js);
	for (int i = 0; i < count; i++) {
		if (asprintf(&path, "%s/%s", folder, list[i]->d_name) < 0)
			break;
		lx_json_string(js, path);
		free(path);
	}
	lx_json_array_end(js);
	free_chunks(folder, list, count);
}
