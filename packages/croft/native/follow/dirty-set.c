#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "follow/followed-tree.h"

static size_t hash(const struct node *directory, const char *name, size_t length) {
  uint64_t sum = (uint64_t)(uintptr_t)directory * 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < length; i++) sum = (sum ^ (uint8_t)name[i]) * 0x100000001b3u;
  return (size_t)(sum ^ sum >> 29);
}

static void put(struct dirty_set *set, struct dirty *entry) {
  struct dirty **bucket = &set->buckets[hash(entry->directory, entry->name, entry->length) & (set->capacity - 1)];
  entry->same_bucket = *bucket;
  *bucket = entry;
}

static int make_room(struct dirty_set *set) {
  if (set->count < set->capacity) return 0;
  const size_t capacity = set->capacity == 0 ? 16 : set->capacity * 2;
  struct dirty **entries = realloc(set->entries, capacity * sizeof *entries);
  if (entries != NULL) set->entries = entries;
  struct dirty **buckets = entries == NULL ? NULL : calloc(capacity, sizeof *buckets);
  if (buckets == NULL) return -1;
  free(set->buckets);
  set->buckets = buckets;
  set->capacity = capacity;
  for (size_t i = 0; i < set->count; i++) put(set, set->entries[i]);
  return 0;
}

static int is_it(const struct dirty *entry, const struct node *directory, const char *name, size_t length) {
  return entry->directory == directory && entry->length == length && memcmp(entry->name, name, length) == 0;
}

static int is_in(const struct dirty_set *set, const struct node *directory, const char *name, size_t length) {
  if (set->capacity == 0) return 0;
  const struct dirty *entry = set->buckets[hash(directory, name, length) & (set->capacity - 1)];
  while (entry != NULL && !is_it(entry, directory, name, length)) entry = entry->same_bucket;
  return entry != NULL;
}

int dirty_add(struct dirty_set *set, size_t max, struct node *directory, const char *name, size_t length) {
  if (is_in(set, directory, name, length)) return 0;
  if (set->count >= max || length > UINT8_MAX || make_room(set) != 0) return -1;
  struct dirty *entry = malloc(sizeof *entry + length + 1);
  if (entry == NULL) return -1;
  entry->directory = directory;
  entry->length = (uint8_t)length;
  memcpy(entry->name, name, length);
  entry->name[length] = 0;
  set->entries[set->count++] = entry;
  put(set, entry);
  return 0;
}

/* Sorts by depth, then by directory. Directories higher up come first, because lower ones may turn out to have moved
   with them. */
static int compare(const void *one, const void *other) {
  const struct node *a = (*(struct dirty *const *)one)->directory, *b = (*(struct dirty *const *)other)->directory;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return a == b ? 0 : (uintptr_t)a < (uintptr_t)b ? -1 : 1;
}

void dirty_sort(struct dirty_set *set) {
  if (set->count > 1) qsort(set->entries, set->count, sizeof *set->entries, compare);
}

void dirty_free(struct dirty_set *set) {
  for (size_t i = 0; i < set->count; i++) free(set->entries[i]);
  free(set->entries);
  free(set->buckets);
  *set = (struct dirty_set){0};
}
