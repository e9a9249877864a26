#define _GNU_SOURCE
#include "init/guard/private-copies-of-files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/guard/hold-by-mount.h"

#define HOME "/tmp/.croft-private"
#define MAX_FILES 64
#define MAX_BYTES (1024 * 1024)

struct private_file {
  char name[NAME_MAX + 1];
  int real, own; /* descriptors of both files */
  int directory;
  uint64_t mount;
  struct timespec told; /* change time of the copy at the last report */
  int is_gone;          /* a program removed it */
};

static struct private_file files[MAX_FILES];
static int file_count;

/* --- content --- */

/* Reads a whole small file into memory that the caller frees. Returns NULL with errno on failure. */
static char *read_whole(int file, size_t *length) {
  char *bytes = malloc(MAX_BYTES + 1);
  if (bytes == NULL) return NULL;
  const ssize_t got = pread(file, bytes, MAX_BYTES + 1, 0);
  if (got >= 0 && got <= MAX_BYTES) return *length = (size_t)got, bytes;
  if (got > MAX_BYTES) errno = EFBIG;
  free(bytes);
  return NULL;
}

static int copy_content(int from, int to) {
  struct stat status;
  size_t length = 0;
  char *bytes = read_whole(from, &length);
  if (bytes == NULL) return -1;
  int result = pwrite(to, bytes, length, 0) == (ssize_t)length ? ftruncate(to, (off_t)length) : -1;
  if (result == 0 && fstat(from, &status) == 0) result = fchmod(to, status.st_mode & 0777);
  int error = errno;
  free(bytes);
  errno = error;
  return result;
}

static int is_same_content(int one, int other) {
  size_t length = 0, other_length = 0;
  char *bytes = read_whole(one, &length), *others = read_whole(other, &other_length);
  const int result = bytes != NULL && others != NULL && length == other_length && memcmp(bytes, others, length) == 0;
  free(bytes);
  free(others);
  return result;
}

static struct timespec changed_at(int file) {
  struct stat status;
  return fstat(file, &status) == 0 ? status.st_ctim : (struct timespec){0, 0};
}

/* --- covering --- */

static struct private_file *find(int directory, const char *name) {
  struct stat asked, known;
  for (struct private_file *one = files; one < files + file_count; one++)
    if (strcmp(one->name, name) == 0 && fstat(directory, &asked) == 0 && fstat(one->directory, &known) == 0 && asked.st_ino == known.st_ino &&
        asked.st_dev == known.st_dev && !is_mount_changed(directory, name, one->mount))
      return one;
  return NULL;
}

static int make_copy(const char *name) {
  char path[sizeof HOME + NAME_MAX + 2];
  snprintf(path, sizeof path, HOME "/%s", name);
  if (mkdir(HOME, 0700) != 0 && errno != EEXIST) return -1;
  unlink(path);
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static struct private_file *place_for(const char *name) {
  for (struct private_file *one = files; one < files + file_count; one++)
    if (strcmp(one->name, name) == 0) {
      close(one->real);
      close(one->own);
      close(one->directory);
      return one;
    }
  return file_count == MAX_FILES ? (errno = EMFILE, NULL) : &files[file_count++];
}

int private_file_cover(int top, const char *name) {
  struct private_file *one = place_for(name);
  if (one == NULL) return -1;
  *one = (struct private_file){.real = openat(top, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), .own = make_copy(name)};
  snprintf(one->name, sizeof one->name, "%s", name);
  one->directory = openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (one->real < 0 || one->own < 0 || copy_content(one->real, one->own) != 0 || cover(top, name, one->own) != 0) return -1;
  one->mount = mount_at(top, name);
  one->told = changed_at(one->own);
  return 0;
}

/* --- calls of programs --- */

int is_private_file(int directory, const char *name) { return find(directory, name) != NULL; }

int private_file_remove(int directory, const char *name) {
  struct private_file *one = find(directory, name);
  if (one == NULL) return errno = EBUSY, -1;
  if (one->is_gone) return errno = ENOENT, -1;
  one->is_gone = 1;
  return ftruncate(one->own, 0);
}

int private_file_replace(int directory, const char *name, int from, const char *from_name, int is_new) {
  struct private_file *one = find(directory, name);
  struct stat status;
  if (one == NULL || (is_new && !one->is_gone)) return errno = EEXIST, -1;
  int file = openat(from, from_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  int result = fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? copy_content(file, one->own) : (errno = EBUSY, -1);
  int error = errno;
  close(file);
  if (result == 0) one->is_gone = 0, result = unlinkat(from, from_name, 0), error = errno;
  errno = error;
  return result;
}

int private_file_open(int directory, const char *name, int flags) {
  struct private_file *one = find(directory, name);
  if (one == NULL || !one->is_gone) return -1;
  one->is_gone = 0;
  if (!(flags & O_EXCL)) return -1;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", one->own);
  return open(link, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
}

void private_files_tell(void) {
  for (struct private_file *one = files; one < files + file_count; one++) {
    const struct timespec changed = changed_at(one->own);
    if (changed.tv_sec == one->told.tv_sec && changed.tv_nsec == one->told.tv_nsec) continue;
    one->told = changed;
    if (!is_same_content(one->own, one->real)) tell_held("held-back", one->name, "");
  }
}
