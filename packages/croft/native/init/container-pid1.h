/* The first process of a container that has no other init. Node passes no signal on and reaps only its own children. */
#ifndef CROFT_CONTAINER_PID1_H
#define CROFT_CONTAINER_PID1_H

/* Starts the program and waits for its end, passes signals on and reaps all other children. Returns the exit code of
   the program, or 128 plus the signal that ended it. */
int first(char **arguments);

#endif
