#ifndef INITIATOR_SESSION_IO_H
#define INITIATOR_SESSION_IO_H

#include "initiator/session.h"

/* The data path of a session; for session.c only. */

int session_io_init(struct session *s, struct err *e);
void session_io_release(struct session *s);

/* Submits what is due, as far as slots are free. */
void session_io_fill(struct session *s);

/* The transport's event. */
void session_io_done(void *user, struct io *io);

/* After the connection was opened again. */
void session_io_resume(struct session *s);

/* Frees what waits for a retry, uncounted. */
void session_io_give_up(struct session *s);

/* The integral of the depth over the window, up to @at_ns: now, or a moment
 * since which nothing was submitted or done. */
double session_io_depth_ns(const struct session *s, uint64_t at_ns);

/* "read of 8 blocks at LBA 1234" */
char *session_io_text(const struct slot *slot, char *buf, size_t size);

/* --- in session.c, for session_io.c --- */

bool session_is_connected(const struct session *s);
/* Nothing more comes from the pattern. */
void session_exhausted(struct session *s);
/* After something finished: is all finished? */
void session_progressed(struct session *s);
void session_fail(struct session *s, const struct err *e,
		  enum error_scope scope);

#endif
