/* Mounts or unmounts one overlay for the server, in a process that lives for a millisecond. */
#ifndef CROFT_MOUNT_OVERLAY_H
#define CROFT_MOUNT_OVERLAY_H

/* Arguments: SERVER TARGET OPTIONS HANDLE... Each HANDLE is a descriptor of the server, as NUMBER:DEVICE:INODE. They
   are available from descriptor 10 on, where OPTIONS refers to them. Writes to descriptor 4 when done. Errors of the
   kernel are printed after "kernel: ", others without that prefix. Returns an exit code. */
int mount_overlay(char **arguments);

/* Unmounts TARGET. With `lazily` it leaves its path at once, even while a process still has it open. */
int unmount_overlay(const char *target, int lazily);

#endif
