/* A name server at 127.0.0.1 for a sandbox without network. Programs with their own resolver (Go, musl, c-ares) ask
   it, because no other is configured. It answers at once that there is no such name, and reports the name. It knows
   no names and asks nobody. */
#ifndef CROFT_DENY_DNS_H
#define CROFT_DENY_DNS_H

/* Opens the port, called while the process may still open ports below 1024. If that fails there is no name server
   and programs find no resolver, which is as quick. */
void dns_open(void);

/* Returns a descriptor that is readable when dns_serve has work, or -1. */
int dns_handle(void);

/* Answers queries. Calls `tell` with each name whose address was asked for, as it was written. */
void dns_serve(void (*tell)(char *name));

#endif
