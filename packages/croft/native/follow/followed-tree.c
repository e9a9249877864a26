#define _GNU_SOURCE
#include "follow/followed-tree.h"

#include <stdlib.h>
#include <string.h>

static struct node **buckets;
static size_t bucket_count, node_count;

static size_t hash(const struct node *parent, const char *name, size_t length) {
  uint64_t sum = (uint64_t)(uintptr_t)parent * 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < length; i++) sum = (sum ^ (uint8_t)name[i]) * 0x100000001b3u;
  return (size_t)(sum ^ sum >> 29);
}

static void put(struct node *node) {
  struct node **bucket = &buckets[hash(node->parent, node->name, node->length) & (bucket_count - 1)];
  node->same_bucket = *bucket;
  *bucket = node;
}

static int make_room(void) {
  if (node_count < bucket_count) return 0;
  struct node **old = buckets;
  const size_t old_count = bucket_count;
  struct node **more = calloc(old_count == 0 ? 64 : old_count * 2, sizeof *more);
  if (more == NULL) return -1;
  buckets = more;
  bucket_count = old_count == 0 ? 64 : old_count * 2;
  for (size_t i = 0; i < old_count; i++)
    for (struct node *node = old[i], *next; node != NULL; node = next) next = node->same_bucket, put(node);
  free(old);
  return 0;
}

static int is_at(const struct node *node, const struct node *parent, const char *name, size_t length) {
  return node->parent == parent && node->length == length && !node->is_to_drop && memcmp(node->name, name, length) == 0;
}

struct node *node_find(const struct node *parent, const char *name, size_t length) {
  if (parent->children == NULL) return NULL;
  struct node *node = buckets[hash(parent, name, length) & (bucket_count - 1)];
  while (node != NULL && !is_at(node, parent, name, length)) node = node->same_bucket;
  return node;
}

static void join_siblings(struct node *node) {
  node->next = node->parent->children;
  if (node->next != NULL) node->next->previous = node;
  node->parent->children = node;
}

struct node *node_add(struct tree *tree, struct node *parent, const char *name, size_t length) {
  struct node *node = length > UINT8_MAX || make_room() != 0 ? NULL : calloc(1, sizeof *node + length + 1);
  if (node == NULL) return NULL;
  node->tree = tree;
  node->parent = parent;
  node->length = (uint8_t)length;
  memcpy(node->name, name, length);
  node_count++;
  put(node);
  if (parent == NULL) return node;
  node->depth = parent->depth + 1;
  node->path_length = parent->path_length + (parent->path_length > 0) + (uint32_t)length;
  join_siblings(node);
  return node;
}

static void leave_siblings(struct node *node) {
  if (node->next != NULL) node->next->previous = node->previous;
  if (node->previous != NULL) node->previous->next = node->next;
  else if (node->parent != NULL) node->parent->children = node->next;
}

static void leave_bucket(struct node *node) {
  struct node **at = &buckets[hash(node->parent, node->name, node->length) & (bucket_count - 1)];
  while (*at != node) at = &(*at)->same_bucket;
  *at = node->same_bucket;
  node_count--;
}

/* Not recursive, because programs choose the depth of a tree. */
void node_drop(struct node *top) {
  for (struct node *node = top, *up; node != NULL; node = up) {
    while (node->children != NULL) node = node->children;
    up = node == top ? NULL : node->parent;
    node_unwatch(node);
    leave_bucket(node);
    leave_siblings(node);
    free(node);
  }
}

void node_path(const struct node *node, char *path) {
  for (size_t end = node->path_length; node->parent != NULL; node = node->parent) {
    end -= node->length;
    memcpy(path + end, node->name, node->length);
    if (end > 0) path[--end] = '/';
  }
}

struct node *node_after(struct node *node) {
  if (node->children != NULL) return node->children;
  while (node != NULL && node->next == NULL) node = node->parent;
  return node == NULL ? NULL : node->next;
}
