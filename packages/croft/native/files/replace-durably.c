#define _GNU_SOURCE
#include "replace-durably.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "name-locks.h"
#include "system-calls.h"

/* How often a worker thread tries again for a lock. Most locks are held for less than that. */
enum { LOCK_ATTEMPTS = 20, LOCK_PAUSE_NS = 100000 };

/* A disk writes that much in a few milliseconds. */
enum { PIECE_BYTES = 1024 * 1024 };

/* The same computation as Node's, so that the result is equal to the last bit. */
static double milliseconds(struct timespec time) {
  return (double)time.tv_sec * 1000 + (double)time.tv_nsec / 1000000;
}

/* Whether the target is still the version that the caller saw. Another process may have replaced it while our bytes
   went to the disk. */
static bool is_untouched(const struct replacement *replaced) {
  const struct version *before = &replaced->before;
  struct stat now;
  if (call_fstatat(replaced->to.directory, replaced->to.name, &now, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT && !replaced->is_there;
  return replaced->is_there && (double)now.st_ino == before->inode && (double)now.st_size == before->size &&
         milliseconds(now.st_mtim) == before->modified;
}

static int move(const struct entry_name *from, const struct entry_name *to, unsigned how) {
  return call_renameat2(from->directory, from->name, to->directory, to->name, how);
}

/* A new file replaces nothing: if two processes create it at once, one must fail. */
static int put_in_place(const struct entry_name *from, const struct entry_name *to, bool is_there) {
  return is_there ? move(from, to, 0) : move_if_free(from, to);
}

int move_if_free(const struct entry_name *from, const struct entry_name *to) {
  if (move(from, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  /* A file system without RENAME_NOREPLACE may have hard links, or neither. */
  if (linkat(from->directory, from->name, to->directory, to->name, 0) == 0) return unlinkat(from->directory, from->name, 0);
  const bool has_no_links = errno == EPERM || errno == ENOSYS || errno == ENOTSUP || errno == EMLINK;
  return has_no_links ? move(from, to, 0) : -1;
}

static int sync_directory(int path_fd) {
  const int directory = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  const int failed = fsync(directory), reason = errno;
  close(directory);
  return errno = reason, failed;
}

/* Writes a large file piece by piece, each when the one before is on the disk: a small write of another caller then
   waits in the queue of the disk behind one piece, and not behind all of the file. */
static int write_in_pieces(int file) {
  const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  struct stat now;
  if (call_fstat(file, &now) != 0) return -1;
  for (off_t from = 0; from < now.st_size; from += PIECE_BYTES)
    if (sync_file_range(file, from, PIECE_BYTES, all) != 0) return -1;
  return 0;
}

/* If a journal keeps the order, the bytes need only be written before the rename: one commit then makes both
   durable. */
static int write_bytes(int file, bool is_ordered) {
  const int failed = write_in_pieces(file);
  return failed || is_ordered ? failed : fdatasync(file);
}

static int replace_unlocked(const struct replacement *replaced) {
  if (!is_untouched(replaced)) return ESTALE;
  return put_in_place(&replaced->from, &replaced->to, replaced->is_there) == 0 ? 0 : errno;
}

/* The lock keeps other processes from replacing the file between our check and our rename. */
static int replace_locked(const struct replacement *replaced) {
  const int lock = lock_names(replaced->to.directory);
  if (lock == -ENOSYS) return replace_unlocked(replaced);
  if (lock < 0) return -lock;
  const int outcome = replace_unlocked(replaced);
  close(lock);
  return outcome;
}

static int replace_soon(const struct replacement *replaced) {
  const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
  int outcome = replace_locked(replaced);
  for (int attempt = 1; outcome == LOCK_HELD && attempt < LOCK_ATTEMPTS; attempt++) {
    nanosleep(&pause, NULL);
    outcome = replace_locked(replaced);
  }
  return outcome;
}

int replace_durably(const struct replacement *replaced, bool is_ordered) {
  if (write_bytes(replaced->file, is_ordered) != 0) return errno;
  const int problem = replace_soon(replaced);
  if (problem) return problem;
  const int failed = is_ordered ? fsync(replaced->file) : sync_directory(replaced->to.directory);
  return failed ? errno : 0;
}

/* Whether the file is in memory only, where a power cut takes everything anyway. */
static bool is_in_memory(int file) {
  struct statfs system;
  return fstatfs(file, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

int replace_at_once(const struct replacement *replaced, bool is_relaxed) {
  return is_relaxed || is_in_memory(replaced->file) ? replace_locked(replaced) : EAGAIN;
}
