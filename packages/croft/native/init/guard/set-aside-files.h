/* Files at the top of the workspace that the user's agents and shells obey. A file that does not exist cannot be
   held, so a file that programs create gets another name as soon as it is seen. */
#ifndef CROFT_SET_ASIDE_FILES_H
#define CROFT_SET_ASIDE_FILES_H

/* Remembers the files that exist: they are the user's. */
int files_at_top_know(const char *workspace);

/* Renames new files. */
void files_at_top_set_aside(void);

/* Called before a program opens such a file at the top of a repository. Returns -1 if the file is the user's. */
int files_at_top_meet(int directory, const char *name, int flags);

void files_at_top_watch(int notices);
void files_at_top_noticed(int watch, const char *name);

#endif
