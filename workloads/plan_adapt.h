#ifndef WORKLOADS_PLAN_ADAPT_H
#define WORKLOADS_PLAN_ADAPT_H

#include "workloads/plan_region.h"

/*
 * misfit=adapt, for plan_fit.c: block sizes up to a multiple of the LUN's
 * block, down to what one command takes; size and io_size down to what the LUN
 * has; the other amounts down to whole blocks. Each change is a note of @j.
 * What does not fit then is still an error. 0 or -ENOMEM.
 */
int plan_adapt(const struct job_plan *j, struct job_opts *o);

#endif
