#ifndef INITIATOR_ISCSI_LINK_H
#define INITIATOR_ISCSI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "initiator/loop.h"
#include "initiator/negotiation.h"
#include "initiator/stages.h"
#include "initiator/transport.h"
#include "initiator/url.h"

/*
 * One iSCSI session over one TCP connection, on a loop: look up, connect to
 * each address in turn, log in, notice when it is gone. Below the transport
 * and discovery; libiscsi's reconnecting is off, and a context whose session
 * is lost is used for nothing but its destruction (1.19 crashes otherwise).
 *
 *   RESOLVING -> CONNECTING -> LOGIN -> UP -> LOGOUT -> DOWN
 *        ^           | next address |
 *        +-----------+--- redirect -+        and from anywhere to DOWN
 */
struct iscsi_context;
struct link;

struct link_events {
	void (*on_up)(void *user);
	/* Failed, lost, or logged out; once, and nothing after it. It comes
	 * from a task of the loop: link_free() is allowed inside. */
	void (*on_down)(void *user, const struct err *e);
	/* See link_tell_sent(). May be NULL. */
	void (*on_sent)(void *user);
};

struct link_setup {
	struct loop *loop;		   /* borrowed */
	const struct url *url;		   /* borrowed */
	const struct initiator_opts *opts; /* borrowed */
	const char *target;  /* borrowed; NULL: a discovery session */
	unsigned int number; /* of the session in this process */
	const struct link_events *events;
	void *user;
};

/* Blocks SIGPIPE for the calling thread, which must be the loop's. */
int link_open(struct link **l, const struct link_setup *s, struct err *e);

/* Drops the connection and frees @l; what is outstanding gets no reply. Never
 * from inside an event other than on_down: use a task of the loop. NULL is
 * fine. */
void link_free(struct link *l);

/* A polite end: logout, at most a second, then on_down. From a task. */
void link_logout(struct link *l);

bool link_is_up(const struct link *l);
const char *link_stage(const struct link *l); /* see struct transport */
const char *link_portal(const struct link *l);
void link_describe(const struct link *l,
		   void (*emit)(void *user, const char *key, const char *value),
		   void *user);

/* LUN as libiscsi must be given it: it writes the number raw into the PDU, so
 * from 256 on the address method has to be in it (SAM-5 4.7.7: 256..16383 flat;
 * else LUN 300 would be LUN 44). */
static inline int link_lun_field(unsigned int lun)
{
	return lun < 256 ? lun : 0x4000 | lun;
}

/* --- the data path --- */

/* For iscsi_*_task() while link_is_up(); nothing else. */
struct iscsi_context *link_context(struct link *l);

/* A callback got one of libiscsi's own statuses instead of the target's: the
 * session is lost. */
void link_fail(struct link *l);

/* Sends what is queued. Nothing while libiscsi is calling us: what its
 * callbacks queue is sent when they have returned. */
void link_kick(struct link *l);

/* False when no PDU waits in libiscsi or on the wire: all that was submitted
 * has left. */
bool link_has_output(struct link *l);

/* What it knows of the session's PDUs. NULL, which wire_holds() and its like
 * take, where it is plain: libiscsi does not count. */
const struct wire *link_wire(const struct link *l);

/* PDUs that wait because the target's command window (MaxCmdSN) is shut. */
unsigned int link_held(struct link *l);

/* on_sent comes, once, when link_has_output() is false. */
void link_tell_sent(struct link *l);

#endif
