#include "transform/inflate.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef LEXTRACE_HAVE_ISAL
#include <isa-l/igzip_lib.h>

#define INPUT_SIZE (256u << 10)

/*
 * ISA-L inflates several times faster than zlib. It is loaded when a file needs it, so that neither the program nor the
 * exporter in traced programs depends on it for all else.
 */
static struct {
	void (*init)(struct inflate_state *state);
	void (*reset)(struct inflate_state *state);
	int (*inflate)(struct inflate_state *state);
} isal;

static bool load(void)
{
	static void *library;

	if (isal.inflate)
		return true;
	if (!library)
		library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	*(void **)&isal.init = dlsym(library, "isal_inflate_init");
	*(void **)&isal.reset = dlsym(library, "isal_inflate_reset");
	*(void **)&isal.inflate = dlsym(library, "isal_inflate");
	if (!isal.init || !isal.reset)
		isal.inflate = NULL;
	return isal.inflate != NULL;
}

struct stream {
	struct lx_inflate *io;
	struct inflate_state state;
	uint8_t input[INPUT_SIZE];
};

/* Whether there is input, if need be after asking for more. */
static bool has_input(struct stream *s)
{
	if (s->state.avail_in > 0)
		return true;
	s->state.next_in = s->input;
	s->state.avail_in = (uint32_t)s->io->more(s->io->context, s->input, sizeof(s->input));
	return s->state.avail_in > 0;
}

/* From a member's first byte to its last. */
static enum lx_inflated member(struct stream *s)
{
	struct lx_inflate *io = s->io;

	isal.reset(&s->state);
	s->state.crc_flag = ISAL_GZIP;
	do {
		if (io->out == io->limit && !io->full(io->context, io))
			return LX_INFLATED_STOPPED;
		bool more = has_input(s);

		s->state.next_out = io->out;
		s->state.avail_out = (uint32_t)(io->limit - io->out);
		int error = isal.inflate(&s->state);

		/* Without input it may still hand over what it keeps. */
		bool moved = s->state.next_out > io->out;

		io->out = s->state.next_out;
		if (error)
			return LX_INFLATED_DAMAGED;
		if (!more && !moved && s->state.block_state != ISAL_BLOCK_FINISH)
			return LX_INFLATED_CUT;
	} while (s->state.block_state != ISAL_BLOCK_FINISH);
	return LX_INFLATED;
}

static enum lx_inflated members(struct stream *s)
{
	enum lx_inflated result = LX_INFLATED;

	for (bool first = true; result == LX_INFLATED; first = false) {
		while (has_input(s) && *s->state.next_in == 0 && !first) {
			s->state.next_in++;
			s->state.avail_in--;
		}
		if (!has_input(s))
			return first ? LX_INFLATED_CUT : LX_INFLATED;
		if (*s->state.next_in != 0x1f)
			return first ? LX_INFLATED_DAMAGED : LX_INFLATED_FOLLOWED;
		result = member(s);
	}
	return result;
}

enum lx_inflated lx_inflate(struct lx_inflate *inflate, const void *first, size_t first_size)
{
	struct stream *s = load() ? malloc(sizeof(*s)) : NULL;

	if (!s || first_size > sizeof(s->input)) {
		enum lx_inflated wrong = isal.inflate ? LX_INFLATED_NO_MEMORY : LX_INFLATED_NO_LIBRARY;

		free(s);
		return wrong;
	}
	isal.init(&s->state);
	s->io = inflate;
	memcpy(s->input, first, first_size);
	s->state.next_in = s->input;
	s->state.avail_in = (uint32_t)first_size;
	enum lx_inflated result = members(s);

	free(s);
	return result;
}

#else

enum lx_inflated lx_inflate(struct lx_inflate *inflate, const void *first, size_t first_size)
{
	(void)inflate;
	(void)first;
	(void)first_size;
	return LX_INFLATED_NO_LIBRARY;
}
#endif
