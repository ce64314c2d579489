/* A growing buffer of protobuf wire format, for the messages of an export that are rare and of any size. */
#ifndef LX_VIEW_EXPORT_PROTO_H
#define LX_VIEW_EXPORT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lx_proto {
	uint8_t *data;
	size_t size, capacity;
	bool failed; /* no memory: the content is of no use */
};

/* Bytes of `value` as a varint, 10 at most; returns the place behind them. */
static inline uint8_t *lx_proto_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

void lx_proto_uint(struct lx_proto *proto, uint32_t field, uint64_t value);

void lx_proto_double(struct lx_proto *proto, uint32_t field, double value);

/* A string field; what is no UTF-8, and NUL, becomes U+FFFD. */
void lx_proto_text(struct lx_proto *proto, uint32_t field, const char *text, size_t size);
void lx_proto_string(struct lx_proto *proto, uint32_t field, const char *text);

/* A message field: all that is added up to lx_proto_end() lies in it. `mark` comes from its lx_proto_begin(). */
size_t lx_proto_begin(struct lx_proto *proto, uint32_t field);
void lx_proto_end(struct lx_proto *proto, size_t mark);

void lx_proto_free(struct lx_proto *proto);

#endif
