#include "record/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/text.h"

#define ROWS_PER_WINDOW (LX_ROWS_WINDOW / sizeof(struct lx_row))
#define FIRST_COUNTS 128u /* a page */

/*
 * Where the windows of lextrace/rows lie. A later session maps its own file at the same places, so that a row that a
 * thread still knows is memory at all times.
 */
static struct lx_row **windows;
static size_t window_count, window_space;
static uint64_t used;
static uint32_t mapped_epoch;

struct lx_count *lx_count_grow(struct lx_thread *thread, uint32_t id)
{
	uint32_t space = thread->count_space ? thread->count_space : FIRST_COUNTS;

	while (space <= id || space <= lx_session.state->lexgions) /* a new thread meets what others have met */
		space *= 2;
	size_t size = space * sizeof(struct lx_count);
	void *counts;

	lx_lock(); /* another thread may be looking through them */
	if (thread->counts) /* pages that nobody has touched take no memory */
		counts = mremap(thread->counts, thread->count_space * sizeof(struct lx_count), size, MREMAP_MAYMOVE);
	else
		counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counts != MAP_FAILED) {
		thread->counts = counts;
		thread->count_space = space;
	}
	lx_unlock();
	if (counts == MAP_FAILED) {
		thread->dropped++;
		return NULL;
	}
	return &thread->counts[id];
}

void lx_counts_drop(struct lx_thread *thread)
{
	if (thread->counts)
		munmap(thread->counts, thread->count_space * sizeof(struct lx_count));
	thread->counts = NULL;
	thread->count_space = thread->first_count = 0;
}

/* The window at hand is mapped for this process folder. Without room in the file it is memory of our own. */
static struct lx_row *window_of(size_t number)
{
	char path[LX_PATH_SIZE + 32];
	void *map = MAP_FAILED, *place = number < window_count ? windows[number] : NULL;

	if (number >= window_space) {
		size_t space = window_space ? window_space * 2 : 16;
		struct lx_row **larger = realloc(windows, space * sizeof(*larger));

		if (!larger)
			return NULL;
		windows = larger;
		window_space = space;
	}
	snprintf(path, sizeof(path), "%s/lextrace/rows", lx_session.folder);
	if (lx_session.forked || lx_file_map(path, number * (uint64_t)LX_ROWS_WINDOW, LX_ROWS_WINDOW, place, &map) != 0)
		map = mmap(place, LX_ROWS_WINDOW, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	windows[number] = map;
	if (number >= window_count)
		window_count = number + 1;
	return map;
}

/* A thread that has rows is named beside them: it may have no packet. */
static void name_thread(const struct lx_thread *thread)
{
	char path[LX_PATH_SIZE + 32], line[LX_THREAD_NAME_SIZE * 4 + 32];
	static uint64_t at;
	static uint32_t epoch;

	if (epoch != lx_session.epoch) {
		epoch = lx_session.epoch;
		at = 0;
	}
	size_t size = (size_t)snprintf(line, sizeof(line), "%u %u ", thread->number, thread->tid);

	size += lx_escape(line + size, sizeof(line) - size - 1, thread->name, strlen(thread->name));
	line[size++] = '\n';
	snprintf(path, sizeof(path), "%s/lextrace/threads", lx_session.folder);
	if (lx_file_append(path, at, line, size) == 0)
		at += size;
}

struct lx_row *lx_row_make(struct lx_thread *thread, struct lx_count *count, uint32_t id, bool counted)
{
	struct lx_row *row = NULL;

	lx_thread_number(thread);
	lx_lock();
	if (!lx_session_ready())
		goto end;
	if (mapped_epoch != lx_session.epoch) {
		mapped_epoch = lx_session.epoch;
		used = 0;
	}
	size_t number = (size_t)(used / ROWS_PER_WINDOW), at = (size_t)(used % ROWS_PER_WINDOW);
	struct lx_row *window = at > 0 ? windows[number] : window_of(number);

	if (!window)
		goto end;
	row = &window[at];
	row->thread = thread->number;
	if (counted && thread->rows_epoch != lx_session.epoch) {
		thread->rows_epoch = lx_session.epoch;
		name_thread(thread);
	}
	__atomic_store_n(&row->lexgion, id, __ATOMIC_RELEASE);
	lx_session.state->rows = ++used;
	count->row = row;
	count->next = thread->first_count;
	thread->first_count = id;
end:
	lx_unlock();
	if (!row)
		thread->dropped++;
	return row;
}

uint64_t lx_rows_counted(void)
{
	uint64_t counted = 0;

	for (uint64_t i = 0; i < used && mapped_epoch == lx_session.epoch; i++)
		counted += windows[i / ROWS_PER_WINDOW][i % ROWS_PER_WINDOW].calls;
	return counted;
}
