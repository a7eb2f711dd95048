#ifndef VM_SCRATCH_H
#define VM_SCRATCH_H

#include <limits.h>

#include "base/err.h"

/* A folder for the length of one run, in $TMPDIR or /tmp. Locked while its
 * owner lives; those that a killed one left are removed by the next, at once.
 */
struct scratch {
	char folder[PATH_MAX - 256];
	int lock_fd; /* owned; -1: none */
};

int scratch_make(struct scratch *s, struct err *e);

/* Removes those of ours whose owner is dead. */
void scratch_sweep(void);

void scratch_remove(struct scratch *s);
void scratch_path(const struct scratch *s, const char *file,
		  char path[PATH_MAX]);

#endif
