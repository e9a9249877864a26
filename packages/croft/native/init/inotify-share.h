/* Limits the inotify instances and watches of a sandbox. The kernel counts them for the user outside too, so that a
   sandbox without a limit could leave none for other programs of that user. */
#ifndef CROFT_INOTIFY_SHARE_H
#define CROFT_INOTIFY_SHARE_H

/* Limits the user namespace of this process, which needs CAP_SYS_RESOURCE there. `settings` is /proc/sys/user of
   this machine, mounted writable. Returns 0 also if there is no such directory: the kernel lacks these limits, or
   the provider cannot mount it, which croft doctor reports. */
int inotify_share_limit(const char *settings);

#endif
