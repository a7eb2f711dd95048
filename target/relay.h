#ifndef TARGET_RELAY_H
#define TARGET_RELAY_H

#include <stdint.h>

#include "base/err.h"

/*
 * A man in the middle of one management call: listens on a Unix socket @front
 * for a client, which is started then, passes its one connection on to @back,
 * and puts @secret where the client first wrote @placeholder, which is of the
 * same length.
 */

/* A listening socket, or -errno; the caller closes it and unlinks @front. */
int relay_listen(const char *front, struct err *e);

/* Serves one client to its end, at most until @end_ns. 0 if the secret was
 * passed on. */
int relay_serve(int listener, const char *back, const char *placeholder,
		const char *secret, uint64_t end_ns, struct err *e);

#endif
