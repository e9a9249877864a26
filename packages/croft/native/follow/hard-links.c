#define _GNU_SOURCE
#include "follow/hard-links.h"

#include <stdlib.h>

#include "init/server-socket.h"

static struct suspect {
  struct node *node;
  uint32_t links;
} *suspects;
static size_t count, capacity;

void suspects_add(struct node *node, nlink_t links) {
  if (count == capacity) {
    capacity = capacity == 0 ? 64 : capacity * 2;
    if ((suspects = realloc(suspects, capacity * sizeof *suspects)) == NULL) die("memory");
  }
  suspects[count++] = (struct suspect){node, (uint32_t)links};
}

/* Whether all names of the file are in the tree and known. One check answers for all of its names, of which there
   may be many. */
static int is_complete(const struct suspect *suspect) {
  const struct node *file = suspect->node;
  if (file->is_to_drop || file->links == suspect->links) return 1;
  /* A file that we may not read has no watch, and nothing more can be found out about it. */
  if (file->watch == NULL) return !file->parent->is_unwatched;
  uint32_t found = 0;
  for (struct node *node = file->watch->nodes; node != NULL; node = node->next_watched)
    if (node->tree == file->tree) found++;
  if (found < suspect->links) return 0;
  for (struct node *node = file->watch->nodes; node != NULL; node = node->next_watched)
    if (node->tree == file->tree) node->links = suspect->links;
  return 1;
}

int suspects_are_complete(void) {
  int are_complete = 1;
  for (size_t i = 0; i < count && are_complete; i++) are_complete = is_complete(&suspects[i]);
  free(suspects);
  suspects = NULL;
  count = capacity = 0;
  return are_complete;
}
