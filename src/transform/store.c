#include "transform/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct lx_store_block {
	struct lx_store_block *next;
	void *map; /* NULL: the block itself is the memory */
	size_t map_size;
	max_align_t memory[];
};

void *lx_store_alloc(struct lx_store *store, size_t size)
{
	struct lx_store_block *block;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->next = store->blocks;
	store->blocks = block;
	return block->memory;
}

/* Plain files only: a FIFO or a device in a trace folder must neither block nor feed the reader. */
static int open_plain(const char *path, size_t *size)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	*size = (size_t)status.st_size;
	return fd;
}

int lx_store_map(struct lx_store *store, const char *path, const void **data, size_t *size)
{
	struct lx_store_block *block;
	void *map;
	int fd = open_plain(path, size);

	*data = NULL;
	if (fd < 0)
		return fd;
	if (*size == 0) {
		close(fd);
		return 0;
	}
	map = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	int error = map == MAP_FAILED ? -errno : 0;

	close(fd);
	if (error < 0)
		return error;
	if (!lx_store_alloc(store, 0)) {
		munmap(map, *size);
		return -ENOMEM;
	}
	block = store->blocks;
	block->map = map;
	block->map_size = *size;
	*data = map;
	return 0;
}

int lx_store_read(struct lx_store *store, const char *path, size_t limit, char **data, size_t *size)
{
	size_t file_size;
	int fd = open_plain(path, &file_size);
	size_t want, have = 0;
	char *buffer;

	if (fd < 0)
		return fd;
	want = file_size < limit ? file_size : limit;
	buffer = lx_store_alloc(store, want + 1);
	if (!buffer) {
		close(fd);
		return -ENOMEM;
	}
	while (have < want) {
		ssize_t got = read(fd, buffer + have, want - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	close(fd);
	*data = buffer;
	*size = have;
	return 0;
}

void lx_store_free(struct lx_store *store)
{
	while (store->blocks) {
		struct lx_store_block *block = store->blocks;

		store->blocks = block->next;
		if (block->map)
			munmap(block->map, block->map_size);
		free(block);
	}
}
