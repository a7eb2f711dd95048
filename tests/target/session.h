#ifndef TESTS_TARGET_SESSION_H
#define TESTS_TARGET_SESSION_H

#include "tests/target/corrupt.h"
#include "tests/target/script.h"

/* One connection to the instant target, from login to logout. */

struct later; /* an answer that a rule delays */

struct target { /* what all sessions share */
	struct script script;
	uint8_t *store; /* mapped twice in a row: no range of it wraps */
	struct corrupt corrupt;
	unsigned int port;
	int epoll_fd;
	struct later *later; /* owned; by time */
};

struct session;

/* @fd is the session's now. NULL without memory (then @fd is closed). */
struct session *session_new(struct target *t, int fd);

/* The socket is ready; the session may be gone when this returns. */
void session_event(struct session *s, uint32_t epoll_events);

/* Answers that are due at @now_ns. Nanoseconds until the next; -1: none. */
int64_t session_run_later(struct target *t, uint64_t now_ns);

#endif
