#ifndef VM_KERNEL_H
#define VM_KERNEL_H

#include <limits.h>

#include "base/err.h"
#include "vm/cache.h"

/*
 * The guest's kernel: Debian's cloud kernel, downloaded with apt and unpacked
 * in the cache, never installed. Needs no root.
 */
struct kernel {
	char release[128];    /* "6.1.0-57-cloud-amd64" */
	char package[256];    /* NAME_VERSION, as it is cached */
	char image[PATH_MAX]; /* vmlinuz */
	char root[PATH_MAX];  /* holds lib/modules/RELEASE */
};

/* The newest in the cache, else (or with @look_for_newer) the one that apt's
 * lists name. What was done is said in @note (256 bytes). The cache is locked.
 */
int kernel_get(struct kernel *k, struct cache *c, int look_for_newer,
	       char *note, struct err *e);

#endif
