/* Names that the user's programs obey at the top of the workspace and of every repository in it. */
#ifndef CROFT_CONTROL_NAMES_H
#define CROFT_CONTROL_NAMES_H

/* Lifts the protection of the names in this comma-separated list: `--allow-control`. */
void allow_control(const char *names);

int is_allowed(const char *name);

/* Whether the name is a settings directory of an editor or an agent. */
int is_control_directory(const char *name);

/* Whether the name is a settings file of an agent, an editor or a shell. */
int is_control_file(const char *name);

/* Returns the fixed names of control files by index, then NULL. */
const char *control_file(int index);

/* Returns the fixed names of control directories and files by index, then NULL. */
const char *control_name(int index);

#endif
