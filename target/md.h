#ifndef TARGET_MD_H
#define TARGET_MD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "target/disk.h"
#include "base/journal.h"
#include "target/state.h"

/* Linux md over disks, through mdadm. Journal: "wipe PATH" for each device of
 * the user's, since md writes on it, then "md DEVICE UUID". */
struct md_opts {
	const char *level;	   /* mdadm's: "5" */
	bool is_redundant;	   /* md syncs it first, unless told not to */
	uint64_t chunk_bytes;	   /* 0: mdadm's default */
	const char *layout;	   /* "": the same */
	unsigned int stripe_cache; /* pages a member; 0: md's default */
	unsigned int sync_kib;	   /* a second, at least; 0: the same */
	/* The first sync: called a few times a second; false ends it. May be
	 * NULL. @left_ns: UINT64_MAX when unknown. */
	bool (*on_sync)(void *user, double done, uint64_t left_ns);
	void *user;
};

/* -EPERM, -ENOENT, -ENOTSUP: this host cannot, and why. */
int md_load(struct err *e);

/* Makes it, and waits for its first sync where the members are not known to be
 * zero: as long as that gets on. *end_ns is put off by that time. -EINTR:
 * on_sync said so. */
int md_make(struct disk *md, const struct md_opts *o, const struct disks *d,
	    const struct state *s, struct journal *j, uint64_t *end_ns,
	    struct err *e);

/* @value: of the journal. 0 if it is gone already. */
int md_stop(const char *value, struct err *e);

#endif
