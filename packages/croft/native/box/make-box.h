/* Makes a sandbox from bubblewrap's arguments without starting bubblewrap. Starting that program, and its rereading
   of all mounts after each one it makes, takes longer than making the sandbox. */
#ifndef CROFT_MAKE_BOX_H
#define CROFT_MAKE_BOX_H

#include <sys/types.h>

/* Given in place of the path of bubblewrap. */
#define BOX "box"

/* Descriptors of the process that becomes the first process of the sandbox. */
#define TOLD 4
#define GATE 5

/* Remembers the spawner's arguments, which no sandbox may show, and its program file. */
int box_prepare(char **own_arguments);

/* Whether the arguments ask for a complete sandbox. Arguments that are unknown, or that leave out a guard, are not
   taken. */
int box_takes(char *const *words);

/* Sets the user and group for the next `box_clone`, as ids of the spawner's user namespace, and whether the sandbox
   waits at the gate. */
void box_plan(uid_t owner, gid_t group, int has_gate);

/* Like fork, but the child is the first process of new namespaces and a child of our parent. */
pid_t box_clone(char *const *words);

/* In that child: makes the sandbox, reports its process id on TOLD and becomes its init. */
_Noreturn void box_run(char **words);

#endif
