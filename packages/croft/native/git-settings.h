/* Settings in a file of git's, read as git reads them. */
#ifndef CROFT_GIT_SETTINGS_H
#define CROFT_GIT_SETTINGS_H

/* Told of one setting: its section and name in lower case, like `core.hookspath`, with `*` for a subsection. Anything but
   0 ends the reading. */
typedef int (*setting_taker)(void *context, const char *key, const char *value);

/* Reads `path` and follows links to it. What is no file has no settings. 0, what the taker answered, or -1 with errno. */
int git_settings_read(const char *path, setting_taker take, void *context);

#endif
