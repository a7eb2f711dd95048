#ifndef VM_CACHE_H
#define VM_CACHE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Where the lab keeps what is dear to make: $XDG_CACHE_HOME/lunbench, else
 * /var/cache/lunbench (root) or ~/.cache/lunbench. All of it may be removed at
 * any time but while it is locked; everything in it appears whole, by a rename.
 */
struct cache {
	char folder[PATH_MAX - 256];
	int lock_fd; /* owned; -1: not held */
};

/* -ENOSPC if the disk that @folder lies on has not @bytes free; @what needs
 * them ("the lab's kernel and root"), @set says where else ("XDG_CACHE_HOME").
 * Programs that fill a disk say so in many ways, and late. */
int cache_check_room(const char *folder, uint64_t bytes, const char *what,
		     const char *set, struct err *e);

/* Makes and locks it; waits for another lunbench at work there, at most
 * @deadline_ns (-EBUSY). */
int cache_lock(struct cache *c, uint64_t deadline_ns, struct err *e);
void cache_unlock(struct cache *c);

void cache_path(const struct cache *c, const char *name, char path[PATH_MAX]);

/* The last, by name as versions sort, that begins with @prefix and does not
 * end in ".tmp". -ENOENT without text. */
int cache_find_last(const struct cache *c, const char *prefix,
		    char path[PATH_MAX]);

/* Removes all that begins with @prefix, but @keep (a path). */
void cache_remove_others(const struct cache *c, const char *prefix,
			 const char *keep);

/* rm -r of a folder of ours; what is not there is fine. */
void cache_remove_tree(const char *path);

/* FNV-1a, 64 bits: names contents, does not guard against malice. Start with
 * CACHE_HASH_START. */
#define CACHE_HASH_START 0xcbf29ce484222325ULL
uint64_t cache_hash(uint64_t hash, const void *data, size_t len);
uint64_t cache_hash_text(uint64_t hash, const char *text);

#endif
