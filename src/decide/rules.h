/*
 * The configuration as rules: what the text of a configuration file says, and what follows from it for a place in the
 * program and a thread. Pure: from text to rules to decisions, no state of the process, no file, no clock. The traced
 * program and the command line use the same code, so that `lextrace config explain` shows what happens.
 *
 * The language is docs/configuration.md. Numbers of lines and columns begin at 1.
 */
#ifndef LX_DECIDE_RULES_H
#define LX_DECIDE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lextrace/format.h"

/* ---- What domains have: decide/domains.c ---- */

#define LX_SWITCHES_MAX 64     /* event switches of a domain */
#define LX_PUNIT_KINDS_MAX 3   /* OpenMP: team, thread, device */
#define LX_RULED_DOMAINS 6     /* Python … CUDA: the domains that a configuration speaks of are those below it */

struct lx_switch_info {
	const char *name;      /* "pysysmon_py_start" */
	bool on;               /* by default */
};

struct lx_domain_info {
	const char *name;      /* "Python" */
	const struct lx_switch_info *switches; /* ended by name NULL; the bit of a switch is its position */
	const char *punits[LX_PUNIT_KINDS_MAX + 1]; /* "thread"; ended by NULL */
};

/* The bits of the switches that capture asks for, by domain. */
enum lx_python_switch { LX_PY_START, LX_PY_RETURN, LX_C_START, LX_C_RETURN, LX_IMPORT };
enum lx_user_switch { LX_REGION_START, LX_REGION_RETURN };

const struct lx_domain_info *lx_domain_info(uint32_t domain); /* below LX_RULED_DOMAINS */
/* The domain of that name (any case), or -1. */
int lx_domain_of(const char *name, size_t size);
/* The mode of that name: OFF STANDBY MONITORING TRACING, FALSE 0, MONITOR, TRUE 1 ON, any case; or -1. */
int lx_mode_of(const char *name, size_t size);
const char *lx_mode_name(uint32_t mode);
/*
 * Modes as an action or a command writes them: "STANDBY" (all domains), "Python:STANDBY, User:OFF"; `separator` is the sign
 * after the domain (':' in the file, '=' for ctl). modes[domain] gets enum lx_mode, or -1 where nothing is said.
 * True; else false with what is wrong in `message`.
 */
bool lx_modes_parse(const char *text, size_t size, char separator, int8_t modes[LX_RULED_DOMAINS], char *message,
		    size_t message_size);

/* ---- Rules ---- */

#define LX_LINE_BUILT_IN 0u
#define LX_LINE_ENVIRONMENT UINT32_MAX /* PINSIGHT_TRACE_RATE or _WINDOW */
#define LX_LINE_COMMAND (UINT32_MAX - 1) /* an option of `lextrace run` or an argument of lextrace.start() */

struct lx_range {
	uint32_t first, last;
};

/* A set of punits of one kind. */
struct lx_punits {
	bool said;             /* false: no limit */
	uint32_t line;
	size_t count;          /* 0: none */
	struct lx_range *ranges; /* in order, disjoint, not touching */
};

struct lx_action {
	int8_t modes[LX_RULED_DOMAINS]; /* enum lx_mode, or -1: stays */
	bool introspect;
	int64_t seconds;       /* of the pause; 0: none; -1: until SIGUSR1 */
	const char *script;    /* NULL: none */
	const char *text;      /* as written */
};

/* A value and the line that says it; line LX_LINE_BUILT_IN: nothing says it here. */
struct lx_value {
	int64_t number;
	uint32_t line;
};

enum lx_trigger { LX_TRIGGER_FIRST, LX_TRIGGER_ALL };

/* The window keys that one section says itself. */
struct lx_window_keys {
	struct lx_value starts_at, max_traces, rate, max_c_traces, trigger; /* trigger: enum lx_trigger */
	double timeout;        /* seconds */
	uint32_t timeout_line;
	const struct lx_action *action; /* with action_line and this NULL: written as none */
	uint32_t action_line;
};

/* The event switches that one section says itself, for one domain. */
struct lx_switches {
	uint64_t said, on;     /* bits */
	uint32_t line[LX_SWITCHES_MAX];
};

enum lx_section_kind {
	LX_SECTION_DOMAIN,         /* [Python.default] */
	LX_SECTION_PUNIT,          /* [Python.thread(0-1)] */
	LX_SECTION_LEXGION,        /* [Lexgion.default] */
	LX_SECTION_LEXGION_DOMAIN, /* [Lexgion(Python).default] */
	LX_SECTION_NAMED,          /* [Lexgion(Python:solver.py:Solver.run)] */
};

/* How a named section's name is written, strongest first: the order in which sections apply. */
enum lx_strength { LX_NAME_WITH_FILE, LX_NAME_EXACT, LX_NAME_PATTERN };

/*
 * A section: all that the file says of one target. Headers of the same target are one section, the last value of a key
 * wins; a header with several names is one section for each name. The LX_SECTION_DOMAIN sections of all domains, the
 * [Lexgion(Domain).default] of all domains and [Lexgion.default] are always there, with line 0 where nothing writes them.
 */
struct lx_section {
	enum lx_section_kind kind;
	uint32_t domain;           /* not for LX_SECTION_LEXGION */
	uint32_t line;             /* of its first header */
	uint32_t number;           /* counts the sections of the rules */
	uint32_t group;            /* the sections whose windows begin anew together: those that share a header or an action */
	const char *title;         /* "[Lexgion(Python:Solver.*)]", this name alone */
	const char *name;          /* NAMED: as written, without the domain: "solver.py:Solver.run", "0x4010bd" */
	const char *punit_text;    /* "Python.thread(0-1)", as messages and explain show it; NULL: none */
	struct lx_window_keys window;
	struct lx_switches *switches; /* of its domain; LX_SECTION_LEXGION: an array by domain; NULL: none said */
	struct lx_value mode;      /* DOMAIN: enum lx_mode */
	struct lx_punits punits[LX_PUNIT_KINDS_MAX]; /* by the domain's kinds */
	bool removed;              /* [REMOVE …]: not there for anybody */
	bool from_default;         /* NAMED: ": Lexgion(Python).default" stands after the colon */
	bool from_all;             /* NAMED: ": Lexgion.default" does */
	struct lx_pattern *pattern; /* NAMED: for decide/match.c */
	enum lx_strength strength; /* NAMED */
};

struct lx_knob {
	const char *name;
	const char *text;          /* the value as written */
	enum { LX_KNOB_INT, LX_KNOB_DOUBLE, LX_KNOB_STRING } kind;
	int64_t integer;
	double real;               /* also of an int */
	uint32_t line;
};

struct lx_rules {
	struct lx_section **sections; /* in file order; those always there first */
	size_t section_count;
	struct lx_knob *knobs;
	size_t knob_count;
	size_t errors, warnings;   /* messages given */
};

/* What stands beside the file. All NULL: nothing. */
struct lx_rules_environment {
	const char *modes[LX_RULED_DOMAINS]; /* PINSIGHT_TRACE_PYTHON …; checked here, applied by the caller */
	const char *rate;          /* PINSIGHT_TRACE_RATE */
	const char *window;        /* PINSIGHT_TRACE_WINDOW */
	int c_calls;               /* C calls by default of [Python.default]: 1 on, 0 off, -1: as the language has it (on) */
};

struct lx_message {
	bool error;                /* false: a warning */
	const char *source;        /* NULL: the file; else "PINSIGHT_TRACE_RATE" */
	uint32_t line, column, span; /* column counts characters; span: how many of them are wrong, at least 1 */
	const char *text;          /* "unknown key 'max_num_trace' (did you mean 'max_num_traces'?)" */
	const char *text_of_line;  /* the line of the file, not terminated; NULL without one */
	size_t size_of_line;
};

typedef void (*lx_message_fn)(void *context, const struct lx_message *message);

/*
 * Rules of a text (`size` bytes, any bytes at all). Each line is understood or one message is given, in the order of the
 * lines; a bad line costs itself, a bad header its section. `message` may be NULL. Returns 0, or -ENOMEM without rules.
 */
int lx_rules_parse(const char *text, size_t size, const struct lx_rules_environment *environment, lx_message_fn message,
		   void *context, struct lx_rules **out);
void lx_rules_free(struct lx_rules *rules);

/* ---- Decisions: decide/match.c, decisions.c. Names are matched by one thread at a time ---- */

/* A place, as events have it. */
struct lx_subject {
	uint32_t domain;
	const char *name, *file;   /* UTF-8; file "" for C code */
	size_t name_size, file_size;
	uint32_t line;
};

/* Whether a named section's name fits. */
bool lx_section_matches(const struct lx_section *section, const struct lx_subject *subject);

/* The one section that applies: NAMED by strength, then file order; [Lexgion(Domain).default]. Never NULL. */
const struct lx_section *lx_rules_section(const struct lx_rules *rules, const struct lx_subject *subject);

struct lx_window {
	uint64_t starts_at;
	int64_t max_traces;        /* -1 no limit */
	uint64_t rate;             /* at least 1 */
	int64_t max_c_traces;      /* -1 no bound */
	double timeout;            /* seconds; 0: none */
	enum lx_trigger trigger;
	const struct lx_action *action; /* NULL: none */
	uint32_t group;            /* whose action it is: windows of a group begin anew together */
};

/* The window in force for a lexgion to which `section` applies. */
void lx_rules_window(const struct lx_rules *rules, const struct lx_section *section, struct lx_window *out);

/* Where each value of that window comes from: the section whose own key counts, or NULL: built in. */
enum lx_window_key { LX_KEY_STARTS_AT, LX_KEY_MAX_TRACES, LX_KEY_RATE, LX_KEY_MAX_C_TRACES, LX_KEY_TIMEOUT, LX_KEY_TRIGGER,
		     LX_KEY_ACTION };
const struct lx_section *lx_rules_window_source(const struct lx_rules *rules, const struct lx_section *section,
						enum lx_window_key key);

/* Numbers of a thread's punits by the domain's kinds; LX_NO_PUNIT where it has none: then no set of that kind holds it. */
#define LX_NO_PUNIT UINT32_MAX

bool lx_punits_hold(const struct lx_punits *set, uint32_t punit);
/* Whether the domain records on these punits: its Domain.kind keys and its punit sections. */
bool lx_rules_domain_admits(const struct lx_rules *rules, uint32_t domain, const uint32_t punits[LX_PUNIT_KINDS_MAX]);
/* Whether the section's own set holds them. */
bool lx_section_admits(const struct lx_section *section, const uint32_t punits[LX_PUNIT_KINDS_MAX]);
/* The event switches in force for a lexgion of the section on these punits, as bits. */
uint64_t lx_rules_switches(const struct lx_rules *rules, const struct lx_section *section, uint32_t domain,
			   const uint32_t punits[LX_PUNIT_KINDS_MAX]);
/* The section that says that switch there, or NULL: built in. */
const struct lx_section *lx_rules_switch_source(const struct lx_rules *rules, const struct lx_section *section,
						uint32_t domain, uint32_t bit, const uint32_t punits[LX_PUNIT_KINDS_MAX]);
/* Whether the switches of the section, or of the domain if NULL, are not the same on all punits. */
bool lx_rules_switches_vary(const struct lx_rules *rules, const struct lx_section *section, uint32_t domain);

const struct lx_section *lx_rules_domain(const struct lx_rules *rules, uint32_t domain); /* [Domain.default] */
const struct lx_knob *lx_rules_knob(const struct lx_rules *rules, const char *name);

#endif
