/* For a sandbox without network: answers at once that no host has the name that a program asks for, and reports the
   name to the server. The C library asks the name service cache (nscd) over a UNIX socket first, and accepts its
   negative answer. Programs that do not ask nscd ask a name server: deny-dns.h. */
#ifndef CROFT_DENY_NSCD_H
#define CROFT_DENY_NSCD_H

/* Given in place of the path of the proxy's socket. */
#define NO_NETWORK "no-network"

/* Returns a descriptor that is readable when names_serve has work, or -1 with errno. If the socket cannot be created
   it is never readable. */
int names_prepare(void);
void names_serve(int handle);

#endif
