/* Reads the settings of a git settings file as git does. */
#ifndef CROFT_READ_GIT_SETTINGS_H
#define CROFT_READ_GIT_SETTINGS_H

/* Called with each setting: section and name in lower case, such as `core.hookspath`, with `*` for a subsection. Any
   result but 0 ends the reading. */
typedef int (*setting_taker)(void *context, const char *key, const char *value);

/* Reads `path`, following links. Anything but a regular file has no settings. Returns 0, the result of `take`, or -1
   with errno. */
int git_settings_read(const char *path, setting_taker take, void *context);

#endif
