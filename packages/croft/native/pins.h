/* Files that steer programs outside the sandbox later: hooks, settings of git, editors, shells and agents. */
#ifndef CROFT_PINS_H
#define CROFT_PINS_H

/* Makes every such file below `root` read-only and impossible to replace or rename away, with the directories it
   is in. Needs CAP_SYS_ADMIN. 0, or -1 with errno. */
int pins_place(const char *root);

/* Gives up every capability for good. 0, or -1 with errno. */
int pins_drop_privileges(void);

#endif
