/* Single attempts that a sandbox must refuse. Each is harmless if it is not refused: it stays in namespaces that end
   with this process, reads without writing, or passes arguments that cannot do anything. */
#ifndef CROFT_ATTEMPTS_H
#define CROFT_ATTEMPTS_H

/* Returns 0 if the kernel did it, else the errno of the refusal. */
typedef int attempt_function(char **arguments);

struct attempt {
  const char *name;
  int arguments; /* number of required arguments */
  attempt_function *make;
};

extern const struct attempt namespace_attempts[], process_attempts[], surface_attempts[], foreign_attempts[], file_attempts[];

/* Returns 0 for success, else errno. */
int outcome(long result);

/* For a call with invalid arguments: any error but a refusal means that the kernel looked at them. */
int outcome_of_invalid_call(long result);

/* Becomes root in new namespaces, if that is allowed, so that attempts that need a privilege have it. */
void try_to_own(int namespaces);

#endif
