/* Starts sandboxes for the server, which is too large to fork often. */
#ifndef CROFT_SPAWNER_H
#define CROFT_SPAWNER_H

/* croft-init --spawn SOCKET serves its parent process, on descriptor 3 and by connections to SOCKET, until the
   parent is gone. */
_Noreturn void spawner_serve(char **arguments);

#endif
