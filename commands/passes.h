#ifndef COMMANDS_PASSES_H
#define COMMANDS_PASSES_H

#include <stdbool.h>

#include "initiator/run.h"

/*
 * Whether the passes of a run so far are enough: `until`, asked by run_plan()
 * after each. Every row of the repeated jobs must fulfil the rule with its
 * I/Os a second, all ops together: by report/steady.h over the last rounds, or
 * by the interval of their mean (report/stats.h).
 */

/* For run_opts.on_pass; @user is the struct plan. */
bool passes_are_enough(void *user, const struct run_result *r,
		       unsigned int pass);

/* The rule on the rows of the first @pass passes. */
bool passes_fulfil(const struct plan *p, const struct run_result *r,
		   unsigned int pass);

#endif
