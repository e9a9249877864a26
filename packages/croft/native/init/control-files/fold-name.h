/* How file systems that ignore case compare names: directories of macOS and Windows, of USB drives and of WSL, and some
   of ext4. */
#ifndef CROFT_FOLD_NAME_H
#define CROFT_FOLD_NAME_H

#include <stddef.h>

/* Whether a name in the path may be another spelling of a lower-case name. Fast, and true for more paths than that. */
int may_need_folding(const char *path);

/* Writes the folded name, with a zero: lower case, without code points that are ignored, streams (`.git:x`) and dots and
   spaces at its end. */
void fold_name(const char *name, size_t length, char *folded, size_t size);

/* Whether this is the short name (`GIT~1`) that FAT and NTFS give to a name with a dot at its start. Both are folded. */
int is_short_name_of(const char *folded, const char *name);

#endif
