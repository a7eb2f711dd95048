#ifndef TARGET_ROOM_H
#define TARGET_ROOM_H

#include <stdint.h>

#include "base/err.h"

/* Is there room for what is to be made? Looked at before anything is. */

/* What may be allocated before the out-of-memory killer comes; UINT64_MAX if
 * the kernel does not say. */
uint64_t room_memory(void);

/* Bytes that a new file in @folder can have: a tmpfs promises more than the
 * machine has, half of its memory, whatever is used. */
int room_folder(const char *folder, uint64_t *bytes, struct err *e);

#endif
