#include "view/export_out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef LEXTRACE_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#define BUFFER_SIZE (1u << 20) /* also the size of a gzip member: large enough for the ratio, small enough for the cache */

/* The one temporary file of the program, for the signal handler. */
static char *volatile temporary_file;

static void remove_and_die(int number)
{
	char *path = temporary_file;

	if (path)
		unlink(path);
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			signal(numbers[i], remove_and_die);
	signal(SIGXFSZ, SIG_IGN); /* a file size limit is then an error of write() */
}

static bool ends_in_gz(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

static int prepare_gzip(struct lx_out *out)
{
#ifdef LEXTRACE_HAVE_LIBDEFLATE
	out->compressor = libdeflate_alloc_compressor(1);
	if (!out->compressor)
		return -ENOMEM;
	out->packed_size = libdeflate_gzip_compress_bound(out->compressor, BUFFER_SIZE);
	out->packed = malloc(out->packed_size);
	return out->packed ? 0 : -ENOMEM;
#else
	(void)out;
	return -EOPNOTSUPP;
#endif
}

static void release(struct lx_out *out)
{
#ifdef LEXTRACE_HAVE_LIBDEFLATE
	if (out->compressor)
		libdeflate_free_compressor(out->compressor);
#endif
	if (!out->in_program)
		temporary_file = NULL;
	free(out->buffer);
	free(out->packed);
	free(out->target);
	free(out->temporary);
	*out = (struct lx_out){ .fd = -1, .error = out->error, .bytes = out->bytes };
}

/* A regular file or a new one: a temporary file beside it, with the mode that the target has or would get. */
static int open_temporary(struct lx_out *out, const struct stat *old)
{
	if (old && access(out->target, W_OK) != 0)
		return -errno;
	if (asprintf(&out->temporary, "%s.%ld.part", out->target, (long)getpid()) < 0) {
		out->temporary = NULL;
		return -ENOMEM;
	}
	out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out->fd < 0 && errno == EEXIST && unlink(out->temporary) == 0) /* of a killed process that had our pid */
		out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out->fd < 0) {
		int error = -errno;

		free(out->temporary);
		out->temporary = NULL;
		return error;
	}
	if (!out->in_program) {
		temporary_file = out->temporary;
		catch_signals();
	}
	if (old)
		(void)!fchmod(out->fd, old->st_mode & 07777);
	return 0;
}

static int open_target(struct lx_out *out, const char *path)
{
	struct stat status;
	char *real;

	if (!out->in_program && strcmp(path, "-") == 0) {
		out->fd = STDOUT_FILENO;
		return 0;
	}
	real = realpath(path, NULL); /* a link stays a link: what it names is replaced */
	out->target = real ? real : strdup(path);
	if (!out->target)
		return -ENOMEM;
	if (!real || stat(real, &status) != 0)
		return open_temporary(out, NULL);
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (S_ISREG(status.st_mode))
		return open_temporary(out, &status);
	out->fd = open(real, O_WRONLY | O_CLOEXEC);
	return out->fd < 0 ? -errno : 0;
}

static int open_out(struct lx_out *out, const char *path, bool in_program, bool gzip)
{
	int result = 0;

	*out = (struct lx_out){ .fd = -1, .in_program = in_program };
	out->buffer = malloc(BUFFER_SIZE);
	if (!out->buffer)
		result = -ENOMEM;
	if (result == 0 && gzip)
		result = prepare_gzip(out);
	if (result == 0)
		result = open_target(out, path);
	if (result < 0) {
		release(out);
		return result;
	}
	out->at = out->buffer;
	out->end = out->buffer + BUFFER_SIZE;
	return 0;
}

int lx_out_open(struct lx_out *out, const char *path)
{
	return open_out(out, path, false, ends_in_gz(path));
}

int lx_out_open_in_program(struct lx_out *out, const char *path, bool gzip)
{
	return open_out(out, path, true, gzip);
}

/* A write over the limit would raise SIGXFSZ, which ends a program that does not ignore it. */
static bool over_limit(const struct lx_out *out, size_t size)
{
	struct rlimit limit;

	return out->in_program && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       out->bytes + size > limit.rlim_cur;
}

static void write_all(struct lx_out *out, const uint8_t *data, size_t size)
{
	if (out->error == 0 && over_limit(out, size))
		out->error = -EFBIG;
	while (size > 0 && out->error == 0) {
		ssize_t done = write(out->fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			out->error = -errno;
			return;
		}
		data += done;
		size -= (size_t)done;
		out->bytes += (uint64_t)done;
	}
}

static void pack(struct lx_out *out, const uint8_t *data, size_t size)
{
#ifdef LEXTRACE_HAVE_LIBDEFLATE
	if (out->packed) {
		size = libdeflate_gzip_compress(out->compressor, data, size, out->packed, out->packed_size);
		data = out->packed;
	}
#endif
	write_all(out, data, size);
}

void lx_out_flush(struct lx_out *out)
{
	size_t size = (size_t)(out->at - out->buffer);

	out->at = out->buffer;
	if (size > 0 && out->error == 0)
		pack(out, out->buffer, size);
}

void lx_out_write(struct lx_out *out, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size > 0) {
		size_t part = (size_t)(out->end - out->at);

		if (part == 0) {
			lx_out_flush(out);
			continue;
		}
		if (part > size)
			part = size;
		out->at = lx_out_copy(out->at, from, part);
		from += part;
		size -= part;
	}
}

int lx_out_commit(struct lx_out *out)
{
	lx_out_flush(out);
	if (out->packed && out->bytes == 0 && out->error == 0)
		pack(out, out->buffer, 0); /* an empty .gz is one empty member */
	if (out->target && close(out->fd) != 0 && out->error == 0)
		out->error = -errno; /* quotas and network file systems say it here */
	if (out->error == 0 && out->temporary && rename(out->temporary, out->target) != 0)
		out->error = -errno;
	if (out->error != 0 && out->temporary)
		unlink(out->temporary);
	release(out);
	return out->error;
}

void lx_out_abandon(struct lx_out *out)
{
	if (out->target && out->fd >= 0)
		close(out->fd);
	if (out->temporary)
		unlink(out->temporary);
	release(out);
}

uint8_t *lx_out_decimal(uint8_t *at, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	uint8_t digits[20];
	unsigned from = sizeof(digits);

	while (value >= 100) {
		from -= 2;
		memcpy(digits + from, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		from -= 2;
		memcpy(digits + from, pairs + value * 2, 2);
	} else {
		digits[--from] = (uint8_t)('0' + value);
	}
	return lx_out_copy(at, digits + from, sizeof(digits) - from);
}
