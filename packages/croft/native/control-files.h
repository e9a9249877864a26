/* Files that steer programs outside the sandbox later: hooks, settings of git, editors, shells and agents. */
#ifndef CROFT_CONTROL_FILES_H
#define CROFT_CONTROL_FILES_H

#define MAX_PINS 4096

struct pin {
  char *path; /* below the root, with a slash before each name */
  int is_link;
};

extern struct pin pins[MAX_PINS];
extern int pin_count;

/* Finds those below `root`, in the order of their paths. 0, or -1 with errno. */
int control_files_find(const char *root);

#endif
