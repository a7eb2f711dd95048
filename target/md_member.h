#ifndef TARGET_MD_MEMBER_H
#define TARGET_MD_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The members of an md array: how they are, and what may be done to them. */

enum md_member_state {
	MD_AWAY,       /* not in the array */
	MD_FAULTY,     /* in it, and not used any more */
	MD_REBUILDING, /* in it, and its data are not complete yet */
	MD_IN_SYNC,
};

enum md_member_state md_member_state(const char *device, const char *member);

/* Would an array of @level ("raid5"), @nr members of which @is_good are in
 * sync, and md's number for its @layout, still have all its data? The same
 * rule as the kernel's: raid10's copies of a chunk are on members that follow
 * each other. */
bool md_survives(const char *level, unsigned int layout, const bool *is_good,
		 size_t nr);

/* Marks members[index] faulty, as if it had stopped answering. -EINVAL: it is
 * faulty already, or away, or the array would be lost with it. */
int md_fail(const char *device, char members[][128], size_t nr, size_t index,
	    struct err *e);

/* The three steps of a replacement. Takes a faulty member out; waits until md
 * has let go of it. -EINVAL: it is not faulty. 0: it is away. */
int md_remove(const char *device, const char *member, struct err *e);
/* A member that is away gets to be a blank disk. */
int md_blank(const char *member, struct err *e);
/* md rebuilds all of it. */
int md_add(const char *device, const char *member, struct err *e);

#endif
