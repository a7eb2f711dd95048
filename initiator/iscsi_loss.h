#ifndef INITIATOR_ISCSI_LOSS_H
#define INITIATOR_ISCSI_LOSS_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Why a link went down, in a sentence: from what the socket, the wire and
 * libiscsi know at that moment, since none of them knows all of it.
 */
struct iscsi_context;
struct wire;

struct loss {
	const char *where; /* "127.0.0.1:3260", or with the name behind it */
	struct iscsi_context *ctx;
	struct wire *wire; /* NULL: plain; it counts digest errors */
	int fd;
	int socket_error; /* errno that somebody took off the socket, or 0 */
	bool in_login;
	bool hang_up; /* the kernel told us that the peer is gone */
};

/* Of a session that was logging in or up. */
void loss_explain(const struct loss *l, struct err *e);

/* Of an address that could not be connected to: errno @code. */
void loss_explain_connect(const char *where, int code, struct err *e);

/* Takes the error off the socket: errno, 0 for none. */
int loss_take_error(int fd);

#endif
