#ifndef INITIATOR_RESOLVE_H
#define INITIATOR_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "initiator/loop.h"

/*
 * Host name to numeric portals, without blocking the loop: a thread calls
 * getaddrinfo(), which knows no deadline, and is left behind when nobody waits
 * for it any more. Numeric hosts need no thread.
 */
enum { RESOLVE_MAX = 16 };

struct portals {
	size_t n;
	char text[RESOLVE_MAX][80]; /* "127.0.0.1:3260", "[::1]:3260" */
};

struct resolve;

/* @on_done comes once, from the loop, never from inside this call: with
 * portals in the system's order of preference, or NULL and why (-ENOENT no
 * such host, -EADDRNOTAVAIL the name service did not answer). @r is gone
 * then. */
int resolve_start(struct resolve **r, struct loop *loop, const char *host,
		  uint16_t port,
		  void (*on_done)(void *user, const struct portals *p,
				  const struct err *e),
		  void *user, struct err *e);

/* No on_done any more. NULL is fine. */
void resolve_cancel(struct resolve *r);

#endif
