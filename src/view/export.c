#include "view/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "view/health.h"

#define PID_STEP (1u << 22) /* above every pid of Linux */

const struct lx_export_format *const lx_export_formats[] = {
	&lx_export_perfetto, &lx_export_chrome, &lx_export_pfw, &lx_export_pfw1, &lx_export_speedscope,
	&lx_export_folded, &lx_export_pstats, NULL,
};

const struct lx_export_format *lx_export_format_named(const char *name)
{
	for (const struct lx_export_format *const *format = lx_export_formats; *format; format++)
		if (strcmp((*format)->name, name) == 0)
			return *format;
	return NULL;
}

/* Length of the longest of the blank-separated endings that `name` (of `length` bytes) has. */
static size_t ending(const char *name, size_t length, const char *endings)
{
	size_t best = 0;

	for (const char *at = endings; *at;) {
		size_t size = strcspn(at, " ");

		if (size > best && size < length && strncasecmp(name + length - size, at, size) == 0)
			best = size;
		at += size + strspn(at + size, " ");
	}
	return best;
}

const struct lx_export_format *lx_export_format_of_file(const char *path)
{
	const struct lx_export_format *found = NULL;
	size_t length = strlen(path), longest = 0;

	if (ending(path, length, ".gz"))
		length -= strlen(".gz");
	for (const struct lx_export_format *const *format = lx_export_formats; *format; format++) {
		size_t size = ending(path, length, (*format)->extensions);

		if (size > longest) {
			longest = size;
			found = *format;
		}
	}
	return found;
}

const char *lx_export_program(const struct lx_export *export)
{
	return lx_functions_program(&export->pass->functions, export->process)->name;
}

const char *lx_export_category(const struct lx_lexgion *lexgion)
{
	static const char *const prefixes[] = {
#define LX_X(number, NAME, name, prefix) prefix,
		LX_DOMAINS(LX_X)
#undef LX_X
	};

	if (lexgion->flags & LX_LEXGION_C)
		return "c";
	if (lexgion->flags & LX_LEXGION_IMPORT)
		return "import";
	return lexgion->domain < LX_DOMAIN_COUNT ? prefixes[lexgion->domain] : "other";
}

const char *lx_export_ended(enum lx_ended ended)
{
	static const char *const words[] = {
		[LX_ENDED_YIELD] = "yield",   [LX_ENDED_UNWIND] = "exception", [LX_ENDED_SWITCH] = "switch",
		[LX_ENDED_OPEN] = "open",     [LX_ENDED_LOST] = "lost",        [LX_ENDED_MODE] = "mode",
		[LX_ENDED_POINT] = "point",
	};

	return ended == LX_ENDED_RETURN ? NULL : words[ended];
}

size_t lx_export_losses(const struct lx_process *process, char *text, size_t size)
{
	size_t used;

	if (process->lost_total == 0)
		return 0;
	used = (size_t)snprintf(text, size, "lost %" PRIu64 " events:", process->lost_total);
	for (unsigned i = 0; i < LX_LOSS_COUNT; i++)
		if (process->lost[i] > 0 && used < size)
			used += (size_t)snprintf(text + used, size - used, " %s %" PRIu64 ",", lx_loss_text(i), process->lost[i]);
	if (used >= size)
		used = size - 1;
	text[--used] = '\0'; /* the last comma, or the colon */
	return used;
}

/* Ticks of the first loss. */
static uint64_t lost_at(const struct lx_process *process)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < LX_LOSS_COUNT; i++)
		if (process->state.lost_at[i] > 0 && process->state.lost_at[i] < first)
			first = process->state.lost_at[i];
	return first < process->first || first > process->last ? process->last : first;
}

size_t lx_export_moments(struct lx_export *export,
			 void (*put)(struct lx_export *export, uint64_t ticks, const char *text, size_t size))
{
	char text[512];
	uint64_t lost = export->process->lost_total > 0 ? lost_at(export->process) : UINT64_MAX;
	size_t count = export->mark_count + (export->process->lost_total > 0);

	for (size_t i = 0; put && i <= export->mark_count; i++) {
		const struct lx_mode_mark *mark = &export->marks[i];
		bool last = i == export->mark_count;

		if (lost != UINT64_MAX && (last || lost < mark->ticks)) {
			put(export, lost, text, lx_export_losses(export->process, text, sizeof(text)));
			lost = UINT64_MAX;
		}
		if (!last)
			put(export, mark->ticks, text,
			    (size_t)snprintf(text, sizeof(text), "%s %s", lx_domain_name(mark->domain),
					     lx_mode_text(mark->mode)));
	}
	return count;
}

static void new_thread(struct lx_export *export, const struct lx_thread_info *thread)
{
	export->thread = thread;
	export->tid = thread->tid + (export->pid - export->process->state.pid);
	export->threads++;
	if (export->format->thread)
		export->format->thread(export);
}

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		  struct lx_span *span)
{
	struct lx_export *export = context;

	(void)process;
	if (!lx_pass_wants(export->pass, thread))
		return;
	if (__builtin_expect(thread != export->thread, 0))
		new_thread(export, thread);
	if (export->format->enter)
		export->format->enter(export, span);
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		  struct lx_span *span)
{
	struct lx_export *export = context;

	(void)process;
	if (!lx_pass_wants(export->pass, thread))
		return;
	export->slices++;
	export->format->leave(export, span);
}

static void told(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 const struct lx_told *told)
{
	struct lx_export *export = context;

	(void)process;
	if (!export->format->told || !lx_pass_wants(export->pass, thread))
		return;
	if (__builtin_expect(thread != export->thread, 0))
		new_thread(export, thread);
	export->slices += told->kind == LX_EV_SPAN;
	export->format->told(export, told);
}

static void run_end(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		    const struct lx_run *run)
{
	struct lx_export *export = context;

	(void)process;
	if (export->format->run_end && lx_pass_wants(export->pass, thread))
		export->format->run_end(export, run);
}

/* The pid to show: that of the kernel, made unlike those of earlier processes; 0, of a damaged trace, is the idle task. */
static uint32_t shown_pid(const struct lx_trace *trace, const struct lx_process *process)
{
	uint32_t pid = process->state.pid ? process->state.pid : PID_STEP;

	for (const struct lx_process *other = trace->processes; other < process; other++)
		if (other->state.pid == process->state.pid && pid < INT32_MAX - PID_STEP)
			pid += PID_STEP;
	return pid;
}

static int begin_process(void *context, struct lx_pass *pass)
{
	struct lx_export *export = context;

	export->process = pass->process;
	export->thread = NULL;
	export->pid = shown_pid(pass->trace, pass->process);
	export->process_slices = export->slices;
	if (lx_modes_find(export->process, &export->marks, &export->mark_count) < 0)
		return -ENOMEM;
	return export->format->process ? export->format->process(export) : 0;
}

static int end_process(void *context, struct lx_pass *pass)
{
	struct lx_export *export = context;

	(void)pass;
	if (export->error == 0 && export->format->process_end)
		export->error = export->format->process_end(export);
	free(export->marks);
	export->marks = NULL;
	export->processes += export->slices > export->process_slices;
	export->process_index++;
	return export->error;
}

int lx_export_run(struct lx_export *export)
{
	static const struct lx_pass_ops ops = {
		.spans = { .enter = enter, .leave = leave, .told = told, .run_end = run_end },
		.begin = begin_process,
		.end = end_process,
	};
	const struct lx_export_format *format = export->format;
	int error = 0;

	export->origin = export->pass->trace->first;
	export->state = calloc(1, format->state_size);
	if (!export->state)
		return -ENOMEM;
	if (format->start)
		error = format->start(export);
	if (error == 0)
		error = lx_pass_run(export->pass, &ops, export);
	if (error == 0 && format->finish)
		error = format->finish(export);
	if (format->release)
		format->release(export);
	free(export->marks);
	free(export->state);
	export->marks = NULL;
	export->state = NULL;
	return error;
}
