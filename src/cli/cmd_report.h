/* The parts of `lextrace report`: cmd_report.c reads the options, each cmd_report_SUBJECT.c gives one answer. */
#ifndef LX_CLI_CMD_REPORT_H
#define LX_CLI_CMD_REPORT_H

#include "base/json.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/table.h"
#include "view/health.h"
#include "view/stats.h"

struct lx_report {
	struct lx_pass pass;
	struct lx_health health;
	struct lx_output out;
	struct lx_json js;
	bool json, pager;
	const char *color;
	const char *dir;        /* as typed; NULL: the newest run was taken */
	/* Options; NULL or false: not given. */
	const char *sort, *match, *columns, *root, *caller_of, *callee_of;
	uint64_t top;           /* 0: all */
	bool own, tree, invert, imports, ascii, threads, processes;
	double min;             /* percent */
	uint32_t depth;
	uint64_t counted;       /* calls of the answer that MONITORING counted */
	bool callers;           /* the answer is of callers, which counted calls do not know */
};

/* Each prints its answer and returns the exit status; -ENOMEM where memory ran out before anything was printed. */
int lx_report_table(struct lx_report *report);
int lx_report_tree(struct lx_report *report);
int lx_report_edges(struct lx_report *report);
int lx_report_threads(struct lx_report *report);

/*
 * After the pass: opens the output and prints the lines on top, or with --json opens the object and writes its first
 * members. calls: what the answer counts; functions: how many there are, 0: not known. False: the run has no event, which
 * was said; only lx_report_end() is left to do.
 */
bool lx_report_begin(struct lx_report *report, uint64_t calls, uint32_t functions);

/*
 * For answers that rows say nothing to, as these do not tell who called whom: false, after a message, if the run has nothing
 * else. `calls`: those that the answer found.
 */
bool lx_report_has_callers(struct lx_report *report, uint64_t calls);

/* Ends the JSON object and the output. */
int lx_report_end(struct lx_report *report, int status);

/* "next: lextrace report --tree    lextrace report --callers NAME …": on a terminal only. name may be NULL. */
void lx_report_next(struct lx_report *report, const char *name);

/* "name", "file", "line", "domain", "c", for an import "import", of the object that is open. */
void lx_report_json_function(struct lx_report *report, uint32_t function);

/* Share in percent; 0 of 0 is 0. */
static inline double lx_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Red, yellow or plain: how much a share of self time matters. */
enum lx_style lx_report_heat(double percent);

#endif
