#ifndef COMMANDS_TARGET_JSON_H
#define COMMANDS_TARGET_JSON_H

#include <jansson.h>

#include "base/err.h"
#include "target/tgt.h"

/* A bundled target's status as JSON: what `target status` prints, and how a
 * lab's target is known on the host. */

/* The caller owns it; NULL: no memory. */
json_t *target_to_json(const struct tgt_status *t);

/* What is missing or of another type stays empty. -EBADMSG: it is no target's
 * status, since it lacks an IQN or a size. A guest wrote it: trust nothing. */
int target_from_json(struct tgt_status *t, const json_t *j, struct err *e);

#endif
