/*
 * Control of a running program: its configuration, the modes of its domains, requests from outside, INTROSPECT. Nothing here
 * knows Python: python_control.c calls it with the GIL held; in a program without Python the regions do (lx_control_serve).
 */
#ifndef LX_CAPTURE_CONTROL_H
#define LX_CAPTURE_CONTROL_H

#include "capture/meter.h"

/* Set before lx_control_start(): the Python domain is OFF, unless the environment or the configuration says otherwise. */
extern LX_API bool lx_annotations_only;

/*
 * Before a session starts: reads the configuration (`config`; NULL: $PINSIGHT_TRACE_CONFIG_FILE, else
 * ./pinsight_trace_config.txt, else none) and the PINSIGHT_TRACE_* variables, and sets the modes. `c_calls`: C calls are on
 * by default; false: only where a configuration file leaves them so. Lines that are wrong are left out. 0; -ENOMEM; with
 * `config` given: negative errno, the file cannot be read.
 */
LX_API int lx_control_start(const char *config, bool c_calls);
/* After it has: says and keeps what was found. */
LX_API void lx_control_started(void);

/* Reads the configuration again. 1: new rules are in force; 0: nothing has changed; -EINVAL: it is wrong, or other negative
 * errno: it cannot be read; nothing changes then, and lx_control_error says why. */
LX_API int lx_control_reload(void);
LX_API const char *lx_control_error(void);

/* Sets the mode of a domain. False: it had it. On a thread with its guard set. */
LX_API bool lx_control_mode(struct lx_thread *thread, uint32_t domain, uint32_t mode, const char *cause);
/* Sets those that are not -1. False: none changed. */
LX_API bool lx_control_modes(struct lx_thread *thread, const int8_t modes[LX_RULED_DOMAINS], const char *cause);

/* After a reload: sets the modes of which the file says something else than before. Bits of these domains. */
LX_API uint32_t lx_control_reload_modes(struct lx_thread *thread);

/* A request from outside, if there is a new one: done but for RELOAD, which is left to the caller, true, to be answered. */
LX_API bool lx_control_request(struct lx_thread *thread);
/* Answers the request at hand. */
LX_API void lx_control_answer(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "PATH:LINE" of the line that left this work. */
LX_API void lx_control_cause(const struct lx_work *work, char *out, size_t size);

/* The knob's value as text, which stays; NULL: the configuration has none of that name. */
LX_API const struct lx_knob *lx_control_knob(const char *name, struct lx_knob *out);

/* ---- SIGUSR1 ---- */

/* Puts our handler in front of what is there now, if it is not there yet. Any thread. */
LX_API void lx_signal_take(void);
LX_API bool lx_signal_is_ours(void);
/* Whether the program was started to ignore it, which it hands on to its children: left as it is, said in a note. */
LX_API bool lx_signal_is_ignored(void);
/* Puts back what was there, if ours is still in place. */
LX_API void lx_signal_give_back(void);
/* Notes once that the program has taken SIGUSR1 for itself. */
LX_API void lx_signal_check(void);

/* ---- INTROSPECT: capture/introspect.c ---- */

/* The chunk is made and the script started. The pause, if there is one, begins: LX_ATTENTION_PAUSE. */
LX_API void lx_introspect_begin(const struct lx_action *action);
/* Waits for the pause to end, or a signal, at most 50 ms. Without the GIL. */
LX_API void lx_introspect_wait(void);
/* Whether it is over, by time or because a reload is due. */
LX_API bool lx_introspect_is_over(void);
/* Ends it at once, for all who wait: the program wants to end. */
LX_API void lx_introspect_interrupt(void);
LX_API void lx_introspect_end(const char *cause);
/* Those who wait look again. Also in a signal handler. */
LX_API void lx_introspect_wake(void);

/* ---- Programs without Python ---- */

/* Python's hooks look after LX_ATTENTION_*. */
extern LX_API bool lx_python_attends;
/* Looks after it here and now. With the thread's guard set. */
LX_API void lx_control_serve(struct lx_thread *thread);

#endif
