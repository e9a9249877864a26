#ifndef CROFT_FIND_NAMES_H
#define CROFT_FIND_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The results. Every directory that has a wanted name is a record: its path and a NUL, then for each wanted name in
   it the letter of its kind ('d'irectory, 'l'ink, 'f'ile, 'o'ther), the name and a NUL, and one more NUL at the end.
   Directories nearer to the root come first. */
struct names_found {
  char *bytes;
  size_t length, capacity;
};

/* Limits of a walk. A walk that reaches one of them ends there. */
struct walk_limits {
  uint32_t entries, depth;
};

/* The names to look for, each ended by a NUL, one more NUL at the end. A name that begins with `*` stands for all names
   that end with the rest of it. */
struct wanted_names {
  const char *names, *skipped, *skipped_in_git;
};

/*
 * Walks the tree below an open directory by names alone, without a stat of any file. Enters no link, no directory with
 * a name in `skipped`, and in a git directory none in `skipped_in_git`. A directory that cannot be read is left out.
 * Returns 0, or -1 if memory is exhausted.
 */
int find_names(int root, const struct wanted_names *wanted, struct walk_limits limits, struct names_found *found);

#endif
