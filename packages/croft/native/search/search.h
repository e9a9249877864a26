/* One search of a search box: executes ripgrep behind a seccomp filter of its own. */
#ifndef CROFT_SEARCH_H
#define CROFT_SEARCH_H

/* Executes the program. Returns an exit code only if it cannot. */
int search(char **arguments);

/* Starts the program, which prints paths that each end in NUL, and prints each path after its modification time in
   units of 100 ns and a space; 0 for a missing file. Leaves out paths that do not end in `suffix`. Returns the exit
   code of the program. */
int search_with_times(const char *suffix, char **arguments);

#endif
