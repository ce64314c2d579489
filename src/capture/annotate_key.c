#include "capture/annotate_c.h"

#include <stdlib.h>
#include <string.h>

#define LISTS 1024u     /* a power of two */
#define KEYS_MAX 16384u /* texts that are kept: a program that makes up keys must not fill the memory */

/* Published once and never changed but for `found`, so that readers need no lock. */
struct key {
	struct key *next;
	uint64_t found;
	uint32_t hash;
	size_t size;
	char name[];
};

static struct key *lists[LISTS];
static uint32_t key_count;

static uint32_t hash_of(const char *name, size_t *size)
{
	uint32_t hash = 0x811c9dc5u; /* FNV-1a */
	const char *at = name;

	for (; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x01000193u;
	*size = (size_t)(at - name);
	return hash;
}

/* Two threads that add the same text both keep it; the one in front is found. */
static void add(struct key **list, const char *name, size_t size, uint32_t hash, uint64_t found)
{
	if (__atomic_add_fetch(&key_count, 1, __ATOMIC_RELAXED) > KEYS_MAX) {
		__atomic_sub_fetch(&key_count, 1, __ATOMIC_RELAXED);
		return;
	}
	struct key *key = malloc(sizeof(*key) + size);

	if (!key)
		return;
	key->found = found;
	key->hash = hash;
	key->size = size;
	memcpy(key->name, name, size);
	key->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &key->next, key, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

uint32_t lx_key_find(const char *name)
{
	size_t size;
	uint32_t hash = hash_of(name, &size);
	struct key **list = &lists[(hash ^ hash >> 16) % LISTS], *key = __atomic_load_n(list, __ATOMIC_ACQUIRE);

	while (key && (key->hash != hash || key->size != size || memcmp(key->name, name, size) != 0))
		key = key->next;
	uint32_t word = key ? lx_key_known(&key->found) : 0;

	if (word)
		return word;
	uint32_t session = lx_key_session();

	word = lx_key_look(name, size);
	if (word && key)
		lx_key_keep(&key->found, session, word);
	else if (word)
		add(list, name, size, hash, (uint64_t)session << 32 | word);
	return word;
}
