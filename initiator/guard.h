#ifndef INITIATOR_GUARD_H
#define INITIATOR_GUARD_H

#include <stddef.h>

#include "base/err.h"
#include "initiator/transport.h"

/* Reads the first and last MiB of the LUN through its own transport (never a
 * write) and says what is there: see signature_find(). @all_zero: those
 * MiBs hold nothing but zeros. */
int guard_inspect(const struct url *url, const struct initiator_opts *opts,
		  const struct lun *lun, char *found, size_t found_size,
		  bool *all_zero, struct err *e);

#endif
