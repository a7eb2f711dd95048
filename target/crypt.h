#ifndef TARGET_CRYPT_H
#define TARGET_CRYPT_H

#include <stddef.h>

#include "base/err.h"
#include "target/disk.h"
#include "base/journal.h"
#include "target/state.h"

/* LUKS2 over a device, with a key that is made and forgotten. Journal: "wipe
 * PATH" where the device is the user's, "crypt NAME". */

/* -ENOENT where cryptsetup is not installed. */
int crypt_check(struct err *e);

/* @d becomes what lies on it, the @number-th of this target. */
int crypt_make(struct disk *d, size_t number, const struct state *s,
	       struct journal *j, struct err *e);

/* @name: of the journal. 0 if it is gone already. */
int crypt_close(const char *name, struct err *e);

#endif
