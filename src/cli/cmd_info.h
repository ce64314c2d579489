/* The parts of `lextrace info`: cmd_info.c reads the run, the others say what it is. */
#ifndef LX_CLI_CMD_INFO_H
#define LX_CLI_CMD_INFO_H

#include "base/json.h"
#include "cli/output.h"
#include "view/health.h"

struct lx_info {
	struct lx_pass pass;
	struct lx_health health;
	struct lx_output out;
	bool json, packets;
	uint64_t bytes, files;  /* of the folder */
	double clock_error;     /* ns: largest distance of a packet's clock readings from the run's straight line */
};

/* Each prints the whole answer. Returns 0 or -ENOMEM. */
int lx_info_text(struct lx_info *info);
int lx_info_json(struct lx_info *info);

/* "program     tools/buildhtml.py …": a line has one fact, or two where there is room; `ends`: this one ends it. */
void lx_info_fact(const struct lx_info *info, const char *name, const char *text, bool ends);

/* "Python TRACING (C calls on), User TRACING". Returns out. */
char *lx_info_modes(const struct lx_process *process, char *out, size_t size);

/* Configuration, changes of modes, what was counted and left out: facts, or members of the process's object. */
void lx_info_say_control(const struct lx_info *info);
void lx_info_json_control(struct lx_json *js, const struct lx_process *process);

/* ns from a process's begin to its end, as far as they are known. */
double lx_info_duration(const struct lx_process *process);

/* Number of events in a packet. */
uint64_t lx_info_packet_events(const struct lx_packet_ref *packet);

#endif
