/* Starts bubblewrap for the server, which is too large to fork often. */
#ifndef CROFT_SPAWNER_H
#define CROFT_SPAWNER_H

/* croft-init --spawn SOCKET: serves the process that started it, on descriptor 3 and by connections to a socket at that
   path, until it is gone. */
_Noreturn void spawner_serve(char **arguments);

#endif
