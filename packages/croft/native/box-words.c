#define _GNU_SOURCE
#include "box-words.h"

#include <string.h>

#include "box.h"

static const struct {
  const char *text;
  enum word word;
  int values;
} known[] = {
    {"--", WORD_END, 0},
    {"--unshare-all", WORD_UNSHARE_ALL, 0},
    {"--share-net", WORD_SHARE_NET, 0},
    {"--as-pid-1", WORD_AS_PID_1, 0},
    {"--die-with-parent", WORD_DIE_WITH_PARENT, 0},
    {"--new-session", WORD_NEW_SESSION, 0},
    {"--clearenv", WORD_CLEAR_ENVIRONMENT, 0},
    {"--cap-drop", WORD_DROP_CAPABILITIES, 1},
    {"--uid", WORD_UID, 1},
    {"--gid", WORD_GID, 1},
    {"--remount-ro", WORD_REMOUNT_READ_ONLY, 1},
    {"--chdir", WORD_CHDIR, 1},
    {"--hostname", WORD_HOST_NAME, 1},
    {"--unshare-user", WORD_ANYWAY, 0},
    {"--cap-add", WORD_ANYWAY, 1},
    {"--info-fd", WORD_ANYWAY, 1},
    {"--block-fd", WORD_ANYWAY, 1},
    {"--size", WORD_SIZE, 1},
    {"--ro-bind", WORD_SHOW, 2},
    {"--bind", WORD_BIND, 2},
    {"--bind-fd", WORD_BIND_HANDLE, 2},
    {"--tmpfs", WORD_TMPFS, 1},
    {"--dir", WORD_DIRECTORY, 1},
    {"--symlink", WORD_LINK, 2},
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

/* NULL when there is none, or a word before it is unknown. */
static char *const *find(char *const *at, enum word wanted, const char *value) {
  for (char *const *values;;) {
    const enum word word = word_next(&at, &values);
    if (word == wanted && (value == NULL || strcmp(*values, value) == 0)) return values;
    if (word == WORD_END || word == WORD_UNKNOWN) return NULL;
  }
}

char *const *word_find(char *const *words, enum word wanted) { return find(words, wanted, NULL); }

char **words_after(char **words) {
  char *const *end = find(words, WORD_END, NULL);
  return words + (end - words);
}

int box_takes(char *const *words) {
  static const enum word needed[] = {WORD_UNSHARE_ALL,       WORD_AS_PID_1, WORD_DIE_WITH_PARENT, WORD_NEW_SESSION,
                                     WORD_CLEAR_ENVIRONMENT, WORD_UID,      WORD_GID,             WORD_HOST_NAME,
                                     WORD_BIND_HANDLE,       WORD_PROC,     WORD_DEV,             WORD_CHDIR};
  static const char *const read_only[] = {"/", "/dev", "/proc"};
  char *const *end = find(words, WORD_END, NULL);
  if (end == NULL || *end == NULL || find(words, WORD_DROP_CAPABILITIES, "ALL") == NULL) return 0;
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (find(words, needed[i], NULL) == NULL) return 0;
  for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
    if (find(words, WORD_REMOUNT_READ_ONLY, read_only[i]) == NULL) return 0;
  return 1;
}
