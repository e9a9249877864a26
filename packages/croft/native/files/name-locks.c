#define _GNU_SOURCE
#include "name-locks.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system-calls.h"

/* Enough locks that two directories rarely share one, and few enough that their files need no cleaning up. */
enum { LOCK_BITS = 10, ATTEMPTS = 3 };

static atomic_int locks = -1;

void use_locks(int directory) {
  atomic_store(&locks, directory);
}

static int failed(int handle, int reason) {
  close(handle);
  return -reason;
}

/* Returns a descriptor with the lock, 0 if the file was removed before it was locked (others would lock a new one),
   or a negated errno. */
static int try_lock(int directory, const char *name) {
  struct stat found;
  const int handle = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (handle < 0) return errno == ENOENT ? -LOCKS_GONE : -errno;
  if (flock(handle, LOCK_EX | LOCK_NB) != 0) return failed(handle, errno == EWOULDBLOCK ? LOCK_HELD : errno);
  if (call_fstat(handle, &found) != 0) return failed(handle, errno);
  return found.st_nlink > 0 ? handle : failed(handle, 0);
}

int lock_file(int directory, const char *name) {
  int answer = 0;
  for (int attempt = 0; attempt < ATTEMPTS && answer == 0; attempt++) answer = try_lock(directory, name);
  return answer ? answer : -LOCKS_GONE;
}

int lock_number(int directory) {
  struct stat found;
  if (call_fstat(directory, &found) != 0) return -errno;
  const uint64_t mixed = ((uint64_t)found.st_ino ^ (uint64_t)found.st_dev << 40) * UINT64_C(0x9e3779b97f4a7c15);
  return (int)(mixed >> (64 - LOCK_BITS));
}

int lock_names(int directory) {
  const int used = atomic_load(&locks);
  if (used < 0) return -ENOSYS;
  const int number = lock_number(directory);
  if (number < 0) return number;
  char name[16];
  snprintf(name, sizeof name, "%d", number);
  return lock_file(used, name);
}
