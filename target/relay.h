#ifndef TARGET_RELAY_H
#define TARGET_RELAY_H

#include <stdint.h>

#include "base/err.h"

/*
 * A man in the middle of one management call: listens on the Unix socket
 * @front, takes one connection, passes it on to @back and puts @secret where
 * the client first wrote @placeholder, which is of the same length. Works in a
 * thread of its own; the client is run meanwhile.
 */
struct relay;

/* The strings are borrowed until relay_stop(). */
int relay_start(struct relay **r, const char *front, const char *back,
		const char *placeholder, const char *secret,
		uint64_t deadline_ns, struct err *e);

/* Ends it, removes the socket. 0 if the secret was passed on. */
int relay_stop(struct relay *r, struct err *e);

#endif
