/* The parts of `lextrace view`: cmd_view.c chooses events, cmd_view_line.c writes them. */
#ifndef LX_CLI_CMD_VIEW_H
#define LX_CLI_CMD_VIEW_H

#include "cli/output.h"
#include "view/pass.h"

/* What is kept of a process: lines repeat, so their fixed parts are made once. */
struct lx_view_source {
	bool wanted;
	char *program;   /* " app.py:4127 " */
	bool *threads;   /* by number: wanted; NULL: all are */
	bool *lexgions;  /* by id, as lx_functions_map(): match; NULL: all do */
	char **fields;   /* likewise: text of the fields that a lexgion gives; NULL: not made yet */
};

struct lx_view {
	struct lx_pass pass;             /* filters and functions; makes no pass */
	struct lx_output out;
	struct lx_view_source *sources;  /* by the process's place in trace */
	bool json, date, gmt;
	uint64_t before;                 /* realtime ns of the line above; 0: none */
	int64_t second;                  /* since the epoch, that `clock` stands for */
	char clock[40];                  /* "[2026-11-30 17:48:17." */
};

/* Prepares the lines of a process. Returns 0 or -ENOMEM. */
int lx_view_line_init(struct lx_view *view, struct lx_view_source *source, const struct lx_process *process);

/* Writes one line. Returns 0 or -ENOMEM. */
int lx_view_line(struct lx_view *view, const struct lx_merged *event);

/* Writes what a long event has behind its header, as more fields of its line. Returns 0 or -ENOMEM. */
int lx_view_more(const struct lx_view *view, const struct lx_event *event);

/*
 * A moment as users write it: seconds from the run's start ("2.81"), or a time of day ("17:48:17.5"), of the run's first
 * day or, where that lies before its start, the day after. False: it is neither.
 */
bool lx_view_time(const struct lx_trace *trace, const char *text, bool gmt, uint64_t *real_ns);

#endif
