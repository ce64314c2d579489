/* The public C API of include/lextrace/lextrace.h, on top of capture/annotate.h. */
#define lextrace_begin begin_inline /* the functions of these names are others, see there */
#define lextrace_end end_inline
#include "capture/annotate_c.h"
#undef lextrace_begin
#undef lextrace_end

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/control.h"

_Static_assert((int)LEXTRACE_COMP_IO == LX_COMP_IO && (int)LEXTRACE_COMP_MEM == LX_COMP_MEM &&
		       (int)LEXTRACE_COMP_CPU == LX_COMP_CPU && (int)LEXTRACE_COMP_COMM == LX_COMP_COMM,
	       "comps are the format's");

/* ---- Regions ---- */

/* What waits comes first: it may change what is to be done with the region. */
static void attend(void)
{
	struct lx_thread *thread = lx_region_thread();

	if (thread)
		lx_guard(thread, 0);
}

/* The word of a region, named "CATEGORY/NAME". `placed`: it has more than its name. */
static uint32_t define(const lextrace_region *region, bool placed, uint32_t *plan)
{
	const char *name = region->name ? region->name : "", *category = placed ? region->category : NULL;
	struct lx_region_place place = {.name = name, .name_size = strlen(name), .file = ""};
	char *joined = NULL;

	if (placed) {
		place.file = region->file ? region->file : "";
		place.file_size = strlen(place.file);
		place.line = region->line;
		place.comp = region->comp <= LX_COMP_COMM ? (enum lx_comp)region->comp : LX_COMP_NONE;
	}
	if (category && *category) {
		place.category_size = strlen(category);
		if (asprintf(&joined, "%s/%s", category, name) < 0)
			return 0;
		place.name = joined;
		place.name_size += place.category_size + 1;
	}
	uint32_t word = lx_region_define(&place, plan);

	free(joined);
	return word;
}

bool lx_c_look(lextrace_region *region, bool placed)
{
	if (!lx_session_active())
		return false;
	if (lx_unlikely(__atomic_load_n(lx_attention, __ATOMIC_RELAXED) & ~LX_ATTENTION_STACKS) && !lx_python_attends)
		attend();
	uint32_t generation = __atomic_load_n(&lx_generation, __ATOMIC_ACQUIRE);

	if (lx_likely(__atomic_load_n(&region->generation, __ATOMIC_ACQUIRE) == generation))
		return true;
	/* Threads that meet a region first at the same time all find the same word. */
	uint32_t plan = 0, word = define(region, placed, &plan);

	__atomic_store_n(&region->word, word, __ATOMIC_RELAXED);
	__atomic_store_n(&region->plan, plan, __ATOMIC_RELAXED);
	if (word) /* else there was no room for its name: next time perhaps */
		__atomic_store_n(&region->generation, generation, __ATOMIC_RELEASE);
	return true;
}

void lextrace_region_begin(lextrace_region *region)
{
	if (lx_c_look(region, true))
		lx_region_begin(region, lx_c_word(region), lx_c_plan(region));
}

void lextrace_region_end(lextrace_region *region)
{
	lx_region_end(region, lx_c_plan(region), false);
}

void lextrace_region_unwind(lextrace_region *region)
{
	lx_region_end(region, lx_c_plan(region), true);
}

/*
 * Programs that were compiled against the first header, whose regions end with `plan`, call these; today's has inline
 * functions of the same names.
 */
LX_API void lextrace_begin(lextrace_region *region);
LX_API void lextrace_end(lextrace_region *region);

void lextrace_begin(lextrace_region *region)
{
	if (lx_c_look(region, false))
		lx_region_begin(region, lx_c_word(region), lx_c_plan(region));
}

void lextrace_end(lextrace_region *region)
{
	lx_region_end(region, lx_c_plan(region), false);
}

/* ---- Values ---- */

/* A number as JSON has it, whatever the locale's decimal point. */
static size_t format_real(char out[LX_C_ROOM], double real)
{
	char text[LX_C_ROOM];
	size_t size = 0;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			break;
	}
	for (const char *at = text; *at; at++) {
		if (strchr("0123456789+-e", *at))
			out[size++] = *at;
		else if (size > 0 && out[size - 1] != '.')
			out[size++] = '.';
	}
	return size;
}

static void as_text(struct lx_arg_value *value, enum lx_text_form form, const char *text, size_t size)
{
	value->kind = LX_ARG_TEXT;
	value->form = form;
	value->text = text;
	value->size = size;
}

struct lx_arg_value lx_c_value(const lextrace_argument *argument, char room[LX_C_ROOM])
{
	struct lx_arg_value value = {.kind = LX_ARG_INT, .integer = argument->integer};

	switch (argument->kind) {
	case LEXTRACE_DOUBLE:
		value.kind = LX_ARG_FLOAT;
		value.real = argument->real;
		break;
	case LEXTRACE_STRING:
		if (argument->text)
			as_text(&value, LX_TEXT_STRING, argument->text,
				argument->size == SIZE_MAX ? strlen(argument->text) : argument->size);
		else
			as_text(&value, LX_TEXT_JSON, "null", strlen("null"));
		break;
	case LEXTRACE_UINT:
		if (argument->integer < 0)
			as_text(&value, LX_TEXT_NUMBER, room, (size_t)sprintf(room, "%ju", (uintmax_t)(uint64_t)value.integer));
		break;
	case LEXTRACE_INT:
		break;
	}
	return value;
}

/* Key words and values of `count` arguments. */
static size_t take(struct lx_argument *out, char (*rooms)[LX_C_ROOM], const lextrace_argument *arguments, size_t count)
{
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t key = arguments[i].key ? lx_key_find(arguments[i].key) : 0;

		if (key)
			out[taken] = (struct lx_argument){key, lx_c_value(&arguments[i], rooms[taken])}, taken++;
	}
	return taken;
}

/* The word of an argument's name; `key` remembers it. A new one only where somebody will see it. */
static uint32_t key_of(lextrace_key *key, const char *name)
{
	uint32_t word = key ? lx_key_known(&key->found) : 0, session = lx_key_session();

	if (word || !name)
		return word;
	if (!lx_argument_wanted())
		return 0;
	word = lx_key_find(name);
	return key ? lx_key_keep(&key->found, session, word) : word;
}

void lextrace_argument_add(lextrace_key *key, const lextrace_argument *argument)
{
	char room[LX_C_ROOM];
	uint32_t word = key_of(key, argument->key);

	if (!word)
		return;
	const struct lx_arg_value value = lx_c_value(argument, room);

	lx_argument_add(word, &value);
}

/* ---- What stands alone ---- */

#define TAKEN_AT_ONCE 16

static void add_alone(lextrace_region *region, const int64_t *begin, uint64_t duration, const lextrace_argument *arguments,
		      size_t count)
{
	struct lx_argument few[TAKEN_AT_ONCE], *taken = few;
	char few_rooms[TAKEN_AT_ONCE][LX_C_ROOM], (*rooms)[LX_C_ROOM] = few_rooms;

	if (!lx_c_look(region, true))
		return;
	if (count > LX_ARGUMENTS_MAX)
		count = LX_ARGUMENTS_MAX;
	if (count > TAKEN_AT_ONCE) {
		taken = malloc(count * sizeof(*taken));
		rooms = malloc(count * sizeof(*rooms));
	}
	size_t used = taken && rooms ? take(taken, rooms, arguments, count) : 0;

	if (begin)
		lx_span_add(lx_c_word(region), lx_c_plan(region), *begin, duration, taken, used);
	else
		lx_point_add(lx_c_word(region), lx_c_plan(region), taken, used);
	if (taken != few)
		free(taken);
	if (rooms != few_rooms)
		free(rooms);
}

void lextrace_span_add(lextrace_region *region, int64_t begin, uint64_t duration, const lextrace_argument *arguments,
		       size_t count)
{
	add_alone(region, &begin, duration, arguments, count);
}

void lextrace_point_add(lextrace_region *region, const lextrace_argument *arguments, size_t count)
{
	add_alone(region, NULL, 0, arguments, count);
}

void lextrace_counter_add(lextrace_region *region, double value)
{
	if (lx_c_look(region, true))
		lx_counter_add(lx_c_word(region), lx_c_plan(region), value);
}

void lextrace_metadata_add(const lextrace_argument *entry)
{
	char room[LX_C_ROOM];
	uint32_t key = entry->key ? lx_key_find(entry->key) : 0;

	if (!key)
		return;
	struct lx_arg_value value = lx_c_value(entry, room);

	if (value.kind == LX_ARG_INT)
		as_text(&value, LX_TEXT_NUMBER, room, (size_t)sprintf(room, "%jd", (intmax_t)value.integer));
	else if (value.kind == LX_ARG_FLOAT && value.real - value.real == 0)
		as_text(&value, LX_TEXT_NUMBER, room, format_real(room, value.real));
	else if (value.kind == LX_ARG_FLOAT) /* JSON has no such number */
		as_text(&value, LX_TEXT_STRING, room, (size_t)sprintf(room, "%g", value.real));
	lx_metadata_add(key, &value);
}

int64_t lextrace_now(void)
{
	return (int64_t)lx_clock_ns(CLOCK_REALTIME);
}

/* ---- Knobs and sessions ---- */

int64_t lextrace_knob_int(const char *name, int64_t otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) && knob.kind == LX_KNOB_INT ? knob.integer : otherwise;
}

double lextrace_knob_double(const char *name, double otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) && knob.kind != LX_KNOB_STRING ? knob.real : otherwise;
}

const char *lextrace_knob_string(const char *name, const char *otherwise)
{
	struct lx_knob knob;

	return lx_control_knob(name, &knob) ? knob.text : otherwise;
}

/* The words of /proc/self/cmdline; the size without the last NUL. */
static size_t command_line(char *out, size_t space)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t size = file ? fread(out, 1, space, file) : 0;

	if (file)
		fclose(file);
	return size > 0 && out[size - 1] == '\0' ? size - 1 : size;
}

/* Whether this is the process that `lextrace run` started. */
static bool is_root(void)
{
	const char *root = getenv("LEXTRACE_ROOT");

	return root && atoi(root) == (int)getpid();
}

static bool follows(void)
{
	const char *follow = getenv("LEXTRACE_FOLLOW");

	return !follow || strcmp(follow, "0") != 0;
}

int lextrace_start(const char *run)
{
	char argv[4096], executable[PATH_MAX], folder[PATH_MAX];
	const char *program = getenv("LEXTRACE_PROGRAM");
	bool root = is_root();
	ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	executable[length > 0 ? length : 0] = '\0';
	if (!run)
		run = getenv("LEXTRACE_DIR");
	if (!run || !*run)
		return -EINVAL;
	if (*run != '/') { /* the program may change its folder */
		size_t size = getcwd(folder, sizeof(folder)) ? strlen(folder) : sizeof(folder);

		if (size + strlen(run) + 2 > sizeof(folder))
			return -ENAMETOOLONG;
		sprintf(folder + size, "/%s", run);
		run = folder;
	}
	struct lx_session_options options = {
		.run = run,
		.program = root && program ? program : program_invocation_short_name,
		.executable = executable,
		.argv = argv,
		.argv_size = command_line(argv, sizeof(argv)),
		.follow = follows(),
		.announce = root && !getenv("LEXTRACE_QUIET"),
	};

	const char *c_calls = getenv("LEXTRACE_C_CALLS");
	int error = lx_session_active() ? -EBUSY : lx_control_start(NULL, c_calls && strcmp(c_calls, "1") == 0);

	if (!error) {
		lx_meters_start();
		error = lx_session_start(&options);
	}
	if (!error) {
		lx_control_started();
		if (!lx_signal_is_ignored())
			lx_signal_take();
	}
	return error;
}

void lextrace_stop(void)
{
	if (lx_session_active() && !lx_python_attends) {
		lx_signal_check();
		lx_signal_give_back();
	}
	lx_session_stop();
}

/*
 * A program that is linked with this library is recorded under `lextrace run` from before its main() on. In a Python, where an
 * extension brings the library along, Python's side begins when it is ready.
 */
__attribute__((constructor)) static void start_of_run(void)
{
	const char *run = getenv("LEXTRACE_DIR");

	if (run && *run && (is_root() || follows()) && !dlsym(RTLD_DEFAULT, "Py_GetVersion"))
		lextrace_start(run); /* what fails here must not disturb the program */
}
