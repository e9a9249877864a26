/*
 * A user-mode kernel knows less processor state than a new processor has, and the kernel of this machine accepts all of
 * it or nothing. This library, loaded by LD_PRELOAD, keeps the unknown part unchanged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long (*Ptrace)(enum __ptrace_request, ...);

long ptrace(enum __ptrace_request request, ...) {
  static Ptrace next;
  static char all[65536];
  if (!next) next = (Ptrace)dlsym(RTLD_NEXT, "ptrace");
  va_list list;
  va_start(list, request);
  int pid = va_arg(list, int);
  void *which = va_arg(list, void *);
  void *data = va_arg(list, void *);
  va_end(list);
  if (request != PTRACE_SETREGSET || (long)which != NT_X86_XSTATE) return next(request, pid, which, data);
  struct iovec *known = data, whole = {all, sizeof all};
  if (next(PTRACE_GETREGSET, pid, which, &whole) < 0) return -1;
  memcpy(all, known->iov_base, known->iov_len < whole.iov_len ? known->iov_len : whole.iov_len);
  return next(PTRACE_SETREGSET, pid, which, &whole);
}
