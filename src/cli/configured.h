/* What the configuration that a run keeps says about the run. */
#ifndef LX_CLI_CONFIGURED_H
#define LX_CLI_CONFIGURED_H

#include "view/pass.h"

#define LX_PLACE_SIZE 1024

/* A section for named places that fits none of those that the run met. */
struct lx_unmatched {
	char *file;  /* as people write it, one line: "trace.conf" */
	uint32_t line;
	char *title; /* "[Lexgion(Python:Solvr.*)]" */
};

/*
 * All of them, in the order of the files. A process that met no place at all tells nothing. *list is to be freed by
 * lx_unmatched_free(). Returns 0 or -ENOMEM.
 */
int lx_unmatched_find(const struct lx_pass *pass, struct lx_unmatched **list, size_t *count);
void lx_unmatched_free(struct lx_unmatched *list, size_t count);

/*
 * What set a domain's mode of the process last: "trace.conf:2", "PINSIGHT_TRACE_PYTHON", "ctl", "api"; "" if nothing is
 * known. One line; returns out.
 */
const char *lx_mode_cause(const struct lx_pass *pass, const struct lx_process *process, uint32_t domain, char *out,
			  size_t size);

/* "PATH:LINE" or another word of the journal, its path as short as people write it. */
const char *lx_short_cause(const struct lx_pass *pass, const struct lx_process *process, const char *cause);

/* The rules of a configuration; NULL: not known, or no memory. To be freed by lx_rules_free(). */
struct lx_rules *lx_config_rules(const struct lx_config *config);

#endif
