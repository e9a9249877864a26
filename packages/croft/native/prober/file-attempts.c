#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

enum { FCHMODAT2 = 452, SET_ID = S_ISUID | S_ISGID };

/* Opens a file for writing and writes nothing. */
static int open_to_write(char **arguments) { return outcome(open(arguments[0], O_WRONLY | O_NONBLOCK | O_CLOEXEC)); }

static char made[64];

static const char *new_name(void) {
  snprintf(made, sizeof made, "prober-%d", (int)getpid());
  return made;
}

/* Whether the file has a set-id bit now. Removes the file. */
static int has_set_id(const char *name, int error) {
  struct stat status;
  const int found = stat(name, &status) == 0 && (status.st_mode & SET_ID) != 0;
  unlink(name);
  return found ? 0 : error != 0 ? error : EPERM;
}

static int make_plain(void) {
  const int file = open(new_name(), O_CREAT | O_EXCL | O_RDWR, 0755);
  if (file < 0) perror("prober: open");
  return file;
}

static int set_id_chmod(char **arguments) {
  (void)arguments;
  close(make_plain());
  return has_set_id(made, outcome(chmod(made, 04755)));
}

static int set_id_fchmod(char **arguments) {
  (void)arguments;
  return has_set_id(made, outcome(fchmod(make_plain(), 02755)));
}

static int set_id_fchmodat2(char **arguments) {
  (void)arguments;
  close(make_plain());
  return has_set_id(made, outcome(syscall(FCHMODAT2, AT_FDCWD, made, 04755, 0)));
}

static int set_id_open(char **arguments) {
  (void)arguments;
  return has_set_id(new_name(), outcome(open(new_name(), O_CREAT | O_EXCL | O_RDWR, 04755)));
}

static int set_id_mknod(char **arguments) {
  (void)arguments;
  return has_set_id(new_name(), outcome(mknod(new_name(), S_IFREG | 04755, 0)));
}

static int set_id_tmpfile(char **arguments) {
  (void)arguments;
  const int file = open(".", O_TMPFILE | O_RDWR, 04755);
  struct stat status;
  if (file < 0) return errno;
  return fstat(file, &status) == 0 && (status.st_mode & SET_ID) != 0 ? 0 : EPERM;
}

static int device(char **arguments) {
  (void)arguments;
  const int error = outcome(mknod(new_name(), S_IFCHR | 0666, makedev(1, 3)));
  unlink(made);
  return error;
}

static int by_handle(char **arguments) {
  union {
    struct file_handle handle;
    char buffer[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } file = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount;
  if (name_to_handle_at(AT_FDCWD, arguments[0], &file.handle, &mount, 0) != 0) return errno;
  return outcome(open_by_handle_at(open(".", O_RDONLY), &file.handle, O_RDONLY));
}

static int dial(const char *name, size_t skipped) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(name);
  if (length + skipped >= sizeof address.sun_path) return EINVAL;
  memcpy(address.sun_path + skipped, name, length);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skipped + length + (skipped == 0));
  return outcome(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, size));
}

static int dial_path(char **arguments) { return dial(arguments[0], 0); }

static int dial_abstract(char **arguments) { return dial(arguments[0], 1); }

const struct attempt file_attempts[] = {
    {"open-to-write", 1, open_to_write},  {"set-id-chmod", 0, set_id_chmod},
    {"set-id-fchmod", 0, set_id_fchmod},  {"set-id-fchmodat2", 0, set_id_fchmodat2},
    {"set-id-open", 0, set_id_open},      {"set-id-mknod", 0, set_id_mknod},
    {"set-id-tmpfile", 0, set_id_tmpfile}, {"device", 0, device},
    {"open-by-handle", 1, by_handle},     {"connect", 1, dial_path},
    {"connect-abstract", 1, dial_abstract}, {0},
};
