/* A line of a .pfw file to the part that knows its kind; what describes processes, threads and hashes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transform/pfw.h"

enum { PH_COMPLETE = 1, PH_COUNTER = 2, PH_SUM = 3, PH_METADATA = 4, PH_POINT = 5, PH_OTHER = 0 };

/* The host of this record and of those after it that name none. */
static int find_host(struct lx_pfw *pfw)
{
	const struct lx_pfw_line *line = &pfw->line;

	for (size_t i = 0; i < line->arg_count; i++) {
		const struct lx_pfw_text *hash = &line->args[i].value.text;
		int64_t index;

		if (!LX_PFW_IS(line->args[i].key, "hhash"))
			continue;
		if (hash->size == pfw->host_size && memcmp(hash->at, pfw->host_text, hash->size) == 0)
			return 0;
		index = lx_pfw_hash(&pfw->names, hash);
		if (index < 0)
			return -ENOMEM;
		pfw->host = (uint32_t)index;
		pfw->host_size = hash->size <= sizeof(pfw->host_text) ? hash->size : SIZE_MAX;
		if (pfw->host_size != SIZE_MAX)
			memcpy(pfw->host_text, hash->at, hash->size);
		return 0;
	}
	return 0;
}

/* 2.x has numbers, 1.x and Chrome have letters. */
static int phase_of(const struct lx_pfw_line *line)
{
	static const char letters[] = "XCMiI";
	static const int phases[] = { PH_COMPLETE, PH_COUNTER, PH_METADATA, PH_POINT, PH_POINT };
	const struct lx_pfw_value *ph = &line->members[LX_PFW_PH];
	const char *found;

	if (ph->form == LX_PFW_INT)
		return ph->integer >= PH_COMPLETE && ph->integer <= PH_METADATA ? (int)ph->integer : PH_OTHER;
	if (ph->form != LX_PFW_STRING || ph->text.size != 1 || !(found = memchr(letters, *ph->text.at, sizeof(letters) - 1)))
		return PH_OTHER;
	return phases[found - letters];
}

static int hash_record(struct lx_pfw *pfw, const struct lx_pfw_value *name, const struct lx_pfw_value *value)
{
	int64_t index = lx_pfw_hash(&pfw->names, &value->text);
	struct lx_pfw_hash *hash;

	if (index < 0)
		return -ENOMEM;
	hash = &pfw->names.hashes[index];
	if (!hash->name)
		hash->name = lx_pfw_keep(&pfw->names, &name->text, &hash->name_size);
	return hash->name ? 0 : -ENOMEM;
}

/* "US", "MS", …: another one is as good as none. */
static void set_unit(struct lx_pfw *pfw, const struct lx_pfw_text *unit)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "NS", 1 }, { "US", 1000 }, { "MS", 1000000 }, { "SEC", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (unit->size == strlen(units[i].name) && memcmp(unit->at, units[i].name, unit->size) == 0)
			pfw->unit = units[i].ns;
}

static int name_thread(struct lx_pfw *pfw, struct lx_pfw_track *track, const struct lx_pfw_value *name)
{
	char number[24];

	/* DFTracer names threads by their numbers: that is none. */
	snprintf(number, sizeof(number), "%llu", (unsigned long long)track->tid);
	if (track->name || name->form != LX_PFW_STRING ||
	    (name->text.size == strlen(number) && memcmp(name->text.at, number, name->text.size) == 0))
		return 0;
	track->name = lx_pfw_keep(&pfw->names, &name->text, &track->name_size);
	return track->name ? 0 : -ENOMEM;
}

/* What the program or DFTracer says of itself: a METADATA event at the thread's beginning. */
static int remark(struct lx_pfw *pfw, struct lx_pfw_track *track, const struct lx_pfw_value *name,
		  const struct lx_pfw_value *value)
{
	const struct lx_pfw_line *line = &pfw->line;
	struct lx_pfw_value all = { .text = line->args_text, .form = LX_PFW_JSON };
	bool pair = name && name->form == LX_PFW_STRING && value;
	int64_t key = lx_pfw_key(&pfw->names, pair ? &name->text : &line->members[LX_PFW_NAME].text);
	size_t used = 0;
	int error;

	if (key < 0)
		return -ENOMEM;
	if (!pair && line->args_text.size == 0)
		return 0;
	error = lx_pfw_put_value(&track->metadata, &used, LX_EV_METADATA, (uint32_t)key, pair ? value : &all);
	track->metadata.count += used;
	return error;
}

/* "lost 98 events: disk full 90, no memory 8", as view/export.c has it: the causes by their texts. */
static void read_losses(struct lx_pfw_process *process, const struct lx_pfw_text *text)
{
	static const char *const causes[LX_LOSS_COUNT] = {
#define LX_X(number, NAME, field, text) [number] = text,
		LX_LOSSES(LX_X)
#undef LX_X
	};

	for (unsigned i = 0; i < LX_LOSS_COUNT; i++) {
		const char *found = memmem(text->at, text->size, causes[i], strlen(causes[i]));
		const char *at = found ? found + strlen(causes[i]) : NULL;
		uint64_t number = 0;

		if (!at || at == text->at + text->size || *at++ != ' ')
			continue;
		for (; at < text->at + text->size && *at >= '0' && *at <= '9' && number < UINT64_MAX / 16; at++)
			number = number * 10 + (uint64_t)(*at - '0');
		process->lost[i] = number;
	}
}

static int metadata(struct lx_pfw *pfw, uint64_t pid, uint64_t tid)
{
	const struct lx_pfw_line *line = &pfw->line;
	const struct lx_pfw_text kind = line->members[LX_PFW_NAME].text;
	const struct lx_pfw_value *name = lx_pfw_find(line, "name"), *value = lx_pfw_find(line, "value");
	bool pair = name && name->form == LX_PFW_STRING && value && value->form != LX_PFW_JSON;
	struct lx_pfw_track *track;

	if (LX_PFW_IS(kind, "FH") || LX_PFW_IS(kind, "SH") || LX_PFW_IS(kind, "HH"))
		return pair ? hash_record(pfw, name, value) : 0;
	if (LX_PFW_IS(kind, "CM") && pair && LX_PFW_IS(name->text, "time_metric")) {
		set_unit(pfw, &value->text);
		return 0;
	}
	track = lx_pfw_track(pfw, pid, tid);
	if (!track)
		return -ENOMEM;
	if (LX_PFW_IS(kind, "CM") && pair && LX_PFW_IS(name->text, "lost_events")) {
		read_losses(&pfw->processes[track->process], &value->text);
		return 0;
	}
	if (LX_PFW_IS(kind, "thread_name"))
		return name ? name_thread(pfw, track, name) : 0;
	return remark(pfw, track, name, value);
}

static bool number_of(const struct lx_pfw_value *value, uint64_t *number)
{
	if (value->form != LX_PFW_INT || value->integer < 0)
		return false;
	*number = (uint64_t)value->integer;
	return true;
}

int lx_pfw_record(struct lx_pfw *pfw)
{
	const struct lx_pfw_line *line = &pfw->line;
	uint64_t pid = 0, tid;

	pfw->records++;
	if (!LX_PFW_GIVEN(line, NAME) || line->members[LX_PFW_NAME].form != LX_PFW_STRING || !LX_PFW_GIVEN(line, PH)) {
		lx_pfw_wrong(pfw, "a record without \"name\" or \"ph\"", 0);
		return 0;
	}
	if (LX_PFW_GIVEN(line, PID) && !number_of(&line->members[LX_PFW_PID], &pid)) {
		lx_pfw_wrong(pfw, "a wrong pid", 0);
		return 0;
	}
	tid = pid;
	if (LX_PFW_GIVEN(line, TID) && !number_of(&line->members[LX_PFW_TID], &tid)) {
		lx_pfw_wrong(pfw, "a wrong tid", 0);
		return 0;
	}
	if (find_host(pfw) < 0)
		return -ENOMEM;
	switch (phase_of(line)) {
	case PH_COMPLETE:
		return lx_pfw_take_span(pfw, pid, tid, 0);
	case PH_POINT:
		return lx_pfw_take_span(pfw, pid, tid, LX_EV_POINT);
	case PH_COUNTER:
		return lx_pfw_take_counter(pfw, pid, tid);
	case PH_SUM:
		return lx_pfw_take_sum(pfw, pid, tid);
	case PH_METADATA:
		return metadata(pfw, pid, tid);
	default:
		if (!pfw->other++) {
			pfw->other_path = pfw->path;
			pfw->other_line = pfw->line_number;
		}
		return 0;
	}
}

void lx_pfw_torn(struct lx_pfw *pfw, const char *why)
{
	if (!pfw->file_torn && !pfw->torn++) {
		pfw->torn_path = pfw->path;
		pfw->torn_why = why;
		pfw->torn_line = pfw->line_number;
	}
	pfw->file_torn = true;
}

void lx_pfw_new_file(struct lx_pfw *pfw, const char *path)
{
	pfw->path = path;
	pfw->line_number = 0;
	pfw->unit = 1000; /* us, where it does not say */
	pfw->host = LX_PFW_NONE;
	pfw->host_size = SIZE_MAX;
	pfw->file_torn = false;
}

/* The line from `text` on; returns what comes behind its newline. */
static const char *take_line(struct lx_pfw *pfw, const char *text, const char *end, int *error)
{
	const char *newline = *text == '{' ? lx_pfw_quick(&pfw->line, text) : NULL;
	bool cut;

	pfw->line_number++;
	if (__builtin_expect(newline != NULL, 1)) {
		*error = lx_pfw_record(pfw);
		return newline + 1;
	}
	newline = memchr(text, '\n', (size_t)(end - text));
	cut = !newline;
	if (cut)
		newline = end; /* the padding's */
	switch (lx_pfw_scan(&pfw->line, text, newline)) {
	case LX_PFW_RECORD:
		*error = lx_pfw_record(pfw);
		break;
	case LX_PFW_WRONG:
		if (cut)
			lx_pfw_torn(pfw, "it ends inside a line");
		else
			lx_pfw_wrong(pfw, pfw->line.wrong, pfw->line.wrong_at + 1);
		break;
	case LX_PFW_NO_MEMORY:
		*error = -ENOMEM;
		break;
	case LX_PFW_BLANK:
		break;
	}
	return newline + 1;
}

int lx_pfw_take(struct lx_pfw *pfw, const char *text, size_t size)
{
	const char *end = text + size;
	int error = 0;

	while (text < end && error == 0)
		text = take_line(pfw, text, end, &error);
	return error;
}
