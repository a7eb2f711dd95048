#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The whole file, NUL-terminated; the caller frees *text. @max bounds it
 * (-EFBIG). A pipe's other end may be silent for 10 s (-ETIMEDOUT). */
int file_read(const char *path, size_t max, char **text, size_t *len,
	      struct err *e);

/* Replaces @path at once: a temporary file beside it, fsync, rename, fsync of
 * the folder. On failure the old file is whole and the temporary is gone. */
int file_write_atomic(const char *path, const void *data, size_t len,
		      struct err *e);

/* mkdir -p with @mode for what it makes. */
int file_make_dirs(const char *path, unsigned int mode, struct err *e);

/* A plain file of this user, and no link: where anyone may make files, as in
 * /var/tmp, somebody else's could have the name of one of ours. */
bool file_is_mine(const char *path);

#endif
