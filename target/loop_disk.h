#ifndef TARGET_LOOP_DISK_H
#define TARGET_LOOP_DISK_H

#include <stdint.h>

#include "base/err.h"
#include "base/journal.h"
#include "target/disk.h"

/* An image file behind a loop device. Journal: "image PATH", "loop PATH". */

int loop_disk_make(struct disk *d, uint64_t size_bytes, const char *image,
		   struct journal *j, struct err *e);

/* Detaches the device; the image stays. 0 if it is gone already. */
int loop_disk_remove(const char *image, struct err *e);

#endif
