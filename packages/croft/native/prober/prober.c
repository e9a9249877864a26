/* prober NAME [ARGUMENT…] makes one attempt that a sandbox must refuse. Prints `got through` and exits with 0, or
   prints the errno and exits with 1. Exit code 2 means that nothing was attempted. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempts.h"

static const struct {
  int number;
  const char *name;
} errors[] = {
    {EPERM, "EPERM"},     {ENOENT, "ENOENT"},   {ESRCH, "ESRCH"},         {ENXIO, "ENXIO"},
    {EBADF, "EBADF"},     {EAGAIN, "EAGAIN"},   {EACCES, "EACCES"},       {EFAULT, "EFAULT"},
    {EBUSY, "EBUSY"},     {EEXIST, "EEXIST"},   {ENODEV, "ENODEV"},       {ENOTDIR, "ENOTDIR"},
    {EINVAL, "EINVAL"},   {ENOTTY, "ENOTTY"},   {EROFS, "EROFS"},         {EOPNOTSUPP, "EOPNOTSUPP"},
    {ENOSPC, "ENOSPC"},   {ENOSYS, "ENOSYS"},   {EUSERS, "EUSERS"},       {EAFNOSUPPORT, "EAFNOSUPPORT"},
    {EIO, "EIO"},         {ELOOP, "ELOOP"},     {EMFILE, "EMFILE"},       {ECONNREFUSED, "ECONNREFUSED"},
    {ENOMEM, "ENOMEM"},   {ENODATA, "ENODATA"}, {EPROTONOSUPPORT, "EPROTONOSUPPORT"},
};

int outcome(long result) { return result < 0 ? errno : 0; }

int outcome_of_invalid_call(long result) {
  const int error = outcome(result);
  return error == EPERM || error == EACCES || error == ENOSYS ? error : 0;
}

void try_to_own(int namespaces) {
  /* A refusal does not matter: the next call shows the result. */
  if (syscall(SYS_unshare, CLONE_NEWUSER | namespaces) != 0) return;
}

static int tell(int error) {
  if (error == 0) return puts("got through"), 0;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].number == error) return puts(errors[i].name), 1;
  printf("errno %d\n", error);
  return 1;
}

static const struct attempt *find(const char *name) {
  const struct attempt *const groups[] = {
      namespace_attempts, process_attempts, surface_attempts, foreign_attempts, file_attempts,
  };
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    for (const struct attempt *attempt = groups[i]; attempt->name != NULL; attempt++)
      if (strcmp(attempt->name, name) == 0) return attempt;
  return NULL;
}

int main(int argc, char **argv) {
  const struct attempt *attempt = argc > 1 ? find(argv[1]) : NULL;
  if (attempt == NULL || argc - 2 < attempt->arguments) {
    fprintf(stderr, "prober: %s\n", attempt == NULL ? "no such attempt" : "an argument is missing");
    return 2;
  }
  return tell(attempt->make(argv + 2));
}
