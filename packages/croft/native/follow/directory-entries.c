#define _GNU_SOURCE
#include "follow/directory-entries.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t digest;

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
  return sum ^ sum >> 32;
}

/* The content of a subdirectory does not count: it has a digest of its own. */
void digest_add(const char *name, size_t length, const struct stat *status) {
  uint64_t sum = mix(status->st_ino, status->st_mode);
  for (size_t i = 0; i < length; i++) sum = mix(sum, (uint8_t)name[i]);
  if (!S_ISDIR(status->st_mode)) {
    sum = mix(mix(sum, (uint64_t)status->st_size), status->st_nlink);
    sum = mix(mix(sum, (uint64_t)status->st_mtim.tv_sec), (uint64_t)status->st_mtim.tv_nsec);
    sum = mix(mix(sum, (uint64_t)status->st_ctim.tv_sec), (uint64_t)status->st_ctim.tv_nsec);
  }
  digest += sum | 1;
}

/* The record of getdents64. */
struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static int is_self_or_parent(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

int read_entries(struct node *directory, int handle, each_entry *each) {
  static _Alignas(struct entry) char entries[32 * 1024];
  long got;
  digest = 1;
  lseek(handle, 0, SEEK_SET);
  while ((got = syscall(SYS_getdents64, handle, entries, sizeof entries)) > 0)
    for (long at = 0; at < got;) {
      const struct entry *entry = (struct entry *)(entries + at);
      at += entry->size;
      if (!is_self_or_parent(entry->name)) each(directory, handle, entry->name);
    }
  return got < 0 && errno != ENOENT ? -1 : 0;
}
