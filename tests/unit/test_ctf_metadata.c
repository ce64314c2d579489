#include "maker.h"

#include "base/ctf_metadata.h"

static int append_text(void *context, const char *text, size_t size)
{
	made_bytes(context, text, size);
	return 0;
}

/* The metadata as text, NUL-terminated. */
static char *metadata(const struct lx_state *state, const char *process, const struct made *definitions)
{
	struct made out = {0};

	assert_int_equal(lx_ctf_metadata_write(append_text, &out, state, process, strlen(process), definitions->data,
					       definitions->size),
			 0);
	made_bytes(&out, "", 1);
	return out.data;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not found: %s\nin: %s", part, text);
}

static void labels_are_unique_in_a_block(void **state)
{
	struct lx_state made = made_state(1);
	struct made definitions = {0};

	(void)state;
	made_definition(&definitions, 0, "<unknown>", "", 0);
	made_definition(&definitions, 1, "f", "a.py", 3);
	made_definition(&definitions, 2, "f", "a.py", 3);
	made_definition(&definitions, 3, "len", "", 0);
	made_definition(&definitions, 4, "", "", 0);
	made_definition(&definitions, 5, "g", "b.py", 0);
	made_definition(&definitions, 5, "twice", "", 0);
	made_definition(&definitions, 600, "f", "a.py", 3);
	made_definition(&definitions, 7, "too late", "", 0);
	char *text = metadata(&made, "", &definitions);

	has(text, "\"<unknown>\" = 0,\n\t\t\"f a.py:3\" = 1,\n\t\t\"f a.py:3 #2\" = 2,\n\t\t\"len\" = 3,\n\t\t\"#4\" = 4,\n"
		  "\t\t\"g b.py\" = 5 } b0;\n");
	has(text, "\"b0\" = 0, \"b1\" = 1, \"b2\" = 2,\n\t\"later\" = 3 ... 65535 }");
	has(text, "\tenum : uint16_t { \"<unknown>\" = 0 ... 65535 } b1;\n");
	has(text, "\n\t\t\"f a.py:3\" = 88 } b2;\n");
	assert_null(strstr(text, "twice"));
	assert_null(strstr(text, "too late"));
	free(text);
	free(definitions.data);
}

static void text_of_any_kind_stays_in_its_quotes(void **state)
{
	struct lx_state made = made_state(1);
	struct made definitions = {0};

	(void)state;
	made_definition(&definitions, 1, "a\"b\\c\nd\x7F\xED\xA0\x80\xF0\x9F\x90\x8D", "x\t.py", 1);
	char *text = metadata(&made, "host a\"b\nargv x\\x00\\\\y\nevil = 1;\ncwd /tmp", &definitions);

	has(text, "\"a\\\"b\\\\\\\\c\\\\x0Ad\\\\x7F\\\\xED\\\\xA0\\\\x80\xF0\x9F\x90\x8D x\\\\x09.py:1\" = 1");
	has(text, "\thostname = \"a\\\"b\";\n");
	has(text, "\targv = \"x\\\\x00\\\\\\\\y\";\n");
	has(text, "\tcwd = \"/tmp\";\n");
	assert_null(strstr(text, "evil"));
	free(text);
	free(definitions.data);
}

static void the_clock_starts_at_its_sample(void **state)
{
	const struct {
		uint64_t ticks, frequency;
		const char *expected;
	} cases[] = {
		{0, 1000000000, "freq = 1000000000;\n\toffset_s = 1790000000;\n\toffset = 0;"},
		{2600000001, 2600000000, "freq = 2600000000;\n\toffset_s = 1789999998;\n\toffset = 2599999999;"},
		/* a counter that is older than the epoch */
		{1ull << 63, 1000000000, "offset_s = -7433372037;\n\toffset = 145224192;"},
		{0, 0, "freq = 1000000000;"},
	};
	struct lx_state made = made_state(1);
	struct made definitions = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		made.start = (struct lx_clock_sample){cases[i].ticks, 0, START_REAL};
		made.clock_frequency = cases[i].frequency;
		char *text = metadata(&made, "", &definitions);

		has(text, cases[i].expected);
		free(text);
	}
}

static int refuse(void *context, const char *text, size_t size)
{
	(void)text;
	(void)size;
	return --*(int *)context < 0 ? -ENOSPC : 0;
}

static void an_error_of_the_sink_ends_the_writing(void **state)
{
	struct lx_state made = made_state(1);
	struct made definitions = {0};
	int calls = 1;

	(void)state;
	for (uint32_t id = 0; id < 3000; id++)
		made_definition(&definitions, id, "some_function", "some/file.py", id);
	assert_int_equal(lx_ctf_metadata_write(refuse, &calls, &made, "", 0, definitions.data, definitions.size), -ENOSPC);
	assert_int_equal(calls, -1);
	free(definitions.data);
}

/* ---- As the babeltrace2 program reads it ---- */

static char *output_of(const char *command)
{
	struct made out = {0};
	char part[65536];
	FILE *pipe = popen(command, "r");
	size_t size;

	assert_non_null(pipe);
	while ((size = fread(part, 1, sizeof(part), pipe)) > 0)
		made_bytes(&out, part, size);
	made_bytes(&out, "", 1);
	if (pclose(pipe) != 0)
		fail_msg("%s: %s", command, out.data);
	return out.data;
}

static unsigned count_of(const char *text, const char *part)
{
	unsigned count = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		count++;
	return count;
}

/* Lexgions of the four events of each kind: one with a hostile label, one far off, one without a label, one unknown. */
static const uint32_t lexgions[] = {1, 1000, 2, 0x123456};

static void put_event(struct made *stream, uint64_t after, uint32_t kind, uint32_t which)
{
	const char *texts[] = {"", "12345678", "say \"hi\"\n", "x"};
	const uint32_t forms[] = {LX_TEXT_STRING, LX_TEXT_NUMBER, LX_TEXT_JSON, LX_TEXT_JSON | LX_TEXT_MORE};
	const uint64_t numbers[] = {1, 0, 0x7fffffffffffffff, 0x8000000000000000};
	const uint64_t span[] = {numbers[which], which, 3};
	const double floats[] = {0, 0.1, -1e300, 5e-324};

	switch (kind) {
	case LX_EV_REGION_RUN:
	case LX_EV_ARG_INT:
	case LX_EV_POINT:
		made_long(stream, after, kind, lexgions[which], kind == LX_EV_POINT ? span + 2 : span, 1);
		break;
	case LX_EV_ARG_FLOAT:
	case LX_EV_COUNTER:
		made_float(stream, after, kind, lexgions[which], floats[which]);
		break;
	case LX_EV_ARG_TEXT:
	case LX_EV_METADATA:
		made_text(stream, after, kind, lexgions[which], forms[which], texts[which], strlen(texts[which]));
		break;
	case LX_EV_SPAN:
		made_long(stream, after, kind, lexgions[which], span, 3);
		break;
	default:
		made_event(stream, after, kind, lexgions[which]);
	}
}

/* What babeltrace2 prints of every kind, whichever its header. */
static char *every_kind(struct made *stream)
{
	struct lx_state made = made_state(1);
	struct made definitions = {0};
	char *run = made_folder(), *command, *text;

	made_definition(&definitions, 1, "say \"hi\"\n", "a b.py", 3);
	made_definition(&definitions, 1000, "far", "", 0);
	made_packet(stream, START);
	for (uint32_t kind = 0; kind < LX_EV_COUNT; kind++) {
		put_event(stream, 100, kind, 0);
		put_event(stream, 1ull << 33, kind, 1);
		put_event(stream, 100, kind, 2);
		put_event(stream, 100, kind, 3);
		if (kind == 5 || kind == LX_EV_ARG_TEXT)
			made_packet(stream, stream->ticks + 50);
	}
	text = metadata(&made, "host h\nprogram p\n", &definitions);
	made_file(run, "metadata", text, strlen(text));
	made_file(run, "stream-0", stream->data, stream->size);
	free(text);
	assert_true(asprintf(&command, "babeltrace2 --clock-cycles '%s' 2>&1", run) > 0);
	text = output_of(command);
	free(command);
	free(definitions.data);
	remove_folder(run);
	return text;
}

static void need_babeltrace2(void)
{
	if (system("command -v babeltrace2 >/dev/null 2>&1") != 0)
		skip();
}

static void babeltrace2_reads_every_kind_in_both_headers(void **state)
{
	static const char *const names[] = {
#define LX_X(id, NAME, domain, name, role, payload) name,
		LX_EVENT_KINDS(LX_X)
#undef LX_X
	};
	const unsigned kinds = LX_EV_COUNT - 2; /* that have a lexgion */
	struct made stream = {.thread = 7};
	char *text;

	(void)state;
	need_babeltrace2();
	text = every_kind(&stream);
	for (size_t kind = 0; kind < LX_EV_COUNT; kind++) {
		char name[64];

		snprintf(name, sizeof(name), ":%s: {", names[kind]);
		assert_int_equal(count_of(text, name), 4);
	}
	assert_int_equal(count_of(text, "block = ( \"b0\" : container = 0 ), label = { ( \"say \\\"hi\\\"\\\\x0A a b.py:3\" : container = 1 ) }"),
			 kinds);
	assert_int_equal(count_of(text, "( \"b3\" : container = 3 ), label = { ( \"far\" : container = 232 ) }"), kinds);
	assert_int_equal(count_of(text, "( \"b0\" : container = 0 ), label = { ( <unknown> : container = 2 ) }"), kinds);
	assert_int_equal(count_of(text, "( \"later\" : container = 4660 ), label = { ( \"<unknown>\" : container = 86 ) }"), kinds);
	has(text, "{ stack = 1193046 }");
	has(text, "{ domain = ( \"User\" : container = 1 ), mode = ( \"OFF\" : container = 0 ) }");
	has(text, " h:p:(5000000) ");
	assert_int_equal(count_of(text, "thread = 7, tid = 107,"), 4 * LX_EV_COUNT);
	assert_int_equal(count_of(text, "thread_name = \"Thread-7\""), 4 * LX_EV_COUNT);
	/* The last event's time, through eight-byte and sixteen-byte headers, words behind them and three packets. */
	assert_int_equal(strtoull(strrchr(text, '[') + 1, NULL, 10), stream.ticks);
	free(text);
	free(stream.data);
}

static void babeltrace2_reads_what_stands_behind_the_header(void **state)
{
	static const char *const parts[] = {
		"}, run = 1 }", "}, run = 0 }", "}, run = 9223372036854775808 }",
		"}, value = 1 }", "}, value = 0 }", "}, value = 9223372036854775807 }", "}, value = -9223372036854775808 }",
		"}, value = 0.1 }", "}, value = -1e+300 }", "}, value = 4.94066e-324 }",
		"}, begin = 1, duration = 0, arguments = 3, reserved = 0 }",
		"}, begin = -9223372036854775808, duration = 3, arguments = 3, reserved = 0 }",
		"}, arguments = 3, reserved = 0 }",
	};
	static const char *const texts[] = {
		"form = ( \"string\" : container = 0 ), more = 0, padding = 0, size = 0, value = \"\" }",
		"form = ( \"number\" : container = 1 ), more = 0, padding = 0, size = 8, value = \"12345678\" }",
		"form = ( \"json\" : container = 2 ), more = 0, padding = 7, size = 16, value = \"say \\\"hi\\\"\\n\" }",
		"form = ( \"json\" : container = 2 ), more = 1, padding = 7, size = 8, value = \"x\" }",
	};
	struct made stream = {.thread = 7};
	char *text;

	(void)state;
	need_babeltrace2();
	text = every_kind(&stream);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		has(text, parts[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(count_of(text, texts[i]), 2); /* an argument and a metadata entry */
	free(text);
	free(stream.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_unique_in_a_block),
		cmocka_unit_test(text_of_any_kind_stays_in_its_quotes),
		cmocka_unit_test(the_clock_starts_at_its_sample),
		cmocka_unit_test(an_error_of_the_sink_ends_the_writing),
		cmocka_unit_test(babeltrace2_reads_every_kind_in_both_headers),
		cmocka_unit_test(babeltrace2_reads_what_stands_behind_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
