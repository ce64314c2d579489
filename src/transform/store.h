/* Memory and mapped files that live as long as one opened trace: nothing is freed one by one. */
#ifndef LX_TRANSFORM_STORE_H
#define LX_TRANSFORM_STORE_H

#include <stddef.h>

struct lx_store_block;

/* All zeros is an empty store. */
struct lx_store {
	struct lx_store_block *blocks;
};

/* `size` zeroed bytes, aligned for any type; NULL without memory. Size 0 gives a valid pointer. */
void *lx_store_alloc(struct lx_store *store, size_t size);

/* Maps a plain file to read. An empty file gives *size 0 and no mapping. 0 or negative errno. */
int lx_store_map(struct lx_store *store, const char *path, const void **data, size_t *size);

/* Reads a plain file of at most `limit` bytes (the rest is left out); a NUL follows the bytes. 0 or negative errno. */
int lx_store_read(struct lx_store *store, const char *path, size_t limit, char **data, size_t *size);

void lx_store_free(struct lx_store *store);

#endif
