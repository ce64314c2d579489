/*
 * What the files of record/ share. All is changed with lx_session.lock held; `active`, `wanted` and `epoch` are also read
 * without it, where a stale value only means the slow path.
 */
#ifndef LX_RECORD_INTERNAL_H
#define LX_RECORD_INTERNAL_H

#include <pthread.h>

#include "record/record.h"
#include "sink/sink.h"

#define LX_PACKET_MEDIUM 65536u /* bytes: after two of LX_PACKET_MIN; after some of these LX_PACKET_MAX, a cache's worth */

/* A stream and its open packet: belongs to one thread at a time and goes on to the next when that ends. */
struct lx_slot {
	unsigned number;
	struct lx_packet *packet;   /* LX_PACKET_MAX reserved, `size` of it mapped */
	size_t size;
	uint64_t file_size;
	uint64_t appended;          /* packets */
	uint64_t lost[LX_LOSS_COUNT];
	uint32_t epoch;             /* of the process folder that its packet is mapped for */
	bool used;
	struct lx_slot *next;
};

struct lx_session {
	pthread_mutex_t lock;
	bool active;
	bool forked;                /* a forked child that has not opened its own folder yet */
	bool follow;
	bool wanted;
	bool announce;
	bool speaks;                /* may write a line to stderr */
	uint32_t attempts;          /* of a forked child to open its folder */
	int error;                  /* of the last one */
	int owner;                  /* pid that started or re-opened it */
	const struct lx_sink *sink;
	char run[LX_PATH_SIZE], folder[LX_PATH_SIZE];
	struct lx_state *state;     /* mapped; memory of its own where there is no folder */
	struct lx_state *ancestor;  /* in a forked child: the mapped state of the process it comes from */
	char *process_text;         /* content of lextrace/process */
	size_t process_size;
	struct lx_thread *threads;
	struct lx_slot *slots;
	uint32_t last_thread;       /* number given out last; 0 is the main thread's */
	uint32_t epoch;             /* counts process folders: one a session, one more after a fork */
};

extern struct lx_session lx_session;

/* session.c: events and definitions have a place to go; a forked child gets its own folder here. */
bool lx_session_ready(void);

/* thread.c: gives the thread a stream in the active session. 0 or negative errno, the cause noted in *loss. */
int lx_thread_attach(struct lx_thread *thread, enum lx_loss *loss);
/* Appends what the thread has and takes its stream away; its calls stay open. */
void lx_thread_detach(struct lx_thread *thread);
/* Counted calls that are open end with the session. */
void lx_thread_count_open(struct lx_thread *thread);
/* A session begins: each thread is as new at its next event. */
void lx_threads_renew(void);
/* After fork, in the child: only the calling thread is left, nothing of it may touch the parent's packets. */
void lx_threads_after_fork(void);

/* packet.c: an empty packet begins at `ticks`, after the one before was appended or given up. */
void lx_packet_reset(struct lx_slot *slot, struct lx_thread *thread, uint64_t ticks);
/* Appends the slot's packet if it has events. 0 or the error of the sink; the packet is then as it was. */
int lx_packet_flush(struct lx_slot *slot, struct lx_thread *thread);
/* Gives the events of the slot's packet up, counted under the cause that `error` stands for. */
void lx_packet_lose(struct lx_slot *slot, const struct lx_thread *thread, int error);
/* Counts lost events by cause, with the time of the first. */
void lx_loss_count(struct lx_slot *slot, enum lx_loss cause, uint64_t events, uint64_t ticks);
enum lx_loss lx_loss_of_errno(int error);

/* calls.c: regions that wait for their frame belong to the session before. */
void lx_regions_forget(void);

/* rows.c: the counts of a thread go; with the lock held. */
void lx_counts_drop(struct lx_thread *thread);

/* lexgion.c */
int lx_lexgions_open(const char *folder, const char *from);
/* Cuts the file to its length. Without a window: nothing. */
void lx_lexgions_close(void);
/* Lets go of the file as it is: it is another process's. */
void lx_lexgions_forget(void);
int lx_metadata_write(void);

/* rows.c: calls counted in all rows; with the lock held. */
uint64_t lx_rows_counted(void);
/* journal.c: path of the configuration in force, or NULL. */
const char *lx_config_path(void);

/* closing.c: the line on stderr at the end of a run. */
void lx_closing_remember_stderr(void);
void lx_closing_line(void);

#endif
