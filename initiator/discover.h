#ifndef INITIATOR_DISCOVER_H
#define INITIATOR_DISCOVER_H

#include <stddef.h>

#include "base/err.h"
#include "initiator/transport.h"

/* What a portal offers: SendTargets (RFC 7143 section 4.3), then for each
 * target a session, REPORT LUNS (re-issued until it fits), and a probe of each
 * LUN. The address that we came in by is used, whatever portals are named. */

struct found_lun {
	unsigned int lun;
	unsigned int
		device_type; /* SPC-4 table 142: 0x00 disk, 0x0c controller */
	struct lun info;     /* zero unless a disk that answered */
	char problem[256];   /* "" or why it could not be read */
};

struct found_target {
	char name[224];
	char **portals; /* owned, "10.0.0.5:3260,1" */
	size_t nr_portals;
	struct found_lun *luns; /* owned */
	size_t nr_luns;
	char problem[256]; /* "" or why it could not be entered */
};

struct discovery {
	struct found_target *targets; /* owned */
	size_t nr_targets;
};

/* @url: portal, or portal and target. Deadline for each step:
 * opts->connect_timeout_ns. @on_progress may be NULL. */
int discover(struct discovery *d, const struct url *url,
	     const struct initiator_opts *opts,
	     void (*on_progress)(void *user, const char *target, size_t done,
				 size_t total),
	     void *user, struct err *e);
void discovery_release(struct discovery *d);

#endif
