/* Parses a git configuration exactly as git does, and decides which changes of one are safe. */
#ifndef CROFT_GIT_CONFIG_CHANGES_H
#define CROFT_GIT_CONFIG_CHANGES_H

#include <stddef.h>

#define MAX_CONFIG (256 * 1024) /* largest settings file that a program in a sandbox may change */
#define MAX_FULL_KEY 1024

/* Called with each setting. The key is `section.name` or `section.subsection.name`, with section and name in lower
   case. */
typedef int (*entry_taker)(void *context, const char *key, const char *value);

/* Returns 0, or -1 at the first line that git would not read either, or if `take` returns other than 0. */
int git_config_parse(const char *text, size_t length, entry_taker take, void *context);

/* Whether this setting can make git execute nothing. `depth` is how many names the git directory is below the
   workspace. */
int is_safe_setting(const char *key, const char *value, int depth);

/* Whether `after` differs from `before` only by safe settings. If not, `key` gets the first unsafe one; it has room
   for MAX_FULL_KEY. */
int is_safe_change(const char *before, size_t before_length, const char *after, size_t after_length, int depth, char *key);

#endif
