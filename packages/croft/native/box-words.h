/* What bubblewrap's words say, as far as they are known here. */
#ifndef CROFT_BOX_WORDS_H
#define CROFT_BOX_WORDS_H

enum word {
  WORD_UNKNOWN,
  WORD_END,
  WORD_UNSHARE_ALL,
  WORD_SHARE_NET,
  WORD_AS_PID_1,
  WORD_DIE_WITH_PARENT,
  WORD_NEW_SESSION,
  WORD_CLEAR_ENVIRONMENT,
  WORD_DROP_CAPABILITIES,
  WORD_UID,
  WORD_GID,
  WORD_REMOUNT_READ_ONLY,
  WORD_CHDIR,
  WORD_HOST_NAME,
  /* Of no meaning here: it is so anyway. */
  WORD_ANYWAY,
  WORD_SIZE,
  WORD_SHOW,
  WORD_BIND,
  WORD_BIND_HANDLE,
  WORD_TMPFS,
  WORD_DIRECTORY,
  WORD_LINK,
  WORD_PROC,
  WORD_DEV,
};

/* The word at `*at`, which is moved on to the next; its values are at `values`. */
enum word word_next(char *const **at, char *const **values);

/* The values of the first such word, or NULL. */
char *const *word_find(char *const *words, enum word wanted);

/* What comes after the end of the words: the program and its arguments. */
char **words_after(char **words);

#endif
