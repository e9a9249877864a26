/* Makes a sandbox of the words that bubblewrap is told, without starting it: to start a program, and to have it read all
   mounts again for every one it makes, takes longer than the sandbox itself. */
#ifndef CROFT_BOX_H
#define CROFT_BOX_H

#include <sys/types.h>

/* In place of the path of bubblewrap. */
#define BOX "box"

/* The handles of whoever becomes its first process. */
#define TOLD 4
#define GATE 5

/* What the spawner has of itself: its arguments, which a sandbox must not show, and the file that it is. */
int box_prepare(char **own_arguments);

/* Whether the words are those of a whole sandbox, to the last guard: none with a gap is made here. */
int box_takes(char *const *words);

/* For the very next `box_clone`: as whom, in the user namespace of the spawner, and whether there is something to wait for. */
void box_plan(uid_t owner, gid_t group, int has_gate);

/* Like fork, but the child is the first process of new namespaces, and a child of our parent. */
pid_t box_clone(char *const *words);

/* In that child: makes the sandbox, tells its number on TOLD, and becomes its init. */
_Noreturn void box_run(char **words);

#endif
