#ifndef COMMANDS_TARGET_TEXT_H
#define COMMANDS_TARGET_TEXT_H

#include "target/tgt.h"

/* A target's status for people, on standard output: what `target up`, `target
 * status` and `lab status` say. */
void target_print(const struct tgt_status *t);

#endif
