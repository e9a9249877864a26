#define _GNU_SOURCE
#include "init/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System call numbers, because headers are often older than kernels. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define VERSION_OF_KERNEL 1
#define RULE_PATH_BENEATH 1

#define EXECUTE (1ULL << 0)
#define READ_FILE (1ULL << 2)
#define READ_DIR (1ULL << 3)
#define UP_TO_MAKE_SYM ((1ULL << 13) - 1)
#define REFER (1ULL << 13)     /* from version 2 */
#define TRUNCATE (1ULL << 14)  /* from version 3 */
#define IOCTL_DEV (1ULL << 15) /* from version 5 */
#define SCOPE_ALL 3ULL         /* abstract sockets and signals, from version 6 */

struct ruleset {
  uint64_t files, network, scoped;
};

struct path_beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static int allow(int ruleset, const char *path, uint64_t rights) {
  struct path_beneath rule = {rights, open(path, O_PATH | O_CLOEXEC)};
  /* A path that does not exist needs no rule. */
  if (rule.parent < 0) return errno == ENOENT ? 0 : -1;
  int result = (int)syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent);
  return result;
}

static uint64_t rights_of(long version) {
  uint64_t rights = UP_TO_MAKE_SYM;
  if (version >= 2) rights |= REFER;
  if (version >= 3) rights |= TRUNCATE;
  if (version >= 5) rights |= IOCTL_DEV;
  return rights;
}

int landlock_restrict(const char *const *writable) {
  long version = syscall(CREATE_RULESET, NULL, 0, VERSION_OF_KERNEL);
  if (version < 1) return 0;
  const struct ruleset rules = {rights_of(version), 0, version >= 6 ? SCOPE_ALL : 0};
  const size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(CREATE_RULESET, &rules, size, 0);
  if (ruleset < 0) return -1;
  int result = allow(ruleset, "/", EXECUTE | READ_FILE | READ_DIR);
  for (; result == 0 && *writable != NULL; writable++) result = allow(ruleset, *writable, rules.files);
  if (result == 0) result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (result == 0) result = (int)syscall(RESTRICT_SELF, ruleset, 0);
  int error = errno;
  close(ruleset);
  errno = error;
  return result;
}
