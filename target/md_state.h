#ifndef TARGET_MD_STATE_H
#define TARGET_MD_STATE_H

#include <stddef.h>

#include "base/err.h"

/* What md says of an array, from sysfs, and what may be done to its members. */
struct md_state {
	char state[32];	   /* "clean", "active", ... */
	char degraded[16]; /* members that are missing; "" without redundancy */
	char action[32];   /* "idle", "recover", "resync"; "" the same */
	char progress[64]; /* "1024 / 65408" sectors of the action; or "none" */
	char chunk[24], layout[24], stripe_cache[24]; /* "" if it has none */
};

/* All "" if @device ("/dev/md100") is no md. */
void md_state_read(struct md_state *st, const char *device);

/* One attribute of /sys/block/NAME/md, without its newline; "" if there is
 * none. */
void md_attribute(const char *device, const char *name, char *value,
		  size_t size);

/* Marks a member faulty, as if it had stopped answering. */
int md_fail(const char *device, const char *member, struct err *e);

/* Takes a faulty member out and puts it in again as a blank disk: md rebuilds
 * all of it. */
int md_replace(const char *device, const char *member, struct err *e);

#endif
