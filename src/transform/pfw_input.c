/*
 * A .pfw file to text: plain or gzip, whatever its name says. A second thread reads and inflates ahead; buffers end at the
 * end of a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transform/inflate.h"
#include "transform/pfw.h"

#define BUFFERS 4u
#define BUFFER_SIZE (1u << 20)
#define INPUT_SIZE (1u << 18)

#define LINE_MAX_SIZE (256u << 20) /* bytes of a line; a longer one ends the reading */

struct buffer {
	char *text;         /* LX_PFW_PADDING bytes behind it are there for the scanner */
	size_t size, room;
};

/* What both threads share: the reader fills buffers in turn, the taker empties them. */
struct input {
	int fd;
	struct buffer buffers[BUFFERS];
	unsigned filled, taken; /* how many so far */
	bool ended;         /* no buffer comes after those filled */
	bool stopped;       /* the taker wants no more */
	int error;          /* of the reader */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* The reader's own. */
	struct buffer *now;
	unsigned char *bytes;
	const char *cut_why; /* the rest of the file can't be read: NULL: it was read to its end */
};

static bool grow(struct buffer *buffer, size_t room)
{
	char *text = realloc(buffer->text, room + LX_PFW_PADDING);

	if (!text)
		return false;
	buffer->text = text;
	buffer->room = room;
	return true;
}

/* The next buffer to fill; NULL: without memory, or no more is wanted. */
static struct buffer *next_buffer(struct input *input)
{
	struct buffer *buffer = NULL;

	pthread_mutex_lock(&input->lock);
	while (input->filled - input->taken == BUFFERS && !input->stopped)
		pthread_cond_wait(&input->changed, &input->lock);
	if (!input->stopped)
		buffer = &input->buffers[input->filled % BUFFERS];
	pthread_mutex_unlock(&input->lock);
	if (!buffer)
		return NULL;
	buffer->size = 0;
	if (buffer->room < BUFFER_SIZE && !grow(buffer, BUFFER_SIZE)) {
		input->error = -ENOMEM;
		return NULL;
	}
	return buffer;
}

static void hand_over(struct input *input, bool last)
{
	if (input->now)
		memset(input->now->text + input->now->size, '\n', LX_PFW_PADDING);
	pthread_mutex_lock(&input->lock);
	input->filled += input->now && input->now->size > 0;
	input->ended = last;
	pthread_cond_signal(&input->changed);
	pthread_mutex_unlock(&input->lock);
}

/* The buffer is full: its whole lines go, the rest begins the next one. A line longer than it makes it grow. */
static bool pass_on(struct input *input)
{
	struct buffer *full = input->now, *next;
	const char *newline = memrchr(full->text, '\n', full->size);

	if (!newline && full->room >= LINE_MAX_SIZE) {
		input->cut_why = "a line of it is longer than 256 MiB";
		full->size = 0;
		return false;
	}
	if (!newline) {
		if (grow(full, 2 * full->room))
			return true;
		input->error = -ENOMEM;
		return false;
	}
	size_t whole = (size_t)(newline + 1 - full->text), rest = full->size - whole;
	char *copy = malloc(rest + 1);

	if (!copy) {
		input->error = -ENOMEM;
		return false;
	}
	memcpy(copy, full->text + whole, rest);
	full->size = whole;
	hand_over(input, false);
	input->now = next = next_buffer(input);
	if (next && rest >= next->room && !grow(next, 2 * rest)) {
		input->error = -ENOMEM;
		next = NULL;
	}
	if (next) {
		memcpy(next->text, copy, rest);
		next->size = rest;
	}
	free(copy);
	return next;
}

/* Reads some bytes: 0 at the end of the file. */
static size_t read_some(struct input *input, void *to, size_t size)
{
	for (;;) {
		ssize_t got = read(input->fd, to, size);

		if (got >= 0)
			return (size_t)got;
		if (errno == EINTR)
			continue;
		input->error = -errno;
		return 0;
	}
}

static void read_plain(struct input *input)
{
	for (;;) {
		size_t got = read_some(input, input->now->text + input->now->size, input->now->room - input->now->size);

		input->now->size += got;
		if (got == 0 || (input->now->size == input->now->room && !pass_on(input)))
			return;
	}
}

static size_t more(void *context, void *to, size_t size)
{
	return read_some(context, to, size);
}

static bool full(void *context, struct lx_inflate *inflate)
{
	struct input *input = context;

	input->now->size = (size_t)((char *)inflate->out - input->now->text);
	if (!pass_on(input))
		return false;
	inflate->out = (uint8_t *)input->now->text + input->now->size;
	inflate->limit = (uint8_t *)input->now->text + input->now->room;
	return true;
}

static void read_gzip(struct input *input, size_t got)
{
	struct lx_inflate inflate = { .more = more, .full = full, .context = input, .out = (uint8_t *)input->now->text,
				      .limit = (uint8_t *)input->now->text + input->now->room };
	enum lx_inflated result = lx_inflate(&inflate, input->bytes, got);

	if (result != LX_INFLATED_STOPPED)
		input->now->size = (size_t)((char *)inflate.out - input->now->text);
	if (result == LX_INFLATED_NO_MEMORY)
		input->error = -ENOMEM;
	else if (result == LX_INFLATED_CUT)
		input->cut_why = "it ends inside its gzip data";
	else if (result == LX_INFLATED_DAMAGED)
		input->cut_why = "its gzip data are damaged";
	else if (result == LX_INFLATED_FOLLOWED)
		input->cut_why = "something that is no gzip follows the gzip data";
	else if (result == LX_INFLATED_NO_LIBRARY)
		input->cut_why = "ISA-L (libisal2), which reads gzip, is not there; unpack it by zcat";
}

static void *reader(void *context)
{
	struct input *input = context;

	input->now = next_buffer(input);
	if (input->now) {
		size_t got = read_some(input, input->bytes, INPUT_SIZE);

		if (got >= 2 && input->bytes[0] == 0x1f && input->bytes[1] == 0x8b) {
			read_gzip(input, got);
		} else {
			memcpy(input->now->text, input->bytes, got);
			input->now->size = got;
			if (got > 0)
				read_plain(input);
		}
	}
	hand_over(input, true);
	return NULL;
}

/* Takes buffer by buffer until the reader has ended. After an error the rest is passed over. */
static int take_all(struct lx_pfw *pfw, struct input *input)
{
	int error = 0;

	for (;;) {
		pthread_mutex_lock(&input->lock);
		while (input->filled == input->taken && !input->ended)
			pthread_cond_wait(&input->changed, &input->lock);
		bool any = input->filled != input->taken;

		pthread_mutex_unlock(&input->lock);
		if (!any)
			return error;
		struct buffer *buffer = &input->buffers[input->taken % BUFFERS];

		if (error == 0)
			error = lx_pfw_take(pfw, buffer->text, buffer->size);
		pthread_mutex_lock(&input->lock);
		input->taken++;
		input->stopped = error < 0;
		pthread_cond_signal(&input->changed);
		pthread_mutex_unlock(&input->lock);
	}
}

static int read_open(struct lx_pfw *pfw, int fd)
{
	struct input input = { .fd = fd, .bytes = malloc(INPUT_SIZE) };
	pthread_t thread;
	int error = input.bytes ? 0 : -ENOMEM;

	pthread_mutex_init(&input.lock, NULL);
	pthread_cond_init(&input.changed, NULL);
	if (error == 0)
		error = -pthread_create(&thread, NULL, reader, &input);
	if (error == 0) {
		error = take_all(pfw, &input);
		pthread_join(thread, NULL);
		if (error == 0)
			error = input.error;
	}
	if (error == 0 && input.cut_why)
		lx_pfw_torn(pfw, input.cut_why);
	for (unsigned i = 0; i < BUFFERS; i++)
		free(input.buffers[i].text);
	free(input.bytes);
	pthread_cond_destroy(&input.changed);
	pthread_mutex_destroy(&input.lock);
	return error;
}

int lx_pfw_read(struct lx_pfw *pfw, const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -ENODATA;
	}
	lx_pfw_new_file(pfw, path);
	error = read_open(pfw, fd);
	close(fd);
	return error;
}
