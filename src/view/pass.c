#include "view/pass.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lx_pass_init(struct lx_pass *pass)
{
	pass->totals = calloc(pass->trace->process_count + 1, sizeof(*pass->totals));
	if (!pass->totals)
		return -ENOMEM;
	return lx_functions_init(&pass->functions, pass->trace);
}

void lx_pass_free(struct lx_pass *pass)
{
	lx_functions_free(&pass->functions);
	free(pass->totals);
	pass->totals = NULL;
}

static bool is_number(const char *text, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	return strcmp(text, digits) == 0;
}

bool lx_pass_has_process(const struct lx_pass *pass, const struct lx_process *process)
{
	const char *wanted = pass->only_process;
	const char *program = process->key[LX_KEY_program];

	return !wanted || is_number(wanted, process->state.pid) || strcmp(wanted, process->name) == 0 ||
	       (program && strcmp(wanted, program) == 0);
}

bool lx_pass_has_thread(const struct lx_pass *pass, const struct lx_thread_info *thread)
{
	const char *wanted = pass->only_thread;

	return !wanted || is_number(wanted, thread->number) || (thread->tid && is_number(wanted, thread->tid)) ||
	       fnmatch(wanted, thread->name, FNM_NOESCAPE) == 0;
}

static int choose_threads(struct lx_pass *pass, const struct lx_process *process)
{
	if (!pass->only_thread)
		return 0;
	pass->threads = calloc(process->thread_count + 1, sizeof(*pass->threads));
	if (!pass->threads)
		return -ENOMEM;
	for (size_t i = 0; i < process->thread_count; i++)
		pass->threads[i] = lx_pass_has_thread(pass, &process->threads[i]);
	return 0;
}

static int run_process(struct lx_pass *pass, const struct lx_process *process, const struct lx_pass_ops *ops, void *context)
{
	struct lx_spans_totals *totals = &pass->totals[process - pass->trace->processes];
	uint32_t *map = NULL;
	int error = lx_functions_map(&pass->functions, process, &map);

	pass->process = process;
	pass->map = map;
	pass->threads = NULL;
	if (!error)
		error = choose_threads(pass, process);
	if (!error && ops->begin)
		error = ops->begin(context, pass);
	if (!error)
		error = lx_spans_run(process, &ops->spans, context, totals);
	if (!error && ops->end)
		error = ops->end(context, pass);
	free(pass->threads);
	free(map);
	return error;
}

int lx_pass_run(struct lx_pass *pass, const struct lx_pass_ops *ops, void *context)
{
	int error = 0;

	for (size_t i = 0; i < pass->trace->process_count && !error; i++)
		if (lx_pass_has_process(pass, &pass->trace->processes[i]))
			error = run_process(pass, &pass->trace->processes[i], ops, context);
	return error;
}
