#include "view/export_proto.h"

#include <stdlib.h>
#include <string.h>

#include "view/export_text.h"

#define VARINT_MAX 10
#define LENGTH_SIZE 4 /* bytes kept for a message's length: a varint may be longer than it needs to be */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static uint8_t *room(struct lx_proto *proto, size_t size)
{
	size_t need = proto->size + size, capacity = proto->capacity ? proto->capacity : 1024;

	if (proto->failed)
		return NULL;
	if (need > proto->capacity) {
		uint8_t *grown;

		while (capacity < need)
			capacity *= 2;
		grown = realloc(proto->data, capacity);
		if (!grown) {
			proto->failed = true;
			return NULL;
		}
		proto->data = grown;
		proto->capacity = capacity;
	}
	return proto->data + proto->size;
}

static uint8_t *tag(uint8_t *at, uint32_t field, enum wire_type type)
{
	return lx_proto_varint(at, (uint64_t)field << 3 | type);
}

void lx_proto_uint(struct lx_proto *proto, uint32_t field, uint64_t value)
{
	uint8_t *at = room(proto, 2 * VARINT_MAX);

	if (at)
		proto->size = (size_t)(lx_proto_varint(tag(at, field, WIRE_VARINT), value) - proto->data);
}

void lx_proto_double(struct lx_proto *proto, uint32_t field, double value)
{
	uint8_t *at = room(proto, VARINT_MAX + sizeof(value));

	if (!at)
		return;
	at = tag(at, field, WIRE_FIXED64);
	memcpy(at, &value, sizeof(value));
	proto->size = (size_t)(at + sizeof(value) - proto->data);
}

void lx_proto_text(struct lx_proto *proto, uint32_t field, const char *text, size_t size)
{
	size_t mark = lx_proto_begin(proto, field);
	uint8_t *at = room(proto, LX_TEXT_VALID_SIZE(size));

	if (at)
		proto->size += lx_text_valid((char *)at, text, size);
	lx_proto_end(proto, mark);
}

void lx_proto_string(struct lx_proto *proto, uint32_t field, const char *text)
{
	lx_proto_text(proto, field, text, strlen(text));
}

size_t lx_proto_begin(struct lx_proto *proto, uint32_t field)
{
	uint8_t *at = room(proto, VARINT_MAX + LENGTH_SIZE);

	if (at)
		proto->size = (size_t)(tag(at, field, WIRE_BYTES) - proto->data) + LENGTH_SIZE;
	return proto->size;
}

void lx_proto_end(struct lx_proto *proto, size_t mark)
{
	size_t length = proto->size - mark;

	if (proto->failed)
		return;
	for (unsigned i = 0; i < LENGTH_SIZE; i++) {
		proto->data[mark - LENGTH_SIZE + i] = (uint8_t)(length & 0x7f) | (i < LENGTH_SIZE - 1 ? 0x80 : 0);
		length >>= 7;
	}
}

void lx_proto_free(struct lx_proto *proto)
{
	free(proto->data);
	*proto = (struct lx_proto){ 0 };
}
