#ifndef WORKLOADS_PLAN_FIT_H
#define WORKLOADS_PLAN_FIT_H

#include "workloads/plan.h"

/* Jobs as they fit a LUN, and which of them can run side by side; for plan.c.
 */
struct plan_fit {
	size_t first;	  /* in plan->opts: each step, then (repeats together)
			     each step of the repeats after the first */
	size_t nr_steps;  /* 1: no sweep */
	bool is_left_out; /* misfit=skip */
};

/* Fills p->opts and @fits, one a job. Errors name the job. */
int plan_fit_all(struct plan *p, struct plan_fit *fits, struct err *e);

/* @is_later: a repeat that follows the first at once. */
const struct job_opts *plan_fit_opts(const struct plan_fit *f,
				     const struct plan *p, size_t step,
				     bool is_later);

/* Whether @o can run at the same time as @first. */
int plan_fit_side_by_side(const struct job_opts *first,
			  const struct job_opts *o, struct err *e);

/* Sets p->until and p->min_passes. -EINVAL where the jobs' rules contradict
 * each other. */
int plan_fit_until(struct plan *p, struct err *e);

#endif
