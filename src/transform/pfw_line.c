/* What a record of a .pfw file means, in its 1.x and 2.x dialect. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "transform/pfw.h"

#define LATEST 9000000000000000000u /* ns since the epoch */

enum { TYPE_DFTRACER = 1, TYPE_LIBC_IO = 3, TYPE_HIP = 4, TYPE_PYTHON = 6, TYPE_MPI = 10, TYPE_CUDA = 14, TYPE_NONE = -1 };

void lx_pfw_wrong(struct lx_pfw *pfw, const char *why, size_t at)
{
	if (!pfw->wrong++) {
		pfw->wrong_path = pfw->path;
		pfw->wrong_line = pfw->line_number;
		pfw->wrong_why = why;
		pfw->wrong_at = at;
	}
}

static int wrong(struct lx_pfw *pfw, const char *why)
{
	lx_pfw_wrong(pfw, why, 0);
	return 0;
}

const struct lx_pfw_value *lx_pfw_find(const struct lx_pfw_line *line, const char *key)
{
	size_t size = strlen(key);

	for (size_t i = line->arg_count; i-- > 0;)
		if (line->args[i].key.size == size && memcmp(line->args[i].key.at, key, size) == 0)
			return &line->args[i].value;
	return NULL;
}

static int type_of(const struct lx_pfw_line *line)
{
	const struct lx_pfw_value *type = &line->members[LX_PFW_TYPE];

	return LX_PFW_GIVEN(line, TYPE) && type->form == LX_PFW_INT && type->integer >= 0 && type->integer < 256 ? (int)type->integer
														  : TYPE_NONE;
}

/* A time as ns: its whole part is exact, whatever stands behind the point. */
static bool time_of(const struct lx_pfw *pfw, const struct lx_pfw_value *value, uint64_t *ns)
{
	double number = 0, fraction = 0;
	const char *point;

	if (value->form == LX_PFW_INT) {
		if (value->integer < 0 || (uint64_t)value->integer > LATEST / pfw->unit)
			return false;
		*ns = (uint64_t)value->integer * pfw->unit;
		return true;
	}
	if (value->form != LX_PFW_NUMBER)
		return false;
	number = strtod(value->text.at, NULL);
	if (!(number >= 0 && number < (double)(LATEST / pfw->unit)))
		return false;
	point = memchr(value->text.at, '.', value->text.size);
	*ns = (uint64_t)number;
	if (point && !memchr(value->text.at, 'e', value->text.size) && !memchr(value->text.at, 'E', value->text.size)) {
		*ns = strtoull(value->text.at, NULL, 10);
		fraction = strtod(point, NULL);
	} else {
		fraction = number - floor(number);
	}
	*ns = *ns * pfw->unit + (uint64_t)(fraction * (double)pfw->unit + 0.5);
	return true;
}

static void touch(struct lx_pfw *pfw, const struct lx_pfw_track *track, uint64_t first, uint64_t last)
{
	struct lx_pfw_process *process = &pfw->processes[track->process];

	process->first = first < process->first ? first : process->first;
	process->last = last > process->last ? last : process->last;
}

static uint32_t hash_arg(struct lx_pfw *pfw, const char *key)
{
	const struct lx_pfw_value *value = lx_pfw_find(&pfw->line, key);
	int64_t index = value && value->form != LX_PFW_JSON ? lx_pfw_hash(&pfw->names, &value->text) : -1;

	return index < 0 ? LX_PFW_NONE : (uint32_t)index;
}

/* The records with which DFTracer begins and ends a file. */
static int start_or_end(struct lx_pfw *pfw, const struct lx_pfw_track *track, bool start, uint64_t at)
{
	struct lx_pfw_process *process = &pfw->processes[track->process];
	const struct lx_pfw_value *parent = lx_pfw_find(&pfw->line, "ppid");

	touch(pfw, track, at, at);
	if (!start) {
		process->ended = true;
		return 0;
	}
	process->started = true;
	if (parent && parent->form == LX_PFW_INT && parent->integer > 0 && parent->integer <= UINT32_MAX)
		process->parent = (uint32_t)parent->integer;
	process->command = hash_arg(pfw, "cmd_hash");
	process->executable = hash_arg(pfw, "exec_hash");
	process->folder = hash_arg(pfw, "cwd");
	return 0;
}

static uint32_t comp_of(const struct lx_pfw_value *value)
{
#define LX_X(number, NAME, name)                       \
	if (value->form == LX_PFW_STRING && LX_PFW_IS(value->text, name)) \
		return LX_COMP_##NAME;
	LX_COMPS(LX_X)
#undef LX_X
	return LX_COMP_NONE;
}

/* A function in an export of lextrace. */
static bool is_ours(const struct lx_pfw_text *cat, int type)
{
	return type == TYPE_PYTHON && (LX_PFW_IS(*cat, "python") || LX_PFW_IS(*cat, "c") || LX_PFW_IS(*cat, "import"));
}

/* What the arguments say of the place rather than of this call; as a bit for each that is used up. */
enum { USED_FILE = 1, USED_LINE = 2, USED_COMP = 4, USED_ENDED = 8 };

static unsigned place_args(const struct lx_pfw_line *line, int type, struct lx_pfw_place *place, size_t *left,
			   enum lx_pfw_ended *ended)
{
	bool ours = is_ours(&place->cat, type);

	const struct lx_pfw_value *file = NULL, *number = NULL;
	unsigned used = 0;

	*ended = LX_PFW_RETURNED;
	*left = line->arg_count;
	for (size_t i = 0; i < line->arg_count; i++) {
		const struct lx_pfw_text key = line->args[i].key;
		const struct lx_pfw_value *value = &line->args[i].value;

		if (LX_PFW_IS(key, "hhash")) {
			--*left;
		} else if (LX_PFW_IS(key, "comp") && comp_of(value)) {
			place->comp = comp_of(value);
			used |= USED_COMP;
		} else if (type == TYPE_PYTHON && LX_PFW_IS(key, "file") && value->form == LX_PFW_STRING) {
			file = value;
		} else if (type == TYPE_PYTHON && LX_PFW_IS(key, "line") && value->form == LX_PFW_INT && value->integer >= 0 &&
			   value->integer <= INT32_MAX) {
			number = value;
		} else if (type == TYPE_PYTHON && LX_PFW_IS(key, "ended") && value->form == LX_PFW_STRING &&
			   (ours || LX_PFW_IS(value->text, "exception"))) {
			*ended = LX_PFW_IS(value->text, "exception") ? LX_PFW_UNWOUND
				 : LX_PFW_IS(value->text, "yield") ? LX_PFW_YIELDED : LX_PFW_RETURNED;
			used |= USED_ENDED;
		}
	}
	if (file && number) {
		place->file = file->text;
		place->line = (uint32_t)number->integer;
		used |= USED_FILE | USED_LINE;
	}
	*left -= (size_t)__builtin_popcount(used);
	return used;
}

/* Domain, and what an export of lextrace has put into the category. */
static void place_domain(struct lx_pfw_place *place, int type, size_t args_left)
{
	const struct lx_pfw_text cat = place->cat;

	place->domain = LX_DOMAIN_USER;
	if (type == TYPE_LIBC_IO || LX_PFW_IS(cat, "POSIX") || LX_PFW_IS(cat, "STDIO")) {
		place->domain = LX_DOMAIN_IO;
	} else if (type == TYPE_MPI || LX_PFW_IS(cat, "MPI")) {
		place->domain = LX_DOMAIN_MPI;
	} else if (type == TYPE_CUDA || type == TYPE_HIP || LX_PFW_IS(cat, "CUDA")) {
		place->domain = LX_DOMAIN_CUDA;
	} else if (type == TYPE_PYTHON && LX_PFW_IS(cat, "user")) {
		place->cat.size = 0;
	} else if (args_left == 0 && is_ours(&cat, type)) {
		place->domain = LX_DOMAIN_PYTHON;
		place->flags = cat.size == 1 ? LX_LEXGION_C : cat.size == 6 && *cat.at == 'i' ? LX_LEXGION_IMPORT : 0;
		place->cat.size = 0;
		if (place->flags == LX_LEXGION_IMPORT && place->name.size > 7 && memcmp(place->name.at, "import ", 7) == 0) {
			place->name.at += 7;
			place->name.size -= 7;
		}
	}
}

static bool is_hash(const struct lx_pfw_text *key, const struct lx_pfw_value *value)
{
	return key->size > 4 && memcmp(key->at + key->size - 4, "hash", 4) == 0 &&
	       (value->form == LX_PFW_STRING || value->form == LX_PFW_INT) && value->text.size > 0 && value->text.size < 64;
}

static int put_arg(struct lx_pfw *pfw, struct lx_pfw_words *words, size_t *used, const struct lx_pfw_arg *arg)
{
	int64_t key = lx_pfw_key(&pfw->names, &arg->key);

	if (key < 0)
		return -ENOMEM;
	if (is_hash(&arg->key, &arg->value)) {
		int64_t index = lx_pfw_hash(&pfw->names, &arg->value.text);
		uint64_t *at = lx_pfw_room(words, *used + 2);

		if (index < 0 || !at)
			return -ENOMEM;
		at[*used] = LX_PFW_EV_HASH | (uint64_t)LX_LEXGION_WORD((uint32_t)key) << 32;
		at[*used + 1] = (uint64_t)index;
		*used += 2;
		return 0;
	}
	return lx_pfw_put_value(words, used, 0, (uint32_t)key, &arg->value);
}

/* The arguments that remain, behind the track's words. Returns how many words, or -ENOMEM. */
static int64_t put_args(struct lx_pfw *pfw, struct lx_pfw_track *track, unsigned taken, size_t left, uint32_t kind,
			enum lx_pfw_ended ended)
{
	size_t used = 1;

	if (left == 0 && !ended && !kind)
		return 0;
	if (!lx_pfw_room(&track->words, 1))
		return -ENOMEM;
	for (size_t i = 0, kept = 0; i < pfw->line.arg_count && kept < LX_ARGUMENTS_MAX; i++) {
		const struct lx_pfw_arg *arg = &pfw->line.args[i];
		const struct lx_pfw_text key = arg->key;

		if (LX_PFW_IS(key, "hhash") || (taken & USED_COMP && LX_PFW_IS(key, "comp")) || (taken & USED_FILE && LX_PFW_IS(key, "file")) ||
		    (taken & USED_LINE && LX_PFW_IS(key, "line")) || (taken & USED_ENDED && LX_PFW_IS(key, "ended")))
			continue;
		if (put_arg(pfw, &track->words, &used, arg) < 0)
			return -ENOMEM;
		kept++;
	}
	if (used > UINT32_MAX)
		used = 1; /* more than any event of ours holds */
	track->words.at[track->words.count] = LX_PFW_EXTRA(used - 1, kind, ended);
	return (int64_t)used;
}

static int add(struct lx_pfw *pfw, struct lx_pfw_track *track, uint64_t begin, uint64_t duration, int64_t lexgion, int64_t words)
{
	int error = lexgion < 0 || words < 0 ? -ENOMEM
					     : lx_pfw_add(track, begin, duration, (uint32_t)lexgion, (size_t)words);

	if (error == -ERANGE)
		return wrong(pfw, "a time years away from the others");
	if (error == 0)
		touch(pfw, track, begin, begin + duration);
	return error;
}

int lx_pfw_take_span(struct lx_pfw *pfw, uint64_t pid, uint64_t tid, uint32_t kind)
{
	const struct lx_pfw_line *line = &pfw->line;
	struct lx_pfw_place place = { .name = line->members[LX_PFW_NAME].text, .cat = { "", 0, false }, .file = { "", 0, false } };
	enum lx_pfw_ended ended;
	uint64_t begin, duration = 0;
	int type = type_of(line);
	size_t left;

	if (LX_PFW_GIVEN(line, CAT) && line->members[LX_PFW_CAT].form == LX_PFW_STRING)
		place.cat = line->members[LX_PFW_CAT].text;
	if (!LX_PFW_GIVEN(line, TS) || !time_of(pfw, &line->members[LX_PFW_TS], &begin))
		return wrong(pfw, "no time, or a wrong one");
	if (LX_PFW_GIVEN(line, DUR) && !time_of(pfw, &line->members[LX_PFW_DUR], &duration))
		return wrong(pfw, "a wrong duration");
	struct lx_pfw_track *track = lx_pfw_track(pfw, pid, tid);

	if (!track)
		return -ENOMEM;
	if ((type == TYPE_DFTRACER || type == TYPE_NONE) && LX_PFW_IS(place.cat, "dftracer") && duration == 0) {
		if (LX_PFW_IS(place.name, "start") || LX_PFW_IS(place.name, "end"))
			return start_or_end(pfw, track, place.name.size == 5, begin);
		if (LX_PFW_IS(place.name, "mode"))
			kind = LX_EV_POINT;
	}
	unsigned taken = place_args(line, type, &place, &left, &ended);

	place_domain(&place, type, left);
	int64_t id = lx_pfw_lexgion(&pfw->names, &place);

	return add(pfw, track, begin, kind ? 0 : duration, id, put_args(pfw, track, taken, left, kind, ended));
}

int lx_pfw_take_counter(struct lx_pfw *pfw, uint64_t pid, uint64_t tid)
{
	const struct lx_pfw_line *line = &pfw->line;
	const struct lx_pfw_text *name = &line->members[LX_PFW_NAME].text;
	struct lx_pfw_track *track = lx_pfw_track(pfw, pid, tid);
	uint64_t begin;

	if (!track)
		return -ENOMEM;
	if (!LX_PFW_GIVEN(line, TS) || !time_of(pfw, &line->members[LX_PFW_TS], &begin))
		return wrong(pfw, "no time, or a wrong one");
	for (size_t i = 0; i < line->arg_count; i++) {
		const struct lx_pfw_arg *arg = &line->args[i];
		struct lx_pfw_place place = { .file = { "", 0, false }, .cat = { "", 0, false }, .domain = LX_DOMAIN_USER };
		size_t size = name->size + 1 + arg->key.size;
		char *joined;
		double value;

		if (arg->value.form != LX_PFW_INT && arg->value.form != LX_PFW_NUMBER)
			continue;
		pfw->scratch.count = 0;
		joined = (char *)lx_pfw_room(&pfw->scratch, size / 8 + 1);
		uint64_t *words = lx_pfw_room(&track->words, 2);

		if (!joined || !words)
			return -ENOMEM;
		memcpy(joined, name->at, name->size);
		joined[name->size] = '.';
		memcpy(joined + name->size + 1, arg->key.at, arg->key.size);
		place.name = (struct lx_pfw_text){ joined, size, name->escaped || arg->key.escaped };
		if (LX_PFW_GIVEN(line, CAT) && line->members[LX_PFW_CAT].form == LX_PFW_STRING)
			place.cat = line->members[LX_PFW_CAT].text;
		value = strtod(arg->value.text.at, NULL);
		words[0] = LX_PFW_EXTRA(1, LX_EV_COUNTER, 0);
		memcpy(&words[1], &value, sizeof(value));
		int error = add(pfw, track, begin, 0, lx_pfw_lexgion(&pfw->names, &place), 2);

		if (error < 0)
			return error;
	}
	return 0;
}

int lx_pfw_take_sum(struct lx_pfw *pfw, uint64_t pid, uint64_t tid)
{
	const struct lx_pfw_line *line = &pfw->line;
	struct lx_pfw_place place = { .name = line->members[LX_PFW_NAME].text, .cat = { "", 0, false }, .file = { "", 0, false } };
	const struct lx_pfw_value *calls = lx_pfw_find(line, "dft_cnt"), *sum = lx_pfw_find(line, "dur_sum");
	uint64_t at, ns = 0;

	if (LX_PFW_GIVEN(line, CAT) && line->members[LX_PFW_CAT].form == LX_PFW_STRING)
		place.cat = line->members[LX_PFW_CAT].text;
	if (!sum)
		sum = lx_pfw_find(line, "dur");
	if ((sum && !time_of(pfw, sum, &ns)) || (calls && (calls->form != LX_PFW_INT || calls->integer < 0)))
		return wrong(pfw, "a wrong sum");
	if (!LX_PFW_GIVEN(line, TS) || !time_of(pfw, &line->members[LX_PFW_TS], &at))
		return wrong(pfw, "no time, or a wrong one");
	struct lx_pfw_track *track = lx_pfw_track(pfw, pid, tid);

	if (!track)
		return -ENOMEM;
	if (!pfw->processes[track->process].started)
		touch(pfw, track, at, at);
	place_domain(&place, type_of(line), 1);
	int64_t id = lx_pfw_lexgion(&pfw->names, &place);

	pfw->aggregated++;
	return id < 0 ? -ENOMEM : lx_pfw_count(pfw, track, (uint32_t)id, calls ? (uint64_t)calls->integer : 1, ns);
}
