#ifndef VM_APPLIANCE_H
#define VM_APPLIANCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "vm/kernel.h"

/*
 * The guest's root: the host's own Debian packages, taken together by supermin,
 * with the kernel's modules that the lab uses, as one archive that the kernel
 * unpacks into memory. No disk, so that nothing of the host shows in a guest's
 * time, and one form for every clock.
 *
 * It is cached under a hash of the kernel, the recipe and the versions of all
 * installed packages. What changes from run to run, lunbench itself included,
 * is appended to a copy (appliance_compose).
 */
struct appliance {
	struct kernel kernel;
	char image[PATH_MAX];
	unsigned long long hash; /* names the image's contents */
};

/* Finds it, or makes it: the kernel downloaded if there is none (or, with
 * @look_for_newer, if apt knows another), supermin run. @note (512 bytes) says
 * what was done. The cache is locked by the caller. */
int appliance_get(struct appliance *a, struct cache *c, bool look_for_newer,
		  char *note, struct err *e);

/* A file of the host and its place in the guest. */
struct appliance_file {
	const char *from; /* borrowed */
	const char *name; /* borrowed */
};

/* What one guest gets beside the appliance. */
struct appliance_extra {
	const struct appliance_file *files;
	size_t nr_files;
	const char *const *command; /* argv, NULL-terminated */
	const char *const *env;	    /* "NAME=value", NULL-terminated */
	const char *const *modules; /* loaded by init, NULL-terminated */
};

/* The image with @x, lunbench itself, its libraries and init, as @path. */
int appliance_compose(const struct appliance *a,
		      const struct appliance_extra *x, const char *path,
		      struct err *e);

#endif
