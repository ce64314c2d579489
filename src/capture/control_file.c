#include "capture/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST (64u << 20)
#define TRIES 20

static char start_folder[PATH_MAX];

void lx_remember_folder(void)
{
	if (!getcwd(start_folder, sizeof(start_folder)))
		start_folder[0] = '\0';
}

const char *lx_start_folder(void)
{
	return start_folder;
}

char *lx_absolute_path(const char *path)
{
	char *absolute;

	if (*path == '/' || !start_folder[0])
		return strdup(path);
	return asprintf(&absolute, "%s/%s", start_folder, path) < 0 ? NULL : absolute;
}

/* One reading. -EAGAIN: the file changed under it. */
static int read_once(int fd, struct lx_text_file *file)
{
	struct stat before, after;
	size_t size = 0;

	if (fstat(fd, &before) != 0)
		return -errno;
	if (S_ISDIR(before.st_mode))
		return -EISDIR;
	if (!S_ISREG(before.st_mode))
		return -EINVAL;
	if (before.st_size > (off_t)LARGEST)
		return -EFBIG;
	size_t space = (size_t)before.st_size + 1;
	char *bytes = malloc(space);

	if (!bytes)
		return -ENOMEM;
	for (ssize_t got = 1; got > 0 && size < space; size += got > 0 ? (size_t)got : 0) {
		got = pread(fd, bytes + size, space - size, (off_t)size);
		if (got < 0) {
			int error = -errno;

			free(bytes);
			return error;
		}
	}
	if (fstat(fd, &after) != 0 || size != (size_t)before.st_size || after.st_size != before.st_size ||
	    after.st_mtim.tv_sec != before.st_mtim.tv_sec || after.st_mtim.tv_nsec != before.st_mtim.tv_nsec) {
		free(bytes);
		return -EAGAIN;
	}
	file->bytes = bytes;
	file->size = size;
	return 0;
}

int lx_text_read(const char *path, struct lx_text_file *file)
{
	int error = -EAGAIN;

	for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe must not hold the program */

		if (fd < 0)
			return -errno;
		error = read_once(fd, file);
		close(fd);
	}
	return error;
}
