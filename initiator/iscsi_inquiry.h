#ifndef INITIATOR_ISCSI_INQUIRY_H
#define INITIATOR_ISCSI_INQUIRY_H

#include <stdbool.h>

#include "initiator/iscsi_command.h"

/*
 * Learns a LUN over a link that is up: one command after another, each step
 * deciding the next. Embedded by its owner; many may run on one link.
 */
struct inquiry {
	struct command command;
	struct link *link; /* borrowed */
	struct loop *loop; /* borrowed */
	unsigned int number;
	bool only_size; /* the rest is known: TEST UNIT READY and READ CAPACITY
			 */
	/* Once, unless the link goes down first: 0, or -errno and why. */
	void (*on_done)(struct inquiry *q, const struct err *e);

	struct lun lun;		  /* what was learned */
	unsigned int device_type; /* 0x1f until known */

	int step; /* private, from here on */
	unsigned int tries;
	struct loop_timer again;
	uint8_t pages[260]; /* VPD 00h */
	size_t pages_bytes;
};

/* Sends the first command. @q zeroed but for link, loop, number, only_size and
 * on_done. */
void inquiry_start(struct inquiry *q);

/* After link_free(). */
void inquiry_release(struct inquiry *q);

/* What the LUN is being asked: "its size". */
const char *inquiry_stage(const struct inquiry *q);

#endif
