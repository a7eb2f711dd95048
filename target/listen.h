#ifndef TARGET_LISTEN_H
#define TARGET_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Where a target listens, and the proof that it does so there and nowhere
 * else: a tgtd that cannot bind its portal falls back to [::]:3260, every
 * interface of the machine, and says so only in its log.
 */
struct listen_address {
	char host[64]; /* as inet_ntop() writes it, no brackets */
	bool is_v6;
	bool is_loopback;
	union {
		struct in_addr v4;
		struct in6_addr v6;
	};
};

/* @text: one numeric address of this machine. -EINVAL for a name, a wildcard
 * or junk. */
int listen_parse(struct listen_address *a, const char *text, struct err *e);

/* Checks that we could listen on *port there, or, if it is 0, picks a free one.
 * The port may be taken by another before tgtd has it: prove it after. */
int listen_pick_port(const struct listen_address *a, uint16_t *port,
		     struct err *e);

/* "127.0.0.1:3260", "[::1]:3260" */
void listen_format(const struct listen_address *a, uint16_t port, char *text,
		   size_t size);

/* 0 if the listening TCP sockets of @pid are one, @a:@port. -EADDRINUSE if
 * they are others (the text lists them). */
int listen_prove(pid_t pid, const struct listen_address *a, uint16_t port,
		 struct err *e);

/* An initiator address as tgt's ACL takes it: ADDRESS, ADDRESS/BITS or ALL.
 * tgt itself takes any text and then lets nobody in. */
int listen_check_acl(const char *text, struct err *e);

#endif
