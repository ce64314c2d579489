#include "maker.h"

#include "transform/parse.h"
#include "view/spans.h"

/*
 * Events as text, one a word: (f begin, )f end, y: yield, r: resume, u: unwind, s: switch to stack DIGIT, m: the domain
 * DIGIT goes to STANDBY, o: to OFF. Each is 10 ticks after the one before. Lexgions are a, b, c ... = 1, 2, 3 ...; those
 * from n on are regions.
 */
static void play(struct made *made, const char *text)
{
	static const struct {
		char letter;
		uint32_t kind;
	} kinds[] = {{'(', LX_EV_FUNCTION_BEGIN}, {')', LX_EV_FUNCTION_END}, {'y', LX_EV_FUNCTION_YIELD},
		     {'r', LX_EV_FUNCTION_RESUME}, {'u', LX_EV_FUNCTION_UNWIND}, {'s', LX_EV_STACK_SWITCH},
		     {'<', LX_EV_C_CALL_BEGIN}, {'>', LX_EV_C_CALL_END}, {'!', LX_EV_C_CALL_RAISE},
		     {'[', LX_EV_REGION_BEGIN}, {']', LX_EV_REGION_END}, {'?', 29}, {'m', LX_EV_MODE}, {'o', LX_EV_MODE}};

	for (; *text; text += text[2] ? 3 : 2) {
		uint32_t digit = (uint32_t)(text[1] - '0'), value = (uint32_t)(text[1] - 'a' + 1);

		if (text[0] == 's')
			value = digit;
		else if (text[0] == 'm' || text[0] == 'o')
			value = LX_MODE_WORD(digit, text[0] == 'm' ? LX_MODE_STANDBY : LX_MODE_OFF);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (kinds[i].letter == text[0])
				made_event(made, 10, kinds[i].kind, value);
	}
}

struct told {
	char text[8192];
	size_t size;
	uint64_t origin;
};

/* A span as text: name, depth, begin-end, how it ended, * a later slice, + recursive, time of callees, thread. */
static void tell(void *context, const struct lx_process *process, const struct lx_thread_info *thread,
		 struct lx_span *span)
{
	struct told *told = context;

	(void)process;
	if (told->size > sizeof(told->text) - 100)
		return;
	told->size += (size_t)snprintf(told->text + told->size, sizeof(told->text) - told->size,
				       "%s%c%u[%d-%d %c%s%s %d]%s", told->size ? " " : "", 'a' - 1 + (int)span->lexgion,
				       span->depth, (int)(span->begin - told->origin), (int)(span->end - told->origin),
				       "ryusolmp"[span->ended == LX_ENDED_RETURN ? 0 :
						span->ended == LX_ENDED_YIELD  ? 1 :
						span->ended == LX_ENDED_UNWIND ? 2 :
						span->ended == LX_ENDED_SWITCH ? 3 :
						span->ended == LX_ENDED_OPEN   ? 4 :
						span->ended == LX_ENDED_LOST   ? 5 :
						span->ended == LX_ENDED_MODE   ? 6 :
										 7],
				       span->resumed ? "*" : "", span->recursive ? "+" : "", (int)span->children,
				       thread->number ? "T" : "");
}

/* What the configuration leaves out, from tick 0 and from another one on; NULL: nothing. By lexgion; [27] are all others. */
static const uint8_t *left_out[2];
static uint64_t left_out_from;

/* Runs the streams that were made through lx_spans_run; the text is of the last call. */
static const char *spans_of(const struct made *made, size_t count, struct lx_spans_totals *totals)
{
	static struct told told;
	static const struct lx_spans_ops ops = {.leave = tell};
	struct lx_lexgion lexgions[27] = {{0}}; /* only their domains are looked at */
	struct lx_stream streams[2] = {{0}};
	struct lx_process process = {.streams = streams, .stream_count = count, .lexgions = lexgions, .lexgion_count = 27};
	struct lx_sides sides[2] = {{0, left_out}, {left_out_from, left_out + 1}};
	struct lx_state state = made_state(0);
	struct lx_store store = {NULL};

	if (left_out[0]) {
		process.sides = sides;
		process.side_count = left_out[1] ? 2 : 1;
	}
	for (unsigned i = 'n' - 'a' + 1; i < 27; i++)
		lexgions[i].domain = LX_DOMAIN_USER;
	memset(&told, 0, sizeof(told));
	told.origin = START;
	memset(totals, 0, sizeof(*totals));
	lx_parse_state(&process, &state, sizeof(state));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(lx_parse_stream(&store, &streams[i], made[i].data, made[i].size, NULL, 0), 0);
	assert_int_equal(lx_parse_finish(&process, &store), 0);
	assert_int_equal(lx_spans_run(&process, &ops, &told, totals), 0);
	lx_store_free(&store);
	return told.text;
}

static const char *spans(const struct made *made, struct lx_spans_totals *totals)
{
	return spans_of(made, 1, totals);
}

static void check(const char *events, const char *expected, struct lx_spans_totals *totals)
{
	struct made made = {0};

	made_packet(&made, START);
	play(&made, events);
	assert_string_equal(spans(&made, totals), expected);
	free(made.data);
}

static void calls_nest(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b )b (c )c )a", "b1[20-30 r 0] c1[40-50 r 0] a0[10-60 r 20]", &totals);
	assert_int_equal(totals.events, 6);
	assert_int_equal(totals.begins, 3);
	assert_int_equal(totals.kinds[LX_EV_FUNCTION_END], 3);
	check("<a >a [b <c !c ]b", "a0[10-20 r 0] c1[40-50 u 0] b0[30-60 r 10]", &totals);
}

static void recursion_is_marked(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b (a )a )b )a (a )a",
	      "a2[30-40 r+ 0] b1[20-50 r 10] a0[10-60 r 30] a0[70-80 r 0]", &totals);
}

static void generators_come_in_slices(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b yb (c )c rb )b )a",
	      "b1[20-30 y 0] c1[40-50 r 0] b1[60-70 r* 0] a0[10-80 r 30]", &totals);
	assert_int_equal(totals.begins, 3);
}

static void exceptions_unwind(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b (c uc ub )a", "c2[30-40 u 0] b1[20-50 u 10] a0[10-60 r 30]", &totals);
}

static void calls_without_an_end_are_closed(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b (c )c", "c2[30-40 r 0] b1[20-40 o 10] a0[10-40 o 20]", &totals);
	assert_int_equal(totals.closed_open, 2);
	assert_int_equal(totals.closed_lost, 0);
}

static void a_lost_end_is_made_good_by_the_callers(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a (b (c )a (d )d", "c2[30-40 l 0] b1[20-40 l 10] a0[10-40 r 20] d0[50-60 r 0]", &totals);
	assert_int_equal(totals.closed_lost, 2);
}

static void an_end_without_a_begin_is_dropped(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check(")b (a )c yd ue )a", "a0[20-60 r 0]", &totals);
	assert_int_equal(totals.dropped_ends, 4);
}

static void unknown_kinds_touch_nothing(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a ?b )a", "a0[10-30 r 0]", &totals);
	assert_int_equal(totals.events, 3);
}

static void stacks_take_turns(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	/* a calls b, stack 1 runs c and stops in it, a goes on and ends, c goes on and ends. */
	check("(a (b s1 (c s0 )b )a s1 )c",
	      "b1[20-30 s 0] a0[10-30 s 10] c0[40-50 s 0] b1[50-60 r* 0] a0[50-70 r* 10] c0[80-90 r* 0]", &totals);
	assert_int_equal(totals.begins, 3);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
}

static void many_stacks_keep_their_calls(void **state)
{
	struct made made = {0};
	struct lx_spans_totals totals;

	(void)state;
	made_packet(&made, START);
	for (uint32_t stack = 1; stack <= 500; stack++) {
		made_event(&made, 1, LX_EV_STACK_SWITCH, stack * 7919);
		made_event(&made, 1, LX_EV_FUNCTION_BEGIN, stack);
	}
	for (uint32_t stack = 1; stack <= 500; stack++) {
		made_event(&made, 1, LX_EV_STACK_SWITCH, stack * 7919);
		made_event(&made, 1, LX_EV_FUNCTION_END, stack);
	}
	spans(&made, &totals);
	assert_int_equal(totals.begins, 500);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
	free(made.data);
}

static void a_switch_that_was_lost_shows_in_the_next_packet(void **state)
{
	struct lx_spans_totals totals;
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	play(&made, "(a");
	made.stack = 1;
	made_packet(&made, START + 20);
	play(&made, "(b )b");
	assert_string_equal(spans(&made, &totals), "a0[10-20 s 0] b0[30-40 r 0]");
	free(made.data);
}

static void calls_go_on_over_packets_and_gaps(void **state)
{
	struct lx_spans_totals totals;
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	play(&made, "(a (b");
	made.sequence += 2;
	made_packet(&made, START + 20);
	made_header(&made)->events_discarded = 5;
	play(&made, ")b )a");
	assert_string_equal(spans(&made, &totals), "b1[20-30 r 0] a0[10-40 r 10]");
	free(made.data);
}

static void threads_follow_each_other_in_a_stream(void **state)
{
	struct lx_spans_totals totals;
	struct made made = {0};

	(void)state;
	made_packet(&made, START);
	play(&made, "(a (b )b");
	made.thread = 1;
	made_packet(&made, START + 100);
	play(&made, ")a (c )c");
	assert_string_equal(spans(&made, &totals), "b1[20-30 r 0] a0[10-30 o 10] c0[120-130 r 0]T");
	assert_int_equal(totals.dropped_ends, 1);
	free(made.data);
}

static void depth_has_no_limit(void **state)
{
	struct lx_spans_totals totals;
	struct made made = {0};
	const uint32_t depth = 100000;

	(void)state;
	made_packet(&made, START);
	for (uint32_t i = 0; i < 2 * depth; i++) {
		if (made.size - made.packet > LX_PACKET_MAX - 64)
			made_packet(&made, made.ticks);
		made_event(&made, 1, i < depth ? LX_EV_FUNCTION_BEGIN : LX_EV_FUNCTION_END,
			   1 + (i < depth ? i : 2 * depth - 1 - i) % 3);
	}
	spans(&made, &totals);
	assert_int_equal(totals.begins, depth);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
	free(made.data);
}

static void a_mode_ends_the_calls_of_its_domain(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	/* Their ends, that nobody writes, would be no repair. */
	check("(a (b m0 )b )a (c )c", "b1[20-30 m 0] a0[10-30 m 10] c0[60-70 r 0]", &totals);
	assert_int_equal(totals.closed_mode, 2);
	assert_int_equal(totals.closed_open + totals.closed_lost + totals.dropped_ends, 0);
	check("(a o0 (b )b", "a0[10-20 m 0] b0[30-40 r 0]", &totals);
	/* MONITORING and TRACING stop nothing; a domain of no known number neither. */
	check("(a m9 )a", "a0[10-30 r 0]", &totals);
	check(")a m0 )a", "", &totals);
	assert_int_equal(totals.dropped_ends, 1);
}

static void calls_of_other_domains_go_on(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	/* Region n around them stays as it is; region o inside goes on in a second slice. */
	check("[n (a [o (b m0 ]o ]n",
	      "b3[40-50 m 0] o2[30-50 m 10] a1[20-50 m 20] o1[50-60 r* 0] n0[10-70 r 40]", &totals);
	assert_int_equal(totals.begins, 4);
	assert_int_equal(totals.closed_mode, 2);
	check("(a [n m1 )a", "n1[20-30 m 0] a0[10-40 r 10]", &totals);
}

static void a_mode_ends_waiting_stacks(void **state)
{
	struct lx_spans_totals totals;

	(void)state;
	check("(a [n (b s1 (c m0 s0 ]n", "b2[30-40 s 0] n1[20-40 s 10] a0[10-40 s 20] c0[50-60 m 0] n0[70-80 r* 0]",
	      &totals);
	assert_int_equal(totals.closed_mode, 3);
	/* A generator that waited comes back as what it is: a slice. */
	check("(a ya m0 ra )a", "a0[10-20 y 0] a0[40-50 r* 0]", &totals);
}

static void a_mode_ends_calls_in_all_threads(void **state)
{
	struct lx_spans_totals totals;
	struct made made[2] = {{0}, {0}};

	(void)state;
	/* The other thread has no event after the switch at 130, nor has the one that stands in front of it in its stream. */
	made_packet(&made[0], START);
	play(&made[0], "(a");
	made[0].thread = 2;
	made_packet(&made[0], START + 20);
	play(&made[0], "[n (b");
	made[1].thread = 1;
	made_packet(&made[1], START + 100);
	play(&made[1], "(c (d m0 (e )e");
	assert_string_equal(spans_of(made, 2, &totals),
			    "a0[10-10 o 0] b1[40-130 m 0]T n0[30-130 o 90]T d1[120-130 m 0]T c0[110-130 m 10]T e0[140-150 r 0]T");
	assert_int_equal(totals.closed_open, 2);
	assert_int_equal(totals.closed_mode, 3);
	free(made[0].data);
	free(made[1].data);
}

static void a_thread_goes_on_after_a_mode_in_another(void **state)
{
	struct lx_spans_totals totals;
	struct made made[2] = {{0}, {0}};

	(void)state;
	made_packet(&made[0], START);
	play(&made[0], "(a (b )b (c [n )c )a ]n (d )d");
	made[1].thread = 1;
	made_packet(&made[1], START + 45);
	play(&made[1], "m0");
	assert_string_equal(spans_of(made, 2, &totals),
			    "b1[20-30 r 0] n2[50-55 m 0] c1[40-55 m 5] a0[10-55 m 25] n0[55-80 r* 0] d0[90-100 r 0]");
	assert_int_equal(totals.dropped_ends + totals.closed_open, 0);
	free(made[0].data);
	free(made[1].data);
}

static void one_sided_events_are_points(void **state)
{
	static const uint8_t no_end[28] = {[1] = LX_SIDE_NO_END, [15] = LX_SIDE_NO_END}; /* a and o */
	static const uint8_t no_begin[28] = {[1] = LX_SIDE_NO_BEGIN};
	struct lx_spans_totals totals;

	(void)state;
	left_out[0] = no_end;
	check("(b (a (a (c )c (a )b [o", "a1[20-20 p 0] a1[30-30 p 0] c1[40-50 r 0] a1[60-60 p 0] b0[10-70 r 10] o0[80-80 p 0]",
	      &totals);
	assert_int_equal(totals.points, 4);
	assert_int_equal(totals.begins, 6);
	/* A generator's resumptions are no calls; what is killed in b is still open. */
	check("(b (a ra ra", "a1[20-20 p 0] a1[30-30 p* 0] a1[40-40 p* 0] b0[10-40 o 0]", &totals);
	left_out[0] = no_begin;
	check("(b ya )a )b ua", "a1[20-20 p* 0] a1[30-30 p 0] b0[10-40 r 0] a0[50-50 p 0]", &totals);
	assert_int_equal(totals.dropped_ends + totals.closed_lost, 0);
	left_out[0] = NULL;
}

static void c_calls_go_by_their_caller(void **state)
{
	static const uint8_t bits[28] = {[1] = LX_SIDE_NO_END << LX_SIDE_C, [27] = LX_SIDE_NO_BEGIN << LX_SIDE_C};
	struct lx_spans_totals totals;

	(void)state;
	left_out[0] = bits;
	check("(a <c <c )a (b <c >c )b >d !c", "c1[20-20 p 0] c1[30-30 p 0] a0[10-40 r 0] c1[60-70 r 0] b0[50-80 r 10] "
					       "d0[90-90 p 0] c0[100-100 p 0]", &totals);
	assert_int_equal(totals.closed_lost, 0);
	left_out[0] = NULL;
}

static void sides_change_with_the_configuration(void **state)
{
	static const uint8_t none[28] = {0}, no_end[28] = {[1] = LX_SIDE_NO_END};
	struct lx_spans_totals totals;

	(void)state;
	left_out[0] = none;
	left_out[1] = no_end;
	left_out_from = START + 35;
	/* The call that was open then has its end. */
	check("(b (a (a (a )a )a (a )b", "a3[40-40 p+ 0] a2[30-50 r+ 0] a1[20-60 r 20] a1[70-70 p 0] b0[10-80 r 40]", &totals);
	left_out[0] = left_out[1] = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_nest),
		cmocka_unit_test(recursion_is_marked),
		cmocka_unit_test(generators_come_in_slices),
		cmocka_unit_test(exceptions_unwind),
		cmocka_unit_test(calls_without_an_end_are_closed),
		cmocka_unit_test(a_lost_end_is_made_good_by_the_callers),
		cmocka_unit_test(an_end_without_a_begin_is_dropped),
		cmocka_unit_test(unknown_kinds_touch_nothing),
		cmocka_unit_test(stacks_take_turns),
		cmocka_unit_test(many_stacks_keep_their_calls),
		cmocka_unit_test(a_switch_that_was_lost_shows_in_the_next_packet),
		cmocka_unit_test(calls_go_on_over_packets_and_gaps),
		cmocka_unit_test(threads_follow_each_other_in_a_stream),
		cmocka_unit_test(depth_has_no_limit),
		cmocka_unit_test(one_sided_events_are_points),
		cmocka_unit_test(c_calls_go_by_their_caller),
		cmocka_unit_test(sides_change_with_the_configuration),
		cmocka_unit_test(a_mode_ends_the_calls_of_its_domain),
		cmocka_unit_test(calls_of_other_domains_go_on),
		cmocka_unit_test(a_mode_ends_waiting_stacks),
		cmocka_unit_test(a_mode_ends_calls_in_all_threads),
		cmocka_unit_test(a_thread_goes_on_after_a_mode_in_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
