/* One mount or unmount of an overlay for the server: a program that is started and gone again within a millisecond. */
#ifndef CROFT_MOUNT_H
#define CROFT_MOUNT_H

/* SERVER TARGET OPTIONS HANDLE...: each handle is one of the server's, as NUMBER:DEVICE:INODE, and is here from
   descriptor 10 on, where the options find it. Tells on descriptor 4 when it is done; what the kernel said is printed
   after "kernel: ", whatever else is in the way without. Answers an exit code. */
int mount_overlay(char **arguments);

/* TARGET, and whether it is to go from its name while somebody still has it open. */
int unmount_overlay(const char *target, int lazily);

#endif
