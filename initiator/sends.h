#ifndef INITIATOR_SENDS_H
#define INITIATOR_SENDS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "initiator/loop.h"

/*
 * What many sessions send in one turn of a loop, in one call: io_uring carries
 * out all of it while it takes it (MSG_DONTWAIT), so nothing is under way when
 * the call returns. Worth it from a few sockets on; below that, and where there
 * is no io_uring, each is sent by sendmsg(). Of a loop, on its thread.
 */
struct sends;

struct send {
	int fd;
	/* Says what is to be sent, as late as possible. False: nothing. */
	bool (*on_turn)(struct send *s, struct msghdr *m);
	/* What came of it: bytes sent, or -errno (-EAGAIN: no room now). May
	 * add and cancel any. Not after on_turn has said false. */
	void (*on_sent)(struct send *s, ssize_t result);
	/* private */
	struct send *next;
	bool is_queued;
	struct msghdr message;
	ssize_t result;
};

/* NULL: no memory. */
struct sends *sends_new(struct loop *l);
void sends_free(struct sends *s);

/* For the end of this turn; nothing if it waits for it already. */
void sends_add(struct sends *s, struct send *one);
void sends_cancel(struct sends *s, struct send *one);

#endif
