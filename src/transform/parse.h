/*
 * Bytes of a process folder to the structures of trace.h, without files: the part that hostile input meets. Every
 * function takes what is whole and leaves the rest; errors are -ENOMEM only. What they keep lies in the store.
 */
#ifndef LX_TRANSFORM_PARSE_H
#define LX_TRANSFORM_PARSE_H

#include "transform/store.h"
#include "transform/trace.h"

/* lextrace/state: false (and defaults in process->state) if the bytes are no state. A newer version is true. */
bool lx_parse_state(struct lx_process *process, const void *data, size_t size);

/* lextrace/process. `text` is decoded in place and kept. */
void lx_parse_process(struct lx_process *process, char *text, size_t size);

/* lextrace/lexgions. */
int lx_parse_lexgions(struct lx_process *process, struct lx_store *store, const void *data, size_t size);

/*
 * lextrace/rows, `data` 8-byte aligned, changed in place and kept; before lx_parse_finish(). Rows of a thread number that no
 * program reaches are left out.
 */
void lx_parse_rows(struct lx_process *process, void *data, size_t size);

/* lextrace/threads; after lx_parse_finish(). Threads with packets are known from these. */
void lx_parse_threads(struct lx_process *process, const char *text, size_t size);

/* lextrace/journal. */
int lx_parse_journal(struct lx_process *process, struct lx_store *store, const char *text, size_t size);

/* lextrace/config, and those before: `text`, a NUL behind it, is changed in place and kept. */
void lx_parse_config(struct lx_config *config, char *text, size_t size);

/* After the configurations and the journal: since when each was in force. */
void lx_parse_reloads(struct lx_process *process);

/* Thread numbers below are taken as they come; larger ones need as many packets or rows. */
#define LX_THREADS_PLENTY (1u << 20)

/* Copies text of at most LX_THREAD_NAME_SIZE bytes; bytes that are no UTF-8 become '?'. */
void lx_parse_thread_name(struct lx_thread_info *thread, const char *text, size_t size);

/*
 * One stream: `data`, 8-byte aligned, is what was appended, `open` (may be NULL) a copy of its lextrace/packet-K. Both
 * are kept, and the copy's header is completed: events, content_size, packet_size. The first packet's uuid is that of all.
 */
int lx_parse_stream(struct lx_store *store, struct lx_stream *stream, const void *data, size_t size, void *open,
		    size_t open_size);

/* After all streams: threads, times, losses, clock. */
int lx_parse_finish(struct lx_process *process, struct lx_store *store);

/* Part of lx_parse_finish(): ns_per_tick and its origin. */
void lx_parse_clock(struct lx_process *process);

/*
 * Size in bytes of the whole packet at data, or 0: magic, uuid (NULL: any) and sizes are right and the packet
 * lies within `size` bytes.
 */
size_t lx_packet_check(const void *data, size_t size, const uint8_t *uuid);

#endif
