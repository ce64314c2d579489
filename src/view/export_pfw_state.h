/* What the parts of the .pfw export share: export_pfw.c has the events, export_pfw_records.c what tells of the process. */
#ifndef LX_VIEW_EXPORT_PFW_STATE_H
#define LX_VIEW_EXPORT_PFW_STATE_H

#include "lextrace/pfw.h"
#include "view/export.h"
#include "view/export_text.h"
#include "view/json_value.h"

enum { LX_PFW_DFTRACER = 1, LX_PFW_LIBC_IO = 3, LX_PFW_PYTHON = 6, LX_PFW_MPI = 10, LX_PFW_CUDA = 14 }; /* "type" */

enum lx_export_pfw_phase { LX_PFW_COMPLETE, LX_PFW_COUNTER, LX_PFW_METADATA, LX_PFW_INSTANT };

struct lx_export_pfw {
	struct lx_pieces pieces;
	struct lx_json json;    /* writes to the line below */
	FILE *line_file;
	char *line;
	size_t line_size;
	uint64_t id, events;    /* of the process: the last "id"; events so far */
	char host[17];          /* hash of the host's name */
	char ids[64];           /* ,"pid":…,"tid":…,"ts": of the current thread */
	size_t ids_size;
	uint64_t unit;          /* ns of a unit of the time metric */
	uint8_t *reserved;      /* by lexgion: which member of "args" an argument of that name would be */
	bool started, letters;  /* letters: the 1.x dialect */
	bool named;             /* a thread of the process has been */
};

/* As "ph" writes it: a number, or a letter in quotes. */
const char *lx_export_pfw_phase(const struct lx_export_pfw *state, enum lx_export_pfw_phase phase);

/* The records at a process's start, unless they are written. */
void lx_export_pfw_start_process(struct lx_export *export);
void lx_export_pfw_end_process(struct lx_export *export);

/* A metadata record of the current thread up to the member "value", which comes next; then lx_export_pfw_end_metadata(). */
struct lx_json *lx_export_pfw_begin_metadata(struct lx_export *export, const char *kind, unsigned type, const char *name, size_t size);
void lx_export_pfw_end_metadata(struct lx_export *export);
void lx_export_pfw_put_metadata(struct lx_export *export, const char *kind, const char *name, size_t size, const char *value);

/* What was written to the line's file goes out. */
void lx_export_pfw_put(struct lx_export *export);

static inline void lx_export_pfw_put_text(struct lx_json *json, const char *key, const char *text, size_t size)
{
	lx_json_key(json, key);
	lx_json_text(json, text, size);
}

#endif
