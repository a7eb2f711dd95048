#ifndef TARGET_GIVEN_H
#define TARGET_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A file or device that the user named as backing: may we write to it? */

/* 0 with its real @path and the usable size, down to whole blocks. Refused:
 * what is no plain file or block device, cannot be written, is mounted or
 * otherwise in use (-EBUSY), holds less than a block, or carries a signature
 * without @overwrite (-ENOTEMPTY; the text names it). */
int given_check(const char *name, uint32_t block_bytes, bool overwrite,
		char *path, size_t path_size, uint64_t *size_bytes,
		struct err *e);

/* The real path that a file to be made at @name will have. */
int given_resolve_new(const char *name, char *path, size_t path_size,
		      struct err *e);

#endif
