#ifndef TARGET_MD_STATE_H
#define TARGET_MD_STATE_H

#include <stddef.h>

#include "base/err.h"

/* What md says of an array, from sysfs (the kernel's admin-guide/md.rst). */
struct md_state {
	char state[32];	   /* "clean", "active", ... */
	char degraded[16]; /* members that are missing; "" without redundancy */
	char action[32];   /* "idle", "recover", "resync"; "" the same */
	char progress[64]; /* "1024 / 65408" sectors of the action; or "none" */
	/* "" if it has none. The layout by its name: "left-symmetric", "n2" */
	char chunk[24], layout[24], stripe_cache[24], sync_speed_min[24];
};

/* All "" if @device ("/dev/md100") is no md. */
void md_state_read(struct md_state *st, const char *device);

/* How far the action is, 0..1; -1 if there is none, or none that is known. */
double md_progress(const char *progress);

/* One attribute of /sys/block/NAME/md, without its newline; "" if there is
 * none. */
void md_attribute(const char *device, const char *name, char *value,
		  size_t size);

/* -errno, with a sentence that has @value in it. */
int md_set_attribute(const char *device, const char *name, const char *value,
		     struct err *e);

#endif
