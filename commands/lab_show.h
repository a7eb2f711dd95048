#ifndef COMMANDS_LAB_SHOW_H
#define COMMANDS_LAB_SHOW_H

#include <jansson.h>

#include "target/tgt.h"
#include "vm/stay.h"

/* A lab that is up, and its target, as `lab up` and `lab status` show them. */
void lab_show_print(const struct stay_status *s, const struct tgt_status *t);

/* The caller owns it; NULL: no memory. @t may be NULL. */
json_t *lab_show_json(const struct stay_status *s, const struct tgt_status *t);

#endif
