#include <stdio.h>

#include "transform/trace.h"

struct kind {
	enum lx_domain domain;
	const char *name;
	enum lx_role role;
	bool lexgion;
};

#define PAYLOAD_LEXGION true
#define PAYLOAD_STACK false
#define PAYLOAD_MODE false
#define PAYLOAD_RUN true
#define PAYLOAD_INT true
#define PAYLOAD_FLOAT true
#define PAYLOAD_TEXT true
#define PAYLOAD_SPAN true
#define PAYLOAD_POINT true

static const struct kind kinds[LX_EV_COUNT] = {
#define LX_X(id, NAME, domain, name, role, payload) [id] = {LX_DOMAIN_##domain, name, LX_ROLE_##role, PAYLOAD_##payload},
	LX_EVENT_KINDS(LX_X)
#undef LX_X
};

static const char *const prefixes[LX_DOMAIN_COUNT] = {
#define LX_X(number, NAME, name, prefix) [number] = prefix,
	LX_DOMAINS(LX_X)
#undef LX_X
};

const char *lx_event_name(uint32_t kind)
{
	static char names[LX_EV_COUNT][48]; /* made when first asked for: prefix and name stand in two tables */

	if (kind >= LX_EV_COUNT)
		return "?";
	if (names[kind][0] == '\0')
		snprintf(names[kind], sizeof(names[kind]), "%s:%s", prefixes[kinds[kind].domain], kinds[kind].name);
	return names[kind];
}

enum lx_role lx_event_role(uint32_t kind)
{
	return kind < LX_EV_COUNT ? kinds[kind].role : LX_ROLE_OTHER;
}

bool lx_event_has_lexgion(uint32_t kind)
{
	return kind < LX_EV_COUNT && kinds[kind].lexgion;
}
