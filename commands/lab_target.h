#ifndef COMMANDS_LAB_TARGET_H
#define COMMANDS_LAB_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "target/tgt.h"
#include "vm/stay.h"

/* The target in the guest of a lab that stays, as the host sees it. In the
 * guest it is the target "default". */

/* How the host names its LUN: iscsi://ADDRESS:PORT/IQN/1 */
void lab_target_url(const struct net *n, const char *iqn, char url[512]);

/* Asks the guest how its target is. The URL is the host's. */
int lab_target_ask(const struct stay_status *s, struct tgt_status *t,
		   struct err *e);

/* From what `target up` or `target status` said in JSON; the URL is the
 * host's. */
int lab_target_parse(struct tgt_status *t, const struct net *n,
		     const char *said, struct err *e);

/* True if that is the LUN of a lab of ours that is up: it may be written to,
 * as to that of a bundled target (tgt_owns()). @where (128 bytes) says in what
 * it runs. */
bool lab_target_owns(const char *host, uint16_t port, const char *iqn,
		     struct tgt_status *t, char *where);

#endif
