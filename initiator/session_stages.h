#ifndef INITIATOR_SESSION_STAGES_H
#define INITIATOR_SESSION_STAGES_H

#include "initiator/session.h"

/* Where a session's time went, as its transport tells (stages.h); for
 * session.c and session_io.c. Nothing without a tap. */

/* An answer that is to be retried: its time is kept for the last one's. */
void session_add_stages(struct slot *slot, uint64_t now);
/* Of a counted I/O that is done. */
void session_record_stages(struct session *s, struct slot *slot, uint64_t now);

/* The wire's counts from now on are the row's; those since then are added to
 * it. */
void session_begin_counts(struct session *s);
void session_end_counts(struct session *s);

#endif
