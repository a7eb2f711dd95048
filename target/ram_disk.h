#ifndef TARGET_RAM_DISK_H
#define TARGET_RAM_DISK_H

#include <stdint.h>

#include "base/err.h"
#include "base/journal.h"
#include "target/disk.h"

/* A RAM disk (null_blk, through configfs) that behaves like a model. Journal:
 * "null-blk NAME". */

/* -EPERM, -ENOTSUP: this host cannot, and why. */
int ram_disk_load(struct err *e);

/* Makes it as /dev/NAME. */
int ram_disk_make(struct disk *d, const struct disk_model *m,
		  uint64_t size_bytes, const char *name, struct journal *j,
		  struct err *e);

/* 0 if it is gone already. */
int ram_disk_remove(const char *name, struct err *e);

#endif
