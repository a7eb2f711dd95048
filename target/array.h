#ifndef TARGET_ARRAY_H
#define TARGET_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "target/disk.h"
#include "base/journal.h"
#include "target/state.h"

/*
 * Linux md over the members (md.h), and LUKS2 over md where asked (crypt.h):
 * single, jbod, span, raid0, raid1, raid5, raid6, raid10, each with "+crypt".
 */
struct array_opts {
	char kind[32];		   /* "raid5+crypt"; "": no array */
	char members[1024];	   /* see disk.h */
	char layout[32];	   /* mdadm's --layout; "": its default */
	uint64_t chunk_bytes;	   /* 0: mdadm's default, 512 KiB */
	unsigned int stripe_cache; /* pages a member; 0: md's default, 256 */
	unsigned int sync_kib;	   /* a second that a sync gets at least, also
				      under load; 0: md's default, 1000 */
	/* See md.h. */
	bool (*on_sync)(void *user, double done, uint64_t left_ns);
	void *on_sync_user;
};

/* The devices that become LUNs: one, or the members of a jbod. */
struct array {
	struct disk lun[DISKS_MAX];
	size_t nr_luns;
	char note[200]; /* "" or what a user should know */
};

/* Everything that can be told without looking at a disk: kind, number and size
 * of members, chunk, layout, stripe cache. -EINVAL. */
int array_check(const struct array_opts *o, struct err *e);

/* Each LUN of such an array has that much at least, down to whole 4 MiB; 0
 * where it is not known before it is made: given devices, or what array_check()
 * does not let pass. */
uint64_t array_least_bytes(const struct array_opts *o);

/* Can a member of such an array fail (in the end, one of these: md_fail() asks
 * the array itself)? -EINVAL says why not; @member is a number or a device. */
int array_check_member(const struct array_opts *o, const char *member,
		       struct err *e);

/* Makes members, array and crypt; waits for the first sync where the members
 * are not known to be zero. */
int array_prepare(struct array *a, const struct array_opts *o, bool overwrite,
		  const struct state *s, struct journal *j, uint64_t *end_ns,
		  struct err *e);

/* Undoes all of it, as the journal tells. tgtd is gone. */
int array_remove(const struct journal_text *t, struct err *e);

#endif
