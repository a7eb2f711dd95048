#ifndef TARGET_MD_WATCH_H
#define TARGET_MD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/disk.h"
#include "target/md_member.h"

/*
 * Sees what becomes of an array while something else goes on: which member
 * failed, was taken out, is rebuilt, and how long that took. Reads sysfs alone,
 * a few small files, and only when md says that something happened (it wakes
 * readers of /proc/mdstat).
 */

/* What can be seen at one moment. */
struct md_look {
	enum md_member_state member[DISKS_MAX];
	char action[32]; /* as in md_state.h; a "recover" of no member: "idle"
			  */
};

struct md_watch {
	char device[64];
	char member[DISKS_MAX][128];
	size_t nr;
	struct md_look last;
	uint64_t action_ns; /* since when the action goes on */
	int mdstat;	    /* owned; -1: none */
};

typedef void md_watch_tell(void *user, const char *text);

/* The first look is not told. */
void md_watch_open(struct md_watch *w, const char *device,
		   const char member[][128], size_t nr);
void md_watch_close(struct md_watch *w); /* takes a zeroed one, too */

/* True once after md said that something changed. */
bool md_watch_has_news(struct md_watch *w);

/* Looks, and tells what changed since, a sentence each. */
void md_watch_look(struct md_watch *w, uint64_t now_ns, md_watch_tell *tell,
		   void *user);

/* The same of a look that was made: the pure part. */
void md_watch_see(struct md_watch *w, const struct md_look *l, uint64_t now_ns,
		  md_watch_tell *tell, void *user);

#endif
