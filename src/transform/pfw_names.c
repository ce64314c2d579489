#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transform/pfw.h"

#define TEXT_BLOCK (1u << 18)
#define BEHIND 8u /* readable bytes behind each text, for those who compare words */
#define KEPT_MAX 0x7fffffffu /* bytes of a name */

/* What a lexgion was made from, to know it again: texts as they stand in the file, one behind the other. */
struct lx_pfw_entry {
	uint64_t mixed;
	const char *raw; /* name, category, file */
	uint32_t name_size, cat_size, file_size;
	uint32_t line;
	uint32_t traits; /* domain, flags, comp */
};

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* Texts have readable bytes behind them: those of the scanner, and those that are kept. */
static inline uint64_t mix_text(uint64_t hash, const struct lx_pfw_text *text)
{
	const char *at = text->at;
	size_t left = text->size;
	uint64_t word, last;

	if (left <= 16 && left >= 8) { /* most are: both words at a time */
		memcpy(&word, at, 8);
		memcpy(&last, at + left - 8, 8);
		word = (hash ^ word) * 0x9e3779b97f4a7c15u;
		last = (last + left) * 0xc2b2ae3d27d4eb4fu;
		return word ^ word >> 29 ^ last ^ last >> 31;
	}
	if (left > 0 && left < 8) {
		memcpy(&word, at, 8);
		return mix(hash, word << (64 - 8 * left) ^ left);
	}

	for (; left >= 8; at += 8, left -= 8) {
		memcpy(&word, at, 8);
		hash = mix(hash, word);
	}
	word = (uint64_t)text->size << 56;
	for (size_t i = 0; i < left; i++)
		word ^= (uint64_t)(unsigned char)at[i] << 8 * i;
	return mix(hash, word);
}

static inline bool equal(const char *a, const char *b, size_t size)
{
	uint64_t x, y;

	for (; size >= 8; a += 8, b += 8, size -= 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
	}
	if (size == 0)
		return true;
	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	return (x ^ y) << (64 - 8 * size) == 0;
}

static char *text_room(struct lx_pfw_names *names, size_t size)
{
	if (size > TEXT_BLOCK / 4)
		return lx_store_alloc(names->store, size + BEHIND);
	if (size > names->text_left) {
		names->text = lx_store_alloc(names->store, TEXT_BLOCK + BEHIND);
		if (!names->text) {
			names->text_left = 0;
			return NULL;
		}
		names->text_left = TEXT_BLOCK;
	}
	char *at = names->text;

	names->text += size;
	names->text_left -= size;
	return at;
}

char *lx_pfw_keep(struct lx_pfw_names *names, const struct lx_pfw_text *text, uint32_t *size)
{
	struct lx_pfw_text part = *text;
	char *out;

	/* Cut, a very long text could end inside an escape: then it is kept as it stands. */
	if (part.size > KEPT_MAX) {
		part.size = KEPT_MAX;
		part.escaped = false;
	}
	out = text_room(names, part.size + 1);
	if (!out)
		return NULL;
	*size = (uint32_t)lx_pfw_decode(out, &part);
	out[*size] = '\0';
	return out;
}

int lx_pfw_names_init(struct lx_pfw_names *names, struct lx_store *store)
{
	*names = (struct lx_pfw_names){ .store = store, .count = 1, .room = 256, .table_room = 1024, .hash_table_room = 1024 };
	names->lexgions = calloc(names->room, sizeof(*names->lexgions));
	names->entries = calloc(names->room, sizeof(*names->entries));
	names->table = calloc(names->table_room, sizeof(*names->table));
	names->hash_table = calloc(names->hash_table_room, sizeof(*names->hash_table));
	if (!names->lexgions || !names->entries || !names->table || !names->hash_table)
		return -ENOMEM;
	names->lexgions[0] = (struct lx_lexgion){ .name = "<unknown>", .title = "<unknown>", .file = "", .name_size = 9,
						  .title_size = 9 };
	return 0;
}

void lx_pfw_names_free(struct lx_pfw_names *names)
{
	free(names->lexgions);
	free(names->entries);
	free(names->table);
	free(names->hashes);
	free(names->hash_table);
	*names = (struct lx_pfw_names){ .store = names->store };
}

static int grow_lexgions(struct lx_pfw_names *names)
{
	size_t room = 2 * names->room;
	struct lx_lexgion *lexgions = realloc(names->lexgions, room * sizeof(*lexgions));

	if (!lexgions)
		return -ENOMEM;
	names->lexgions = lexgions;
	struct lx_pfw_entry *entries = realloc(names->entries, room * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	names->entries = entries;
	names->room = room;
	return 0;
}

/* Twice the table, its numbers (index + `base`) placed anew by the hash that is `stride` bytes after another from `mixed` on. */
static int grow_table(uint32_t **table, size_t *room, const uint64_t *mixed, size_t stride, size_t count, uint32_t base)
{
	size_t wider = 2 * *room;
	uint32_t *fresh = calloc(wider, sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = *(const uint64_t *)((const char *)mixed + i * stride) & (wider - 1);

		while (fresh[at])
			at = (at + 1) & (wider - 1);
		fresh[at] = (uint32_t)i + base;
	}
	free(*table);
	*table = fresh;
	*room = wider;
	return 0;
}

static uint32_t traits_of(const struct lx_pfw_place *place)
{
	return place->domain | place->flags << 4 | place->comp << 12;
}

static bool same(const struct lx_pfw_entry *entry, const struct lx_pfw_place *place, uint64_t mixed)
{
	return entry->mixed == mixed && entry->name_size == place->name.size && entry->cat_size == place->cat.size &&
	       entry->file_size == place->file.size && entry->line == place->line && entry->traits == traits_of(place) &&
	       equal(entry->raw, place->name.at, place->name.size) &&
	       equal(entry->raw + entry->name_size, place->cat.at, place->cat.size) &&
	       equal(entry->raw + entry->name_size + entry->cat_size, place->file.at, place->file.size);
}

/* "CATEGORY/NAME", a title in front of an import's. */
static int make_lexgion(struct lx_pfw_names *names, struct lx_lexgion *lexgion, const struct lx_pfw_place *place)
{
	static const char import[] = "import ";
	size_t before = place->flags & LX_LEXGION_IMPORT ? sizeof(import) - 1 : 0, cat = 0;
	char *title = text_room(names, before + place->cat.size + 1 + place->name.size + 1), *at = title;
	uint32_t file_size = 0;
	char *file = lx_pfw_keep(names, &place->file, &file_size);

	if (!title || !file)
		return -ENOMEM;
	memcpy(at, import, before);
	at += before;
	if (place->cat.size > 0) {
		cat = lx_pfw_decode(at, &place->cat);
		at += cat;
		*at++ = '/';
	}
	at += lx_pfw_decode(at, &place->name);
	*at = '\0';
	*lexgion = (struct lx_lexgion){
		.name = title + before, .title = title, .file = file, .name_size = (uint32_t)(at - title - (ptrdiff_t)before),
		.title_size = (uint32_t)(at - title), .file_size = file_size, .line = place->line,
		.flags = place->flags | LX_LEXGION_COMP_FLAGS(place->comp), .domain = (uint8_t)place->domain, .defined = true,
	};
	if (cat <= UINT16_MAX)
		lexgion->flags |= LX_LEXGION_CATEGORY_FLAGS(cat);
	return 0;
}

static int64_t define(struct lx_pfw_names *names, const struct lx_pfw_place *place, uint64_t mixed, size_t at)
{
	size_t sizes = place->name.size + place->cat.size + place->file.size;
	uint32_t id = (uint32_t)names->count;
	char *raw;

	if (names->count == LX_LEXGION_MAX || sizes > KEPT_MAX)
		return 0;
	if (names->count == names->room && grow_lexgions(names) < 0)
		return -ENOMEM;
	raw = text_room(names, sizes + 1);
	if (!raw || make_lexgion(names, &names->lexgions[id], place) < 0)
		return -ENOMEM;
	memcpy(raw, place->name.at, place->name.size);
	memcpy(raw + place->name.size, place->cat.at, place->cat.size);
	memcpy(raw + place->name.size + place->cat.size, place->file.at, place->file.size);
	names->entries[id] = (struct lx_pfw_entry){ mixed, raw, (uint32_t)place->name.size, (uint32_t)place->cat.size,
						    (uint32_t)place->file.size, place->line, traits_of(place) };
	names->table[at] = id;
	names->count++;
	if (2 * names->count > names->table_room &&
	    grow_table(&names->table, &names->table_room, &names->entries[1].mixed, sizeof(*names->entries), names->count - 1, 1) < 0)
		return -ENOMEM;
	return id;
}

int64_t lx_pfw_lexgion(struct lx_pfw_names *names, const struct lx_pfw_place *place)
{
	uint64_t mixed = mix_text(mix_text(mix(place->line, traits_of(place)), &place->name), &place->cat);
	size_t at;

	if (place->file.size > 0)
		mixed = mix_text(mixed, &place->file);
	for (at = mixed & (names->table_room - 1); names->table[at]; at = (at + 1) & (names->table_room - 1))
		if (same(&names->entries[names->table[at]], place, mixed))
			return names->table[at];
	return define(names, place, mixed, at);
}

int64_t lx_pfw_key(struct lx_pfw_names *names, const struct lx_pfw_text *key)
{
	const struct lx_pfw_place place = { .name = *key, .cat = { "", 0, false }, .file = { "", 0, false },
					    .domain = LX_DOMAIN_USER, .flags = LX_LEXGION_KEY };
	uint32_t *last = &names->keys[key->size % (sizeof(names->keys) / sizeof(names->keys[0]))];
	const struct lx_pfw_entry *entry = &names->entries[*last];
	int64_t id;

	/* Lines have the keys of those before them. */
	if (*last && entry->name_size == key->size && equal(entry->raw, key->at, key->size))
		return *last;
	id = lx_pfw_lexgion(names, &place);
	if (id > 0)
		*last = (uint32_t)id;
	return id;
}

int64_t lx_pfw_hash(struct lx_pfw_names *names, const struct lx_pfw_text *hash)
{
	uint64_t mixed = mix_text(0, hash);
	size_t at;

	for (at = mixed & (names->hash_table_room - 1); names->hash_table[at]; at = (at + 1) & (names->hash_table_room - 1)) {
		const struct lx_pfw_hash *known = &names->hashes[names->hash_table[at] - 1];

		if (known->mixed == mixed && known->hash_size == hash->size && memcmp(known->hash, hash->at, hash->size) == 0)
			return names->hash_table[at] - 1;
	}
	if (names->hash_count == names->hash_room) {
		size_t room = names->hash_room ? 2 * names->hash_room : 256;
		struct lx_pfw_hash *hashes = realloc(names->hashes, room * sizeof(*hashes));

		if (!hashes)
			return -ENOMEM;
		names->hashes = hashes;
		names->hash_room = room;
	}
	const struct lx_pfw_text raw = { hash->at, hash->size, false };
	struct lx_pfw_hash *fresh = &names->hashes[names->hash_count];

	*fresh = (struct lx_pfw_hash){ .mixed = mixed };
	fresh->hash = lx_pfw_keep(names, &raw, &fresh->hash_size);
	if (!fresh->hash)
		return -ENOMEM;
	names->hash_table[at] = (uint32_t)++names->hash_count;
	if (2 * names->hash_count > names->hash_table_room &&
	    grow_table(&names->hash_table, &names->hash_table_room, &names->hashes[0].mixed, sizeof(*names->hashes),
		       names->hash_count, 1) < 0)
		return -ENOMEM;
	return (int64_t)names->hash_count - 1;
}
