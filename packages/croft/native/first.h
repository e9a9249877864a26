/* The first process of a container, where that has none other: Node passes no signal on and reaps only its own. */
#ifndef CROFT_FIRST_H
#define CROFT_FIRST_H

/* Starts the program and stays until it ends. Whatever else becomes a child of ours meanwhile is reaped. Answers the exit
   code of the program, or 128 and the signal that ended it. */
int first(char **arguments);

#endif
