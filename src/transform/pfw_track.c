#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transform/pfw.h"

_Static_assert(sizeof(struct lx_pfw_span) == 24, "a span is as small as what it becomes");

#define AFTER_MAX 0x7fffu
#define WORDS_MAX (1ull << 40)

uint64_t *lx_pfw_room(struct lx_pfw_words *words, size_t count)
{
	if (count > words->room - words->count) {
		size_t room = words->room + words->room / 2 + count + 64;
		uint64_t *at = realloc(words->at, room * sizeof(*at));

		if (!at)
			return NULL;
		words->at = at;
		words->room = room;
	}
	return words->at + words->count;
}

static int grow_spans(struct lx_pfw_track *track)
{
	size_t room = track->room + track->room / 2 + 16;
	struct lx_pfw_span *spans = realloc(track->spans, room * sizeof(*spans));

	if (!spans)
		return -ENOMEM;
	track->spans = spans;
	track->room = room;
	return 0;
}

/* After so many spans without words, one that no span needs tells those to come from them. */
static int next_order(struct lx_pfw_track *track, size_t words)
{
	track->words.count += words;
	if (words > 0) {
		track->after = 0;
	} else if (++track->after > AFTER_MAX) {
		if (!lx_pfw_room(&track->words, 1))
			return -ENOMEM;
		track->words.at[track->words.count++] = 0;
		track->after = 0;
	}
	return 0;
}

int lx_pfw_add(struct lx_pfw_track *track, uint64_t begin, uint64_t duration, uint32_t lexgion, size_t words)
{
	struct lx_pfw_span *span;

	if (track->count == 0) {
		track->base = track->first = begin;
		track->last = begin + duration;
	}
	uint64_t from = LX_PFW_TIME_MIDDLE + (begin - track->base);

	if (from >> 56 || duration >> 55 || track->words.count + words + 1 >= WORDS_MAX)
		return -ERANGE;
	if (track->count == track->room && grow_spans(track) < 0)
		return -ENOMEM;
	span = &track->spans[track->count];
	span->begin = from;
	span->duration = duration;
	span->words = track->words.count;
	span->extra = words > 0;
	span->after_low = track->after & 255;
	span->after_high = track->after >> 8 & 127;
	span->lexgion = lexgion;
	if (track->count > 0 && (from < span[-1].begin || (from == span[-1].begin && duration >= span[-1].duration)))
		track->unsorted = true;
	track->count++;
	if (begin < track->first)
		track->first = begin;
	if (begin + duration > track->last)
		track->last = begin + duration;
	return next_order(track, words);
}

static inline uint64_t mix(uint64_t hash)
{
	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static uint64_t mix_track(uint32_t host, uint64_t pid, uint64_t tid)
{
	return mix(mix(mix(host) ^ pid) ^ tid);
}

static int grow_table(struct lx_pfw *pfw)
{
	size_t room = pfw->table_room ? 2 * pfw->table_room : 64;
	uint32_t *table = calloc(room, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < pfw->track_count; i++) {
		const struct lx_pfw_process *process = &pfw->processes[pfw->tracks[i].process];
		size_t at = mix_track(process->host, process->pid, pfw->tracks[i].tid) & (room - 1);

		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(pfw->table);
	pfw->table = table;
	pfw->table_room = room;
	return 0;
}

/* Tracks of many processes are rare, new processes too: a look at all of them is enough. */
static int64_t find_process(struct lx_pfw *pfw, uint64_t pid)
{
	for (size_t i = pfw->process_count; i-- > 0;)
		if (pfw->processes[i].pid == pid && pfw->processes[i].host == pfw->host)
			return (int64_t)i;
	if (pfw->process_count == pfw->process_room) {
		size_t room = pfw->process_room ? 2 * pfw->process_room : 16;
		struct lx_pfw_process *processes = realloc(pfw->processes, room * sizeof(*processes));

		if (!processes)
			return -ENOMEM;
		pfw->processes = processes;
		pfw->process_room = room;
	}
	pfw->processes[pfw->process_count] = (struct lx_pfw_process){
		.pid = pid, .host = pfw->host, .tracks = LX_PFW_NONE, .command = LX_PFW_NONE, .executable = LX_PFW_NONE,
		.folder = LX_PFW_NONE, .file = pfw->path, .first = UINT64_MAX,
	};
	return (int64_t)pfw->process_count++;
}

static struct lx_pfw_track *new_track(struct lx_pfw *pfw, uint64_t pid, uint64_t tid)
{
	int64_t process = find_process(pfw, pid);

	if (process < 0)
		return NULL;
	if (pfw->track_count == pfw->track_room) {
		size_t room = pfw->track_room ? 2 * pfw->track_room : 16;
		struct lx_pfw_track *tracks = realloc(pfw->tracks, room * sizeof(*tracks));

		if (!tracks)
			return NULL;
		pfw->tracks = tracks;
		pfw->track_room = room;
	}
	struct lx_pfw_track *track = &pfw->tracks[pfw->track_count++];

	*track = (struct lx_pfw_track){ .tid = tid, .process = (uint32_t)process, .next = pfw->processes[process].tracks };
	pfw->processes[process].tracks = (uint32_t)pfw->track_count - 1;
	return track;
}

struct lx_pfw_track *lx_pfw_track(struct lx_pfw *pfw, uint64_t pid, uint64_t tid)
{
	if (2 * pfw->track_count >= pfw->table_room && grow_table(pfw) < 0)
		return NULL;
	size_t at = mix_track(pfw->host, pid, tid) & (pfw->table_room - 1);

	for (; pfw->table[at]; at = (at + 1) & (pfw->table_room - 1)) {
		struct lx_pfw_track *track = &pfw->tracks[pfw->table[at] - 1];

		if (track->tid == tid && pfw->processes[track->process].pid == pid &&
		    pfw->processes[track->process].host == pfw->host)
			return track;
	}
	struct lx_pfw_track *track = new_track(pfw, pid, tid);

	if (track)
		pfw->table[at] = (uint32_t)pfw->track_count;
	return track;
}

/* The rows' table, twice as wide. */
static int grow_rows(struct lx_pfw_process *process)
{
	size_t room = process->row_table_room ? 2 * process->row_table_room : 64;
	uint32_t *table = calloc(room, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < process->row_count; i++) {
		size_t at = mix_track(process->rows[i].thread, process->rows[i].lexgion, 0) & (room - 1);

		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(process->row_table);
	process->row_table = table;
	process->row_table_room = room;
	return 0;
}

int lx_pfw_count(struct lx_pfw *pfw, const struct lx_pfw_track *track, uint32_t lexgion, uint64_t calls, uint64_t ns)
{
	struct lx_pfw_process *process = &pfw->processes[track->process];
	uint32_t index = (uint32_t)(track - pfw->tracks);
	struct lx_row *row = NULL;

	if (2 * process->row_count >= process->row_table_room && grow_rows(process) < 0)
		return -ENOMEM;
	size_t at = mix_track(index, lexgion, 0) & (process->row_table_room - 1);

	for (; process->row_table[at]; at = (at + 1) & (process->row_table_room - 1)) {
		row = &process->rows[process->row_table[at] - 1];
		if (row->thread == index && row->lexgion == lexgion)
			break;
	}
	if (!process->row_table[at]) {
		if (process->row_count == process->row_room) {
			size_t room = process->row_room ? 2 * process->row_room : 16;
			struct lx_row *rows = realloc(process->rows, room * sizeof(*rows));

			if (!rows)
				return -ENOMEM;
			process->rows = rows;
			process->row_room = room;
		}
		row = &process->rows[process->row_count++];
		*row = (struct lx_row){ .thread = index, .lexgion = lexgion };
		process->row_table[at] = (uint32_t)process->row_count;
	}
	row->calls += calls;
	row->inclusive += ns;
	row->exclusive += ns;
	return 0;
}
