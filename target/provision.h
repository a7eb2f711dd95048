#ifndef TARGET_PROVISION_H
#define TARGET_PROVISION_H

#include <stdint.h>

#include "base/err.h"
#include "target/store.h"
#include "target/tgt.h"
#include "target/tgtadm.h"

/* Gives a tgtd that has just started its one target (tid 1) and LUN (1): the
 * negotiated values, the account, the LUN and its identity, made unique by
 * @serial; checks what tgtd made of it; and only then lets initiators in. */
int provision(const struct tgtadm *t, const struct tgt_opts *o,
	      const struct store *st, const char *iqn, uint64_t serial,
	      struct err *e);

#endif
