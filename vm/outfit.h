#ifndef VM_OUTFIT_H
#define VM_OUTFIT_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "vm/appliance.h"
#include "vm/guest.h"
#include "vm/lab.h"
#include "vm/scratch.h"

/*
 * All that one guest is started from, in a scratch folder: kernel, root with
 * the files and the command in it, disks. While it is made the cache is locked;
 * afterwards another lunbench may renew it.
 */
enum { OUTFIT_DISKS_MAX = 24 };

struct outfit {
	struct scratch scratch;
	struct appliance appliance;
	enum guest_accel accel;
	char kernel[PATH_MAX], initrd[PATH_MAX];
	char disk[OUTFIT_DISKS_MAX][PATH_MAX];
	const char *disks[OUTFIT_DISKS_MAX + 1]; /* NULL-terminated */
};

/* A zeroed one may be released. */
#define OUTFIT_INIT                         \
	{                                   \
		.scratch = {.lock_fd = -1 } \
	}

/* What is asked of the guest, and whether it fits this host. */
int outfit_check(const struct lab_opts *o, struct err *e);

/* @has_net: the guest has a network card. */
int outfit_make(struct outfit *out, const struct lab_opts *o, bool has_net,
		struct err *e);

/* Takes the folder away. A guest that runs keeps what it has open. */
void outfit_release(struct outfit *out);

/* "tcg, Nehalem", for people and results. */
void outfit_describe(const struct outfit *out, char *text, size_t size);

#endif
