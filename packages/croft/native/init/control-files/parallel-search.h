/* Lets idle processors search directories of a large tree: opening a sandbox waits for the search. */
#ifndef CROFT_SHARE_SEARCH_H
#define CROFT_SHARE_SEARCH_H

#include <stddef.h>

/* Searches what is below an open directory, which it closes. `path` has room for PATH_MAX. Returns 0, or -1 with
   errno. */
typedef int searcher(int directory, char *path, size_t length, int depth);

/* Leaves the directory to whichever thread is done first. Returns 0 if enough of them wait already: then the caller
   searches the directory itself. Called while `search_shared` runs, often. */
int offer_directory(int directory, const char *path, size_t length, int depth);

/* Searches the tree and returns when all threads have ended. Returns 0, or -1 with the errno of the first failure. */
int search_shared(searcher *search, int root);

#endif
