/* One search of a search box: becomes ripgrep, behind a fence of its own. */
#ifndef CROFT_SEARCH_H
#define CROFT_SEARCH_H

/* Becomes the program. Returns, with an exit code, only if it cannot. */
int search(char **arguments);

/* Starts the program, which prints paths that each end in NUL, and prints before each of them when it was last changed,
   in tenths of a microsecond, and a space; 0 for what is not there. Leaves out paths that do not end in `suffix`. Ends
   as the program ends. */
int search_with_times(const char *suffix, char **arguments);

#endif
