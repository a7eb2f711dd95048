#ifndef BASE_SIGNATURE_H
#define BASE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What lies on a disk already, by libblkid: partition table, file system, LVM,
 * md, LUKS. @fd: a device or file (or a sparse copy of a LUN's first and last
 * MiB at their places). @found: "ext4 file system \"backup\"", "gpt partition
 * table", ... or "" for nothing. */
int signature_find(int fd, uint64_t size_bytes, uint32_t block_bytes,
		   char *found, size_t found_size, struct err *e);

#endif
