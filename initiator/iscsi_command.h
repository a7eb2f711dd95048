#ifndef INITIATOR_ISCSI_COMMAND_H
#define INITIATOR_ISCSI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "initiator/iscsi_link.h"

/* Small commands on a link that is up, with a reply of some bytes: what it
 * takes to learn about a LUN. The structs are the caller's and must outlive
 * link_free(). */

struct scsi_task;

struct command {
	/* @result as sense_result(). @data is libiscsi's, until this returns.
	 * Not called when the link goes down instead. Another command may be
	 * sent from here. */
	void (*on_reply)(struct command *c, int result,
			 const struct io_detail *d, const uint8_t *data,
			 size_t size);
	struct link *link;	/* private */
	struct scsi_task *task; /* private; owned while outstanding */
};

/* -ENOTCONN or -ENOMEM: then no on_reply. */
int command_send(struct command *c, struct link *l, unsigned int lun,
		 const uint8_t *cdb, size_t cdb_bytes, uint32_t reply_bytes);

/* After link_free(), for a command whose reply never came. */
void command_release(struct command *c);

/* SendTargets=All on a discovery session (RFC 7143 appendix C). */
struct targets_query {
	/* Each portal of each target in the target's order (NULL for one
	 * without), then NULL, NULL. Not called when the link goes down. */
	void (*on_target)(struct targets_query *q, const char *name,
			  const char *portal);
	struct link *link; /* private */
};

int targets_send(struct targets_query *q, struct link *l);

#endif
