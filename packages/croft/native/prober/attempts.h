/* Single attempts at what a sandbox must refuse. Each is harmless where it is not refused: it stays in namespaces that
   end with this process, looks without writing, or hands over arguments with which nothing can be done. */
#ifndef CROFT_ATTEMPTS_H
#define CROFT_ATTEMPTS_H

/* 0 when the kernel did it, else the errno with which it was refused. */
typedef int attempt_function(char **arguments);

struct attempt {
  const char *name;
  int arguments; /* how many it needs */
  attempt_function *make;
};

extern const struct attempt namespace_attempts[], process_attempts[], surface_attempts[], foreign_attempts[], file_attempts[];

/* 0 for what is not an error. */
int outcome(long result);

/* For a call whose arguments are nonsense on purpose: to be told so means that it was looked at. */
int outcome_of_nonsense(long result);

/* Becomes root of namespaces of its own, if that is allowed: what needs a privilege is then attempted with it. */
void try_to_own(int namespaces);

#endif
