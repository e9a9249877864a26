#define _GNU_SOURCE
#include "box/bwrap-arguments.h"

#include <string.h>

#include "box/make-box.h"

static const struct {
  const char *text;
  enum word word;
  int values;
} known[] = {
    /* Sorted by frequency. */
    {"--ro-bind", WORD_SHOW, 2},
    {"--symlink", WORD_LINK, 2},
    {"--remount-ro", WORD_REMOUNT_READ_ONLY, 1},
    {"--size", WORD_SIZE, 1},
    {"--tmpfs", WORD_TMPFS, 1},
    {"--cap-add", WORD_ANYWAY, 1},
    {"--", WORD_END, 0},
    {"--unshare-all", WORD_UNSHARE_ALL, 0},
    {"--unshare-user", WORD_ANYWAY, 0},
    {"--share-net", WORD_SHARE_NET, 0},
    {"--as-pid-1", WORD_AS_PID_1, 0},
    {"--die-with-parent", WORD_DIE_WITH_PARENT, 0},
    {"--new-session", WORD_NEW_SESSION, 0},
    {"--clearenv", WORD_CLEAR_ENVIRONMENT, 0},
    {"--cap-drop", WORD_DROP_CAPABILITIES, 1},
    {"--uid", WORD_UID, 1},
    {"--gid", WORD_GID, 1},
    {"--chdir", WORD_CHDIR, 1},
    {"--hostname", WORD_HOST_NAME, 1},
    {"--info-fd", WORD_ANYWAY, 1},
    {"--block-fd", WORD_ANYWAY, 1},
    {"--bind", WORD_BIND, 2},
    {"--bind-fd", WORD_BIND_HANDLE, 2},
    {"--ro-bind-fd", WORD_SHOW_HANDLE, 2},
    {"--dir", WORD_DIRECTORY, 1},
    {"--proc", WORD_PROC, 1},
    {"--dev", WORD_DEV, 1},
};

enum word word_next(char *const **at, char *const **values) {
  for (size_t i = 0; **at != NULL && i < sizeof known / sizeof *known; i++) {
    if (strcmp(**at, known[i].text) != 0) continue;
    *values = *at + 1;
    for (int value = 0; value < known[i].values; value++)
      if ((*values)[value] == NULL) return WORD_UNKNOWN;
    *at += 1 + known[i].values;
    return known[i].word;
  }
  return WORD_UNKNOWN;
}

char *const *word_find(char *const *at, enum word wanted) {
  for (char *const *values;;) {
    const enum word word = word_next(&at, &values);
    if (word == wanted) return values;
    if (word == WORD_END || word == WORD_UNKNOWN) return NULL;
  }
}

char **words_after(char **words) {
  char *const *end = word_find(words, WORD_END);
  return words + (end - words);
}

#define BIT(word) (1U << (word))
#define NEEDED                                                                                                         \
  (BIT(WORD_END) | BIT(WORD_UNSHARE_ALL) | BIT(WORD_AS_PID_1) | BIT(WORD_DIE_WITH_PARENT) | BIT(WORD_NEW_SESSION) |     \
   BIT(WORD_CLEAR_ENVIRONMENT) | BIT(WORD_DROP_CAPABILITIES) | BIT(WORD_UID) | BIT(WORD_GID) | BIT(WORD_HOST_NAME) |    \
   BIT(WORD_PROC) | BIT(WORD_DEV) | BIT(WORD_CHDIR))

/* The workspace, which commands may change or only read. */
#define WORKSPACE (BIT(WORD_BIND_HANDLE) | BIT(WORD_SHOW_HANDLE))

int box_takes(char *const *words) {
  static const char *const read_only[] = {"/", "/dev", "/proc"};
  unsigned said = 0, held = 0;
  for (char *const *values; (said & BIT(WORD_END)) == 0;) {
    const enum word word = word_next(&words, &values);
    if (word == WORD_UNKNOWN) return 0;
    if (word != WORD_DROP_CAPABILITIES || strcmp(values[0], "ALL") == 0) said |= BIT(word);
    for (unsigned i = 0; word == WORD_REMOUNT_READ_ONLY && i < 3; i++) held |= (unsigned)(strcmp(values[0], read_only[i]) == 0) << i;
  }
  const int has_workspace = (said & WORKSPACE) != 0 && (said & WORKSPACE) != WORKSPACE;
  return *words != NULL && (said & NEEDED) == NEEDED && has_workspace && held == 7;
}
