#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE 700 /* descriptors of ours have this number or a higher one */

/* A write beyond RLIMIT_FSIZE would raise SIGXFSZ in the program. */
static int check_limit(uint64_t end)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
		return -EFBIG;
	return 0;
}

int lx_file_write_at(int fd, uint64_t at, const void *data, size_t size)
{
	const char *bytes = data;
	int error = check_limit(at + size);

	while (!error && size > 0) {
		ssize_t done = pwrite(fd, bytes, size, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENOSPC;
		bytes += done;
		size -= (size_t)done;
		at += (uint64_t)done;
	}
	return error;
}

/*
 * Opens out of the way: programs that open files beside us, in other threads, get the lowest free number, as without us.
 * Where the limit on descriptors is lower, the number stays as it is.
 */
static int open_aside(const char *path, int flags)
{
	int low = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
	int high = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, ASIDE) : -1;

	if (high < 0)
		return low;
	close(low);
	return high;
}

int lx_file_append(const char *path, uint64_t at, const void *data, size_t size)
{
	int error = check_limit(at + size);

	if (error)
		return error;
	int fd = open_aside(path, O_WRONLY | O_CREAT);

	if (fd < 0)
		return -errno;
	error = lx_file_write_at(fd, at, data, size);
	if (error && ftruncate(fd, (off_t)at) != 0)
		error = -EIO;
	close(fd);
	return error;
}

struct writer {
	int fd;
	uint64_t at;
	size_t used;
	char buffer[16384];
};

static int writer_flush(struct writer *writer)
{
	int error = lx_file_write_at(writer->fd, writer->at, writer->buffer, writer->used);

	writer->at += writer->used;
	writer->used = 0;
	return error;
}

static int writer_sink(void *context, const char *text, size_t size)
{
	struct writer *writer = context;

	while (size > 0) {
		size_t part = sizeof(writer->buffer) - writer->used;

		if (part > size)
			part = size;
		memcpy(writer->buffer + writer->used, text, part);
		writer->used += part;
		text += part;
		size -= part;
		if (writer->used == sizeof(writer->buffer)) {
			int error = writer_flush(writer);

			if (error)
				return error;
		}
	}
	return 0;
}

int lx_file_replace(const char *path, const char *temporary,
		    int (*produce)(void *context, lx_text_sink sink, void *sink_context), void *context)
{
	static struct writer writer; /* the stack may be a small one; callers take turns */

	writer.at = writer.used = 0;
	writer.fd = open_aside(temporary, O_WRONLY | O_CREAT | O_TRUNC);
	if (writer.fd < 0)
		return -errno;
	int error = produce(context, writer_sink, &writer);

	if (!error)
		error = writer_flush(&writer);
	close(writer.fd);
	if (!error && rename(temporary, path) != 0)
		error = -errno;
	if (error)
		unlink(temporary);
	return error;
}

/* posix_fallocate writes page by page where the file system has no fallocate; both leave real blocks behind the map. */
static int allocate(int fd, uint64_t offset, size_t size)
{
	int error;

	do
		error = posix_fallocate(fd, (off_t)offset, (off_t)size);
	while (error == EINTR);
	return -error;
}

int lx_file_map(const char *path, uint64_t offset, size_t size, void *address, void **out)
{
	int error = check_limit(offset + size);

	if (error)
		return error;
	int fd = open_aside(path, O_RDWR | O_CREAT);

	if (fd < 0)
		return -errno;
	error = allocate(fd, offset, size);
	if (!error) {
		void *map = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | (address ? MAP_FIXED : 0), fd,
				 (off_t)offset);

		if (map == MAP_FAILED)
			error = -errno;
		else
			*out = map;
	}
	close(fd);
	return error;
}
