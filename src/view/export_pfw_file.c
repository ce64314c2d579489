#include "lextrace/pfw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "view/export.h"

/* The name without ".gz" where no gzip is built in; malloc'd. NULL: no memory. */
static char *text_name(const char *out)
{
	size_t length = strlen(out);

	if (length > 3 && strcasecmp(out + length - 3, ".gz") == 0)
		length -= 3;
	return strndup(out, length);
}

static int open_file(struct lx_out *file, const char *out, bool text)
{
	int error = lx_out_open_in_program(file, out, !text);
	char *name;

	if (error != -EOPNOTSUPP)
		return error;
	name = text_name(out);
	error = name ? lx_out_open_in_program(file, name, false) : -ENOMEM;
	free(name);
	return error;
}

static int export_to(struct lx_pass *pass, struct lx_out *file, const struct lx_pfw_options *options)
{
	struct lx_export export = { .pass = pass, .format = &lx_export_pfw, .out = file, .pfw = options };
	int error = lx_export_run(&export);

	if (error < 0) {
		lx_out_abandon(file);
		return error;
	}
	return lx_out_commit(file);
}

int lx_pfw_write(const char *process_folder, const char *out, const struct lx_pfw_options *options, char *message,
		 size_t size)
{
	static const struct lx_pfw_options defaults;
	struct lx_pass pass = { .totals = NULL };
	struct lx_trace *trace = NULL;
	struct lx_out file;
	int error;

	if (!options)
		options = &defaults;
	if ((unsigned)options->dialect > LX_PFW_1 || (unsigned)options->metric > LX_PFW_SEC) {
		snprintf(message, size, "no such dialect or time metric: %s", out);
		return -EINVAL;
	}
	error = lx_trace_open(process_folder, &trace, message, size);
	if (error < 0)
		return error;
	pass.trace = trace;
	error = lx_pass_init(&pass);
	if (error == 0)
		error = open_file(&file, out, options->text);
	if (error == 0)
		error = export_to(&pass, &file, options);
	if (error < 0)
		snprintf(message, size, "cannot write %s: %s; the trace is in %s", out, strerror(-error), process_folder);
	lx_pass_free(&pass);
	lx_trace_close(trace);
	return error;
}
