#ifndef WORKLOADS_PLAN_REGION_H
#define WORKLOADS_PLAN_REGION_H

#include "workloads/plan.h"

/* Where on the LUN the clones of a job work, and how much; for plan.c and
 * plan_fit.c. */

/* Everything that a job's clients need from the steps before. */
struct job_plan {
	struct plan *p;
	size_t job;
	const struct job_opts *o; /* as they fit the LUN */
	uint64_t unit; /* largest block size: regions are multiples of it */
	bool is_quiet; /* its notes were given before */
	struct err *e;
};

/* A note of the job, once each. 0 or -ENOMEM. */
int plan_add_note(const struct job_plan *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What misfit=adapt cuts the job to: the LUN, or fit where that is less; and
 * the reason that the note of a cut gives. */
uint64_t plan_room(const struct job_plan *j);
const char *plan_why_cut(const struct job_plan *j);

/* Region of all clients of a clone: a multiple of j->unit. -ENOSPC. */
int plan_clone_region(const struct job_plan *j, unsigned int clone,
		      uint64_t *offset, uint64_t *length);

/* Each client's equal part of a clone's region. -ENOSPC. */
int plan_slice(const struct job_plan *j, unsigned int clone, uint64_t length,
	       uint64_t *slice);

/* c->io_bytes and c->number_ios, of a client of a clone with @length. */
int plan_set_amounts(const struct job_plan *j, uint64_t length,
		     struct plan_client *c);

/* Whether all clones have a region and an amount. What they use of the LUN is
 * added to @from..@to. No notes. */
int plan_check_regions(const struct job_plan *j, uint64_t *from, uint64_t *to);

/* The mean of the job's I/Os, by its mix. */
double plan_mean_bytes(const struct job_opts *o);

/* a + b; UINT64_MAX is without end. */
static inline uint64_t plan_add(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* rw=read:4k. */
bool plan_has_holes(const struct job_opts *o);

#endif
