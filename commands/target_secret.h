#ifndef COMMANDS_TARGET_SECRET_H
#define COMMANDS_TARGET_SECRET_H

#include "target/tgt.h"

/* The account that initiators must know (CHAP): user and password into @o, from
 * @file (lines user=..., password=...), or, where @o has a user,
 * the password from LUNBENCH_TARGET_PASSWORD. Never from a command line. */
int target_secret_find(struct tgt_opts *o, const char *file, struct err *e);

#endif
