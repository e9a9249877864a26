/* Parses the command line options of bubblewrap that Croft uses. */
#ifndef CROFT_BWRAP_ARGUMENTS_H
#define CROFT_BWRAP_ARGUMENTS_H

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
  /* No effect: the box always behaves as this option asks. */
  WORD_ANYWAY,
  WORD_SIZE,
  WORD_SHOW,
  WORD_BIND,
  WORD_BIND_HANDLE,
  WORD_SHOW_HANDLE,
  WORD_TMPFS,
  WORD_DIRECTORY,
  WORD_LINK,
  WORD_PROC,
  WORD_DEV,
};

/* Reads the option at `*at`, moves `*at` to the next one and points `values` at its values. */
enum word word_next(char *const **at, char *const **values);

/* Returns the values of the first such option, or NULL if there is none or an option before it is unknown. */
char *const *word_find(char *const *words, enum word wanted);

/* Returns the program and its arguments, which follow the `--`. */
char **words_after(char **words);

#endif
