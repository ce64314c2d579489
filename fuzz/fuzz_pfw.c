/*
 * The .pfw reader on hostile files: the first byte says whether the rest is a file's text or gzip. Beside crashes it looks for
 * broken promises: spans nest, none is lost or made up between reading and showing, names end.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "transform/inflate.h"
#include "transform/pfw_open.h"
#include "transform/pfw_scan.h"
#include "view/spans.h"

#define OUTPUT_MAX (1u << 20) /* bytes that gzip may become: a small input may stand for a very long one */
#define SLACK 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *data;
	size_t left;
};

/* Few bytes at a time, so that every place of the decoder meets the end of its input. */
static size_t more(void *context, void *to, size_t size)
{
	struct source *source = context;
	size_t part = source->left < 61 ? source->left : 61;

	part = part < size ? part : size;
	if (part > 0)
		memcpy(to, source->data, part);
	source->data += part;
	source->left -= part;
	return part;
}

static bool full(void *context, struct lx_inflate *inflate)
{
	(void)context;
	(void)inflate;
	return false;
}

/* The text of the gzip data, with the padding that the scanner asks for. */
static char *inflated(const uint8_t *data, size_t size, size_t *text_size)
{
	struct source source = { data, size };
	uint8_t *text = malloc(OUTPUT_MAX + LX_PFW_PADDING);

	REQUIRE(text);
	struct lx_inflate inflate = { .more = more, .full = full, .context = &source, .out = text, .limit = text + OUTPUT_MAX };
	enum lx_inflated result = lx_inflate(&inflate, "", 0);

	REQUIRE(result != LX_INFLATED_NO_MEMORY && inflate.out >= text && inflate.out <= inflate.limit);
	*text_size = (size_t)(inflate.out - text);
	uint8_t *exact = realloc(text, *text_size + LX_PFW_PADDING);

	REQUIRE(exact);
	return (char *)exact;
}

struct seen {
	uint32_t depth;
	uint64_t entered;
	uint64_t now;
	const struct lx_thread_info *thread;
};

static void enter(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct seen *seen = context;
	const struct lx_lexgion *lexgion = lx_lexgion(process, span->lexgion);

	if (thread != seen->thread) {
		REQUIRE(seen->depth == 0);
		seen->thread = thread;
		seen->now = 0;
	}
	REQUIRE(span->depth == seen->depth && span->begin >= seen->now);
	REQUIRE(lexgion->defined && lexgion->name[lexgion->name_size] == '\0' && lexgion->file[lexgion->file_size] == '\0');
	REQUIRE(LX_LEXGION_CATEGORY(lexgion->flags) < lexgion->name_size + 1u);
	seen->now = span->begin;
	seen->depth++;
	seen->entered++;
}

static void leave(void *context, const struct lx_process *process, const struct lx_thread_info *thread, struct lx_span *span)
{
	struct seen *seen = context;

	(void)process;
	REQUIRE(thread == seen->thread && span->depth == seen->depth - 1);
	REQUIRE(span->begin <= span->end && span->end >= seen->now && span->children <= span->end - span->begin);
	REQUIRE(span->ended == LX_ENDED_RETURN || span->ended == LX_ENDED_UNWIND);
	seen->now = span->end;
	seen->depth--;
}

static void check_process(struct lx_trace *trace, struct lx_process *process)
{
	static const struct lx_spans_ops ops = { .enter = enter, .leave = leave };
	struct lx_spans_totals totals = { 0 };
	struct seen seen = { 0 };
	struct lx_merge *merge;
	struct lx_merged event;
	uint64_t merged = 0, last = 0;

	REQUIRE(lx_spans_run(process, &ops, &seen, &totals) == 0);
	REQUIRE(seen.depth == 0 && seen.entered == totals.begins);
	REQUIRE(!totals.closed_open && !totals.closed_lost && !totals.dropped_ends && totals.events == process->state.events);
	REQUIRE(lx_merge_open(trace, process, &merge) == 0);
	while (lx_merge_next(merge, &event)) {
		merged++;
		REQUIRE(event.event.kind < LX_EV_COUNT && event.real_ns >= last && event.event.value < process->lexgion_count);
		last = event.real_ns;
	}
	lx_merge_close(merge);
	REQUIRE(merged == totals.events);
	for (size_t i = 0; i < process->row_count; i++)
		REQUIRE(process->rows[i].thread < process->thread_count);
	for (size_t i = 0; i < process->thread_count; i++)
		REQUIRE(process->threads[i].number == i && process->threads[i].tid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lx_trace trace = { 0 };
	struct lx_store store = { NULL };
	size_t text_size = 0;
	char *text;

	if (size == 0)
		return 0;
	if (*data & 1) {
		text = inflated(data + 1, size - 1, &text_size);
	} else {
		text_size = size - 1;
		text = malloc(text_size + LX_PFW_PADDING);
		REQUIRE(text);
		memcpy(text, data + 1, text_size);
	}
	memset(text + text_size, '\n', LX_PFW_PADDING);
	int error = lx_pfw_load_text(text, text_size, &trace, &store);

	free(text);
	REQUIRE(error == 0 || (error == -ENODATA && trace.process_count == 0));
	for (size_t i = 0; i < trace.process_count; i++)
		check_process(&trace, &trace.processes[i]);
	lx_store_free(&store);
	free(trace.processes);
	return 0;
}
