/* Control files that are reached by links, or by what a setting says. All paths are below the root. */
#ifndef CROFT_CONTROL_LINKS_H
#define CROFT_CONTROL_LINKS_H

extern const char *top;     /* the root by its name */
extern const char *own_git; /* the directory of git's whose settings are read, or NULL */

int add_pin(const char *path);

/* Holds what is at `path`, and every link on the way to it. Makes it if it is not there. */
int add_chain(const char *path, int is_directory);

/* Puts together a place in the workspace from where it starts and what a setting says. -1 if it is elsewhere. `place`
   has room for PATH_MAX. */
int locate(char *place, const char *from, const char *value);

#endif
