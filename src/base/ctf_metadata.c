#include "base/ctf_metadata.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/definitions.h"
#include "base/text.h"

#define NS_PER_S 1000000000
#define FREQUENCY_MAX 100000000000u /* no clock ticks faster: a damaged state */

/* Text on its way to the sink. After an error of the sink nothing more is handed to it. */
struct writer {
	lx_text_sink sink;
	void *context;
	int error;
	size_t used;
	char buffer[4096];
};

static void flush(struct writer *out)
{
	if (out->error == 0 && out->used > 0)
		out->error = out->sink(out->context, out->buffer, out->used);
	out->used = 0;
}

static void put(struct writer *out, const char *text, size_t size)
{
	while (size > 0) {
		size_t part = sizeof(out->buffer) - out->used;

		if (part > size)
			part = size;
		memcpy(out->buffer + out->used, text, part);
		out->used += part;
		text += part;
		size -= part;
		if (out->used == sizeof(out->buffer))
			flush(out);
	}
}

static void put_text(struct writer *out, const char *text)
{
	put(out, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void print(struct writer *out, const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	put_text(out, line);
}

/*
 * The inside of a string literal. What readers could stumble over becomes \xHH as text; escaped: the text has gone
 * through lx_escape before, its backslashes stand as they are.
 */
static void put_literal(struct writer *out, const char *text, size_t size, bool escaped)
{
	for (size_t at = 0; at < size;) {
		unsigned char byte = (unsigned char)text[at];
		unsigned length = lx_utf8_length(text + at, size - at);

		if (byte == '\\') {
			put_text(out, escaped ? "\\\\" : "\\\\\\\\");
		} else if (byte == '"') {
			put_text(out, "\\\"");
		} else if (length == 0 || byte < 0x20 || byte == 0x7F) {
			print(out, "\\\\x%02X", byte);
			length = 1;
		} else {
			put(out, text + at, length);
		}
		at += length;
	}
}

/* ---- The parts that are the same in every trace, from format.h's tables ---- */

static const char types[] =
	"/* CTF 1.8 */\n"
	"\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := char_t;\n"
	"\n";

static void put_header_u32(struct writer *out, const char *name)
{
	print(out, "\t\tuint32_t %s;\n", name);
}

static void put_header_u64(struct writer *out, const char *name)
{
	print(out, "\t\tuint64_t %s;\n", name);
}

static void put_header_ticks(struct writer *out, const char *name)
{
	print(out, "\t\tticks_t %s;\n", name);
}

static void put_header_u8x16(struct writer *out, const char *name)
{
	print(out, "\t\tuint8_t %s[16];\n", name);
}

static void put_header_losses(struct writer *out, const char *name)
{
	(void)name; /* each cause is a field of its own */
#define LX_X(number, NAME, field, text) put_header_u64(out, field);
	LX_LOSSES(LX_X)
#undef LX_X
}

static void put_header_name64(struct writer *out, const char *name)
{
	print(out, "\t\tchar_t %s[%d];\n", name, LX_THREAD_NAME_SIZE);
}

static void put_packet_fields(struct writer *out, int first, int end)
{
	int at = 0;

#define LX_X(type, name)                                                                           \
	if (at >= first && at < end)                                                               \
		put_header_##type(out, #name);                                                     \
	at++;
	LX_PACKET_FIELDS(LX_X)
#undef LX_X
}

static void put_trace(struct writer *out, const struct lx_state *state)
{
	put_text(out, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\tuuid = \"");
	for (unsigned i = 0; i < sizeof(state->uuid); i++)
		print(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", state->uuid[i]);
	put_text(out, "\";\n\tpacket.header := struct {\n");
	put_packet_fields(out, 0, LX_PACKET_HEADER_FIELDS);
	put_text(out, "\t};\n};\n\n");
}

static void put_stream(struct writer *out)
{
	print(out, "struct event_header {\n"
		   "\tenum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... %u, extended = %u } id;\n"
		   "\tvariant <id> {\n"
		   "\t\tstruct {\n"
		   "\t\t\tinteger { size = %u; align = 1; signed = false; map = clock.ticks.value; } timestamp;\n"
		   "\t\t} compact;\n",
	      LX_EV_EXTENDED - 1, LX_EV_EXTENDED, LX_TIMESTAMP_BITS);
	print(out, "\t\tstruct {\n"
		   "\t\t\tinteger { size = %u; align = 1; signed = false; } id;\n"
		   "\t\t\tinteger { size = 64; align = 1; signed = false; map = clock.ticks.value; } timestamp;\n"
		   "\t\t} extended;\n"
		   "\t} v;\n"
		   "} align(8);\n\n",
	      LX_TIMESTAMP_BITS);
	put_text(out, "stream {\n\tid = 0;\n\tevent.header := struct event_header;\n\tpacket.context := struct {\n");
	put_packet_fields(out, LX_PACKET_HEADER_FIELDS, INT32_MAX);
	put_text(out, "\t};\n};\n\n");
}

static const char *domain_prefix(enum lx_domain domain)
{
	switch (domain) {
#define LX_X(number, NAME, name, prefix)                                                           \
	case LX_DOMAIN_##NAME:                                                                     \
		return prefix;
		LX_DOMAINS(LX_X)
#undef LX_X
	case LX_DOMAIN_COUNT:
		break;
	}
	return "lextrace";
}

#define FIELDS_LEXGION "struct lexgion"
#define FIELDS_STACK "struct { uint32_t stack; }"
#define FIELDS_MODE "struct { enum domain domain; enum mode mode; }"
#define FIELDS_RUN "struct { struct lexgion lexgion; uint64_t run; }"
#define FIELDS_INT "struct { struct lexgion key; int64_t value; }"
#define FIELDS_FLOAT "struct { struct lexgion key; float64_t value; }"
#define FIELDS_TEXT "struct { struct lexgion key; enum form form; uint8_t more; uint16_t padding; uint32_t size; char_t value[size]; }"
#define FIELDS_SPAN                                                                                                          \
	"struct { struct lexgion lexgion; int64_t begin; uint64_t duration; uint32_t arguments; uint32_t reserved; }"
#define FIELDS_POINT "struct { struct lexgion lexgion; uint32_t arguments; uint32_t reserved; }"

static void put_modes(struct writer *out)
{
	put_text(out, "enum domain : uint16_t {");
#define LX_X(number, NAME, name, prefix) print(out, " \"%s\" = %d,", name, number);
	LX_DOMAINS(LX_X)
#undef LX_X
	put_text(out, " \"<unknown>\" = 60000 };\nenum mode : uint16_t {");
#define LX_X(number, NAME) print(out, " " #NAME " = %d,", number);
	LX_MODES(LX_X)
#undef LX_X
	put_text(out, " \"<unknown>\" = 60000 };\n"
		      "enum form : uint8_t { \"string\" = 0, \"number\" = 1, \"json\" = 2 };\n\n");
}

static void put_event(struct writer *out, unsigned id, enum lx_domain domain, const char *name, const char *fields)
{
	print(out, "event { name = \"%s:%s\"; id = %u; stream_id = 0; fields := %s; };\n", domain_prefix(domain), name, id,
	      fields);
}

/* ---- The parts that tell of the process ---- */

/* Names that readers know are used where there are such: babeltrace2 shows hostname, procname and vpid. */
static void put_env_key(struct writer *out, const char *key, size_t size)
{
	if (size == 4 && memcmp(key, "host", 4) == 0)
		put_text(out, "hostname");
	else if (size == 7 && memcmp(key, "program", 7) == 0)
		put_text(out, "procname");
	else
		put(out, key, size);
}

static bool known_key(const char *key, size_t size)
{
#define LX_X(name)                                                                                 \
	if (size == strlen(#name) && memcmp(key, #name, size) == 0)                                \
		return true;
	LX_PROCESS_KEYS(LX_X)
#undef LX_X
	return false;
}

static void put_env(struct writer *out, const struct lx_state *state, const char *text, size_t size)
{
	print(out, "env {\n\ttracer_name = \"lextrace\";\n\tvpid = %u;\n\tparent_pid = %u;\n", state->pid,
	      state->parent_pid);
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;
		const char *blank = memchr(text, ' ', length);

		if (blank && known_key(text, (size_t)(blank - text))) {
			put_text(out, "\t");
			put_env_key(out, text, (size_t)(blank - text));
			put_text(out, " = \"");
			put_literal(out, blank + 1, length - (size_t)(blank + 1 - text), true);
			put_text(out, "\";\n");
		}
		text += length + (end ? 1 : 0);
		size -= length + (end ? 1 : 0);
	}
	put_text(out, "};\n\n");
}

static void put_clock(struct writer *out, const struct lx_state *state)
{
	const struct lx_clock_sample *start = &state->start;
	bool usable = state->clock_frequency > 0 && state->clock_frequency <= FREQUENCY_MAX;
	uint64_t frequency = usable ? state->clock_frequency : NS_PER_S;
	/* Ticks from the epoch to tick 0: below zero if the counter is older than the epoch is by this frequency. */
	__int128 origin = (__int128)start->realtime * frequency / NS_PER_S - (__int128)start->ticks;
	__int128 seconds = origin / (__int128)frequency;

	if (origin < seconds * (__int128)frequency)
		seconds--;
	print(out, "clock {\n\tname = ticks;\n\tdescription = \"%s\";\n\tfreq = %llu;\n",
	      state->clock_kind == LX_CLOCK_TSC ? "processor time stamp counter" : "CLOCK_MONOTONIC",
	      (unsigned long long)frequency);
	print(out, "\toffset_s = %lld;\n\toffset = %llu;\n\tabsolute = true;\n};\n\n", (long long)seconds,
	      (unsigned long long)(origin - seconds * (__int128)frequency));
	put_text(out, "typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := ticks_t;\n\n");
}

/* ---- Lexgions ---- */

static uint64_t hash(uint64_t value, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		value = (value ^ bytes[i]) * 0x100000001B3u;
	return value;
}

struct definitions {
	const char *bytes;
	size_t size;
};

/* Labels of one block so far, by hash: a label that only seems to be there already just gets its number, too. */
struct labels {
	bool defined[LX_LABELS_PER_BLOCK];
	uint64_t hash[LX_LABELS_PER_BLOCK];
	unsigned count;
};

static bool taken(const struct labels *labels, uint64_t value)
{
	for (unsigned i = 0; i < labels->count; i++)
		if (labels->hash[i] == value)
			return true;
	return false;
}

static void put_label(struct writer *out, struct labels *labels, const struct lx_definition *definition, const char *name)
{
	const char *file = name + definition->name_size;
	char line[16] = "", number[16] = "";
	uint64_t value;

	if (definition->file_size > 0 && definition->line > 0)
		snprintf(line, sizeof(line), ":%u", definition->line);
	value = hash(hash(hash(14695981039346656037u, name, definition->name_size), " ", definition->file_size > 0), file,
		     definition->file_size);
	value = hash(value, line, strlen(line));
	if (taken(labels, value) || definition->name_size + definition->file_size == 0) {
		snprintf(number, sizeof(number), "#%u", definition->id);
		value = hash(hash(value, " ", 1), number, strlen(number));
	}
	labels->hash[labels->count++] = value;
	put_text(out, labels->count == 1 ? "\n\t\t\"" : ",\n\t\t\"");
	put_literal(out, name, definition->name_size, false);
	if (definition->file_size > 0)
		put_text(out, definition->name_size > 0 ? " " : "");
	put_literal(out, file, definition->file_size, false);
	put_text(out, line);
	if (number[0])
		print(out, "%s%s", definition->name_size + definition->file_size > 0 ? " " : "", number);
	print(out, "\" = %u", definition->id % LX_LABELS_PER_BLOCK);
}

/*
 * One option of the variant, from the definitions at *at on, which is moved to those of later blocks. What belongs to an
 * earlier block comes too late and is left out: a recorder writes them in order.
 */
static void put_block(struct writer *out, const struct definitions *all, uint32_t block, size_t *at)
{
	struct labels labels = {.count = 0};
	struct lx_definition definition;
	const char *text;
	size_t next = *at;

	put_text(out, "\tenum : uint16_t {");
	while ((text = lx_definition_next(all->bytes, all->size, &next, &definition)) != NULL) {
		uint32_t slot = definition.id % LX_LABELS_PER_BLOCK;

		if (definition.id / LX_LABELS_PER_BLOCK > block)
			break;
		if (definition.id / LX_LABELS_PER_BLOCK == block && !labels.defined[slot]) {
			labels.defined[slot] = true;
			put_label(out, &labels, &definition, text);
		}
		*at = next;
	}
	if (labels.count == 0) /* an enumeration must not be empty */
		put_text(out, " \"<unknown>\" = 0 ... 65535");
	print(out, " } b%u;\n", block);
}

static void put_lexgions(struct writer *out, const struct definitions *all)
{
	struct lx_definition definition;
	uint32_t blocks = 0;
	size_t at = 0;

	while (lx_definition_next(all->bytes, all->size, &at, &definition))
		if (definition.id / LX_LABELS_PER_BLOCK >= blocks)
			blocks = definition.id / LX_LABELS_PER_BLOCK + 1;
	put_text(out, "enum lexgion_block : uint16_t {");
	for (uint32_t block = 0; block < blocks; block++)
		print(out, "%s\"b%u\" = %u,", block % 16 == 0 ? "\n\t" : " ", block, block);
	/* 65535 stays free for this: LX_LEXGION_MAX. */
	print(out, "\n\t\"later\" = %u ... 65535 };\n\nvariant lexgion_label {\n", blocks);
	at = 0;
	for (uint32_t block = 0; block < blocks && out->error == 0; block++)
		put_block(out, all, block, &at);
	put_text(out, "\tenum : uint16_t { \"<unknown>\" = 0 ... 65535 } later;\n};\n\n"
		      "struct lexgion {\n"
		      "\tenum lexgion_block block;\n"
		      "\tvariant lexgion_label <block> label;\n"
		      "};\n\n");
}

int lx_ctf_metadata_write(lx_text_sink sink, void *context, const struct lx_state *state, const char *process_text,
			  size_t process_size, const void *definitions, size_t definitions_size)
{
	struct definitions all = {definitions_size > 0 ? definitions : "", definitions_size};
	struct writer out;

	out.sink = sink;
	out.context = context;
	out.error = 0;
	out.used = 0;
	put_text(&out, types);
	put_trace(&out, state);
	put_env(&out, state, process_text, process_size);
	put_clock(&out, state);
	put_stream(&out);
	put_lexgions(&out, &all);
	put_modes(&out);
#define LX_X(id, NAME, domain, name, role, payload) put_event(&out, id, LX_DOMAIN_##domain, name, FIELDS_##payload);
	LX_EVENT_KINDS(LX_X)
#undef LX_X
	flush(&out);
	return out.error;
}
