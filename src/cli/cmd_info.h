/* The parts of `lextrace info`: cmd_info.c reads the run, the others say what it is. */
#ifndef LX_CLI_CMD_INFO_H
#define LX_CLI_CMD_INFO_H

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

/* ns from a process's begin to its end, as far as they are known. */
double lx_info_duration(const struct lx_process *process);

/* Number of events in a packet. */
uint64_t lx_info_packet_events(const struct lx_packet_ref *packet);

#endif
