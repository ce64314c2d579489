#include "maker.h"

#include "transform/parse.h"

/* A process with one stream, parsed from memory. */
struct parsed {
	struct lx_process process;
	struct lx_stream stream;
	struct lx_store store;
};

static void parse(struct parsed *parsed, const void *data, size_t size, void *open, size_t open_size)
{
	struct lx_state state = made_state(0);

	memset(parsed, 0, sizeof(*parsed));
	assert_true(lx_parse_state(&parsed->process, &state, sizeof(state)));
	assert_int_equal(lx_parse_stream(&parsed->store, &parsed->stream, data, size, open, open_size), 0);
	parsed->process.streams = &parsed->stream;
	parsed->process.stream_count = 1;
	assert_int_equal(lx_parse_finish(&parsed->process, &parsed->store), 0);
}

/* Three packets of 1, 2 and 3 events. */
static struct made three_packets(void)
{
	struct made made = {0};

	for (uint32_t packet = 1; packet <= 3; packet++) {
		made_packet(&made, START + 1000 * packet);
		for (uint32_t i = 0; i < packet; i++)
			made_event(&made, 10, LX_EV_FUNCTION_BEGIN, packet);
	}
	return made;
}

static void reads_whole_packets(void **state)
{
	struct made made = three_packets();
	struct parsed parsed;
	struct lx_cursor cursor;
	struct lx_event event;

	(void)state;
	parse(&parsed, made.data, made.size, NULL, 0);
	assert_int_equal(parsed.stream.packet_count, 3);
	assert_false(parsed.stream.torn);
	assert_int_equal(parsed.stream.packets[2].words, 3);
	lx_cursor_start(&cursor, &parsed.stream.packets[2]);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(lx_cursor_next(&cursor, &event));
		assert_int_equal(event.ticks, START + 3000 + 10 * i);
		assert_int_equal(event.value, 3);
	}
	assert_false(lx_cursor_next(&cursor, &event));
	assert_int_equal(parsed.process.first, START + 1000);
	assert_int_equal(parsed.process.last, START + 3030);
	lx_store_free(&parsed.store);
	free(made.data);
}

/* The number of events that a cursor finds; *last is the last one's kind. */
static unsigned walk(const struct lx_packet_ref *packet, uint32_t *last)
{
	struct lx_cursor cursor;
	struct lx_event event;
	unsigned count = 0;

	lx_cursor_start(&cursor, packet);
	for (; lx_cursor_next(&cursor, &event); count++) {
		*last = event.kind;
		if (event.kind >= LX_EV_FIRST_LONG && event.kind < LX_EV_COUNT)
			assert_true(event.more >= packet->events && event.more + event.more_words <= packet->events + packet->words);
	}
	assert_ptr_equal(cursor.at, cursor.end);
	return count;
}

static void reads_what_stands_behind_a_header(void **state)
{
	const uint64_t span[] = {5, 6, 7};
	struct made made = {0};
	struct parsed parsed;
	struct lx_cursor cursor;
	struct lx_event event;

	(void)state;
	made_packet(&made, START);
	made_text(&made, 10, LX_EV_ARG_TEXT, 3, LX_TEXT_STRING, "nine char", 9);
	made_long(&made, 1ull << 30, LX_EV_SPAN, 0x1234, span, 3);
	made_int(&made, 10, 2, -1);
	made_text(&made, 10, LX_EV_METADATA, 1, LX_TEXT_JSON, "", 0);
	made_event(&made, 10, LX_EV_REGION_END, 1);
	parse(&parsed, made.data, made.size, NULL, 0);
	lx_cursor_start(&cursor, &parsed.stream.packets[0]);
	assert_true(lx_cursor_next(&cursor, &event));
	assert_int_equal(event.kind, LX_EV_ARG_TEXT);
	assert_int_equal(event.value, 3);
	assert_int_equal(event.more_words, 3);
	assert_memory_equal(event.more + 1, "nine char\0\0\0\0\0\0\0", 16);
	assert_int_equal(LX_TEXT_PADDING(event.more[0]), 7);
	assert_true(lx_cursor_next(&cursor, &event));
	assert_int_equal(event.value, 0x1234);
	assert_memory_equal(event.more, span, sizeof(span));
	assert_int_equal(event.ticks, START + 10 + (1ull << 30));
	assert_true(lx_cursor_next(&cursor, &event));
	assert_int_equal((int64_t)event.more[0], -1);
	assert_true(lx_cursor_next(&cursor, &event));
	assert_int_equal(event.more_words, 1);
	assert_true(lx_cursor_next(&cursor, &event));
	assert_int_equal(event.kind, LX_EV_REGION_END);
	assert_int_equal(event.ticks, START + 40 + (1ull << 30));
	assert_false(lx_cursor_next(&cursor, &event));
	lx_store_free(&parsed.store);
	free(made.data);
}

/* The packet is cut at every word: what is whole before it is read, and nothing past its end. */
static void a_long_event_that_is_cut_off_ends_the_packet(void **state)
{
	static const uint32_t kinds[] = {LX_EV_REGION_RUN, LX_EV_ARG_INT, LX_EV_SPAN, LX_EV_POINT, LX_EV_COUNTER};
	const uint64_t words[] = {1, 2, 3};
	struct parsed parsed;
	uint32_t last = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) + 2; i++) {
		struct made made = {0};

		made_packet(&made, START);
		made_event(&made, 10, LX_EV_REGION_BEGIN, 1);
		if (i < sizeof(kinds) / sizeof(kinds[0]))
			made_long(&made, i % 2 ? 10 : 1ull << 30, kinds[i], 1, words, kinds[i] == LX_EV_SPAN ? 3 : 1);
		else
			made_text(&made, 10, LX_EV_ARG_TEXT, 1, LX_TEXT_STRING, "text of two words", i % 2 ? 17 : 0);
		for (size_t cut = 1; made.size - 8 * cut >= sizeof(struct lx_packet) + 8; cut++) {
			char *open = malloc(made.size - 8 * cut);
			struct lx_packet *packet = (struct lx_packet *)open;

			memcpy(open, made.data, made.size - 8 * cut);
			packet->content_size -= 64 * cut;
			packet->packet_size -= 64 * cut;
			parse(&parsed, open, made.size - 8 * cut, NULL, 0);
			assert_int_equal(walk(&parsed.stream.packets[0], &last), 1);
			assert_int_equal(last, LX_EV_REGION_BEGIN);
			lx_store_free(&parsed.store);
			/* As an open packet it is cut before the event. */
			parse(&parsed, NULL, 0, open, made.size - 8 * cut);
			assert_int_equal(parsed.stream.packets[0].words, 1);
			assert_int_equal(parsed.stream.packets[0].header->events, 1);
			lx_store_free(&parsed.store);
			free(open);
		}
		free(made.data);
	}
}

static void a_text_of_any_size_stays_in_its_packet(void **state)
{
	static const uint32_t sizes[] = {1, 7, 9, 16, 17, 4096, 0x7fffffff, 0xfffffff8, 0xffffffff};
	uint32_t last = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t words[] = {7u << 16 | (uint64_t)sizes[i] << 32, 2, 3};
		struct made made = {0};
		struct parsed parsed;

		made_packet(&made, START);
		made_long(&made, 10, LX_EV_METADATA, 1, words, 3);
		parse(&parsed, made.data, made.size, NULL, 0);
		/* A text of one word leaves a word that is an event of its own. */
		assert_int_equal(walk(&parsed.stream.packets[0], &last), sizes[i] <= 8 ? 2 : sizes[i] <= 16 ? 1 : 0);
		lx_store_free(&parsed.store);
		free(made.data);
	}
}

static void completes_times_in_both_headers(void **state)
{
	const uint64_t after[] = {0, 1, (1 << 27) - 1, 1 << 27, 5, 1ull << 40, (1 << 27) - 1};
	struct made made = {0};
	struct parsed parsed;
	struct lx_cursor cursor;
	struct lx_event event;
	uint64_t ticks = START;

	(void)state;
	made_packet(&made, START);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		made_event(&made, after[i], LX_EV_C_CALL_END, 0x123456);
	parse(&parsed, made.data, made.size, NULL, 0);
	lx_cursor_start(&cursor, &parsed.stream.packets[0]);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		ticks += after[i];
		assert_true(lx_cursor_next(&cursor, &event));
		assert_int_equal(event.ticks, ticks);
		assert_int_equal(event.kind, LX_EV_C_CALL_END);
		assert_int_equal(event.value, 0x123456);
	}
	lx_store_free(&parsed.store);
	free(made.data);
}

static void every_cut_leaves_the_packets_before_it(void **state)
{
	struct made made = three_packets();
	const size_t header = sizeof(struct lx_packet);
	const size_t ends[] = {0, header + 8, 2 * header + 24, 3 * header + 48};

	(void)state;
	for (size_t cut = 0; cut <= made.size; cut++) {
		struct parsed parsed;
		char *copy = malloc(cut + 1);
		size_t whole = 0;

		memcpy(copy, made.data, cut);
		while (whole < 3 && ends[whole + 1] <= cut)
			whole++;
		parse(&parsed, copy, cut, NULL, 0);
		assert_int_equal(parsed.stream.packet_count, whole);
		assert_int_equal(parsed.stream.whole, ends[whole]);
		assert_int_equal(parsed.stream.torn, cut != ends[whole]);
		lx_store_free(&parsed.store);
		free(copy);
	}
	free(made.data);
}

static void refuses_headers_that_lie(void **state)
{
	(void)state;
	for (int lie = 0; lie < 9; lie++) {
		struct made made = three_packets();
		struct lx_packet *header = made_header(&made);
		struct parsed parsed;

		switch (lie) {
		case 0: header->magic++; break;
		case 1: header->uuid[3]++; break;
		case 2: header->content_size = header->packet_size + 64; break;
		case 3: header->packet_size += 64; break;
		case 4: header->packet_size = 0; break;
		case 5: header->content_size = 64; break;
		case 6: header->content_size -= 8; break;
		case 7: header->packet_size = UINT64_MAX - 63; break;
		case 8: header->thread = 0xffffffff; break;
		}
		parse(&parsed, made.data, made.size, NULL, 0);
		assert_int_equal(parsed.stream.packet_count, 2);
		assert_true(parsed.stream.torn);
		lx_store_free(&parsed.store);
		free(made.data);
	}
}

static void leaves_out_packets_that_were_appended_twice(void **state)
{
	struct made made = three_packets();
	struct parsed parsed;

	(void)state;
	made.sequence = 2;
	made_packet(&made, START + 3000);
	made_event(&made, 10, LX_EV_FUNCTION_BEGIN, 3);
	parse(&parsed, made.data, made.size, NULL, 0);
	assert_int_equal(parsed.stream.packet_count, 3);
	lx_store_free(&parsed.store);
	free(made.data);
}

/* ---- Open packets ---- */

static struct made open_packet(uint64_t sequence, size_t events, size_t room)
{
	struct made made = {.sequence = sequence};
	char *zeros = calloc(1, room);

	made_packet(&made, START + 9000);
	for (size_t i = 0; i < events; i++)
		made_event(&made, 10, LX_EV_FUNCTION_BEGIN, 4);
	made_header(&made)->events = 0;
	made_bytes(&made, zeros, room - made.size);
	made_header(&made)->packet_size = 8 * room;
	free(zeros);
	return made;
}

static void appends_an_open_packet(void **state)
{
	struct made made = three_packets(), open = open_packet(3, 5, 16384);
	struct parsed parsed;

	(void)state;
	parse(&parsed, made.data, made.size, open.data, open.size);
	assert_int_equal(parsed.stream.packet_count, 4);
	assert_true(parsed.stream.packets[3].open);
	assert_int_equal(parsed.stream.packets[3].words, 5);
	assert_int_equal(parsed.stream.packets[3].header->events, 5);
	assert_int_equal(parsed.stream.packets[3].header->packet_size, 8 * (sizeof(struct lx_packet) + 40));
	assert_int_equal(parsed.process.last, START + 9050);
	assert_false(parsed.stream.torn);
	lx_store_free(&parsed.store);
	free(made.data);
	free(open.data);
}

static void passes_over_a_copy_and_an_empty_one(void **state)
{
	struct made made = three_packets();

	(void)state;
	for (uint64_t sequence = 0; sequence < 4; sequence++) {
		struct made open = open_packet(sequence, sequence < 3 ? 5 : 0, 16384);
		struct parsed parsed;

		parse(&parsed, made.data, made.size, open.data, open.size);
		assert_int_equal(parsed.stream.packet_count, 3);
		lx_store_free(&parsed.store);
		free(open.data);
	}
	free(made.data);
}

static void trusts_no_content_size_of_an_open_packet(void **state)
{
	const uint64_t bits = 8 * sizeof(struct lx_packet);
	const struct {
		uint64_t content;
		size_t events;
	} cases[] = {{bits + 64 * 5, 5}, {bits + 64 * 6, 5}, {bits + 64 * 4, 4}, {UINT64_MAX, 5}, {bits + 64 * 4 + 8, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made open = open_packet(0, 5, 16384);
		struct parsed parsed;

		made_header(&open)->content_size = cases[i].content;
		parse(&parsed, NULL, 0, open.data, open.size);
		assert_int_equal(parsed.stream.packet_count, 1);
		assert_int_equal(parsed.stream.packets[0].header->events, cases[i].events);
		lx_store_free(&parsed.store);
		free(open.data);
	}
}

static void an_open_packet_may_be_cut_anywhere(void **state)
{
	struct made open = open_packet(0, 5, 512);

	(void)state;
	for (size_t cut = 0; cut <= open.size; cut++) {
		struct parsed parsed;
		char *copy = malloc(cut + 1);
		size_t events = cut < sizeof(struct lx_packet) ? 0 : (cut - sizeof(struct lx_packet)) / 8;

		memcpy(copy, open.data, cut);
		parse(&parsed, NULL, 0, copy, cut);
		assert_int_equal(parsed.stream.packet_count, events > 0);
		if (events > 0)
			assert_int_equal(parsed.stream.packets[0].header->events, events < 5 ? events : 5);
		lx_store_free(&parsed.store);
		free(copy);
	}
	free(open.data);
}

/* ---- Threads and losses ---- */

static void lists_threads_by_number(void **state)
{
	struct made made = {0};
	struct parsed parsed;

	(void)state;
	made_packet(&made, START);
	made_event(&made, 500, LX_EV_FUNCTION_BEGIN, 1);
	made.thread = 3;
	made_packet(&made, START + 700);
	made_event(&made, 100, LX_EV_FUNCTION_BEGIN, 1);
	memcpy(made_header(&made)->thread_name, "caf\xC3\xA9\xFF", 7);
	parse(&parsed, made.data, made.size, NULL, 0);
	assert_int_equal(parsed.process.thread_count, 4);
	assert_int_equal(parsed.process.threads[0].tid, 100);
	assert_int_equal(parsed.process.threads[0].last, START + 500);
	assert_int_equal(parsed.process.threads[1].tid, 0);
	assert_int_equal(parsed.process.threads[3].tid, 103);
	assert_int_equal(parsed.process.threads[3].first, START + 700);
	assert_string_equal(parsed.process.threads[3].name, "caf\xC3\xA9?");
	lx_store_free(&parsed.store);
	free(made.data);
}

static void adds_up_losses_by_cause(void **state)
{
	struct made made = three_packets();
	struct parsed parsed;

	(void)state;
	made_header(&made)->lost[LX_LOSS_DISK_FULL] = 7;
	made_header(&made)->lost[LX_LOSS_REENTERED] = 2;
	parse(&parsed, made.data, made.size, NULL, 0);
	assert_int_equal(parsed.process.lost[LX_LOSS_DISK_FULL], 7);
	assert_int_equal(parsed.process.lost_total, 9);
	lx_store_free(&parsed.store);
	free(made.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_whole_packets),
		cmocka_unit_test(reads_what_stands_behind_a_header),
		cmocka_unit_test(a_long_event_that_is_cut_off_ends_the_packet),
		cmocka_unit_test(a_text_of_any_size_stays_in_its_packet),
		cmocka_unit_test(completes_times_in_both_headers),
		cmocka_unit_test(every_cut_leaves_the_packets_before_it),
		cmocka_unit_test(refuses_headers_that_lie),
		cmocka_unit_test(leaves_out_packets_that_were_appended_twice),
		cmocka_unit_test(appends_an_open_packet),
		cmocka_unit_test(passes_over_a_copy_and_an_empty_one),
		cmocka_unit_test(trusts_no_content_size_of_an_open_packet),
		cmocka_unit_test(an_open_packet_may_be_cut_anywhere),
		cmocka_unit_test(lists_threads_by_number),
		cmocka_unit_test(adds_up_losses_by_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
