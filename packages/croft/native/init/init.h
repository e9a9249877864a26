/* The init: the first process of a sandbox. */
#ifndef CROFT_INIT_H
#define CROFT_INIT_H

/* Serves the server on descriptor 3. init.c describes the arguments. */
_Noreturn void init_serve(int argc, char **argv);

#endif
