#ifndef WORKLOADS_PLAN_H
#define WORKLOADS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "workloads/jobfile.h"
#include "workloads/lun.h"

/*
 * What will run, decided before anything runs: job set + LUN + seed. Const
 * once built; printing it is golden-tested. Nothing below it looks at percent
 * sizes, clones or stonewalls again.
 *
 *   group   jobs that run at the same time; groups run one after another
 *           (a stonewall starts a new one); each step of a sweep and each
 *           repeat is a group of its own
 *   pass    all groups in turn, each once; with repeats there are several
 *   row     one entry of the result's jobs[]: a clone, or, under
 *           group_reporting, all clones of the reporting group
 *   client  one session: a region, an amount, a seed
 *
 * A sweep (clients=LIST) becomes one group for each number. Interleaved repeats
 * of a job are in the passes 1, 2, ...; together, they follow each other in the
 * first, and only the first of them has startdelay and ramp_time.
 */

struct plan_client {
	const struct job_opts *opts; /* the job's, as they fit the LUN, the
					step and the repeat; in plan->opts */
	size_t job;		     /* index into jobset->jobs */
	size_t row, group;
	unsigned int clone;    /* 0..numjobs-1 */
	unsigned int number;   /* 0..clients-1 within the clone */
	uint64_t offset_bytes; /* region: a multiple of the LUN's block */
	uint64_t length_bytes; /* a multiple of the job's largest bs, > 0 */
	uint64_t io_bytes;     /* to transfer in all, loops included, > 0;
				  UINT64_MAX: until the time is over */
	uint64_t number_ios;   /* loops included; UINT64_MAX: no limit */
	uint64_t seed;	       /* streams: rng_derive(seed, 0..) */
};

struct plan_row {
	char *name;	      /* owned; fio's jobname */
	unsigned int groupid; /* fio's groupid */
	size_t group;
	size_t job; /* the first job in it (for options) */
	size_t first_client, nr_clients;
	unsigned int ops; /* OP_BIT mask, flush included where one can come */
	unsigned int clients; /* sessions of a step; 0: it is no step of a sweep
			       */
	unsigned int repeat;  /* from 1 */
	const char *view;     /* "bars", "cdm", "copy", or NULL */
};

struct plan_group {
	size_t first_client, nr_clients; /* clients are sorted by group */
	uint64_t expected_ns;  /* UINT64_MAX: no time limit, ends by amount */
	bool may_end_early;    /* expected_ns is a cap: an amount may be done
				  before */
	uint64_t amount_bytes; /* of all clients, about where number_ios ends
				  them; UINT64_MAX: until the time is over */
	size_t part;	   /* the same in all steps and repeats of a group of
			      the job file */
	unsigned int pass; /* from 1 */
};

struct plan {
	const struct jobset *set; /* borrowed */
	struct lun lun;
	uint64_t seed;
	struct job_opts *opts; /* owned */
	size_t nr_opts;
	struct plan_client *clients; /* owned */
	size_t nr_clients;
	struct plan_row *rows; /* owned */
	size_t nr_rows;
	struct plan_group *groups; /* owned */
	size_t nr_groups;
	size_t nr_parts;
	unsigned int nr_passes;
	struct until until;	 /* what ends the passes before the last */
	unsigned int min_passes; /* not before that many */
	bool until_reached;	 /* it did: see plan_end_early() */
	bool writes;  /* anything that changes the LUN: write or trim */
	char **notes; /* owned: what was scaled, rounded or ignored */
	size_t nr_notes;
};

/*
 * Checks every job against the LUN and resolves it. Errors (-EINVAL, -ENOSPC,
 * -EROFS, -EOPNOTSUPP) name job, key, value, limit: block size not a multiple
 * of the LUN's block, region past the end, empty region, depth 0, transfer over
 * the LUN's limit, write to a read-only LUN, trim on a LUN without UNMAP, zero
 * blocks. A job that sets neither size nor offset uses the whole LUN.
 *
 * As in fio: each clone has the full size, from offset + its number times
 * offset_increment; loops multiply the amount; with time_based neither amount
 * nor number_ios ends a job; a percentage of size is of the whole LUN and is
 * cut off at its end; with a filesize the region is that much of the LUN, and
 * size an amount in it; where rw=read:N leaves holes, a job ends when it is
 * through its region. Regions are rounded down to a multiple of the job's
 * largest block size, so that no I/O passes the end.
 *
 * What a job does that does not fit is up to its misfit. A prepare job without
 * size and offset covers what the other jobs use. A sweep is alone in its
 * group, and jobs that run at the same time have the same repeats.
 *
 * @seed: of the run; 0: the randseed that all jobs give, or else a fixed one. A
 * job with a randseed of its own uses that; two such jobs still differ.
 */
int plan_build(struct plan *p, const struct jobset *set, const struct lun *lun,
	       uint64_t seed, struct err *e);
void plan_release(struct plan *p);

/* How often a job is measured at most, whatever its LUN is. */
unsigned int plan_repeats(const struct job_opts *o);

/* Only @passes were needed, or came to be run: what is behind them is no longer
 * part of the plan. @reached: the rule of until is fulfilled. */
void plan_end_early(struct plan *p, unsigned int passes, bool reached);

/* What a plan takes: the time of the groups that have a limit, and what the
 * others transfer. */
struct plan_expected {
	uint64_t ns;
	bool may_end_early;
	size_t nr_amounts; /* groups without a time limit */
	uint64_t bytes;	   /* of all of them */
	bool are_alike;	   /* each bytes / nr_amounts */
};

void plan_expect(struct plan_expected *e, const struct plan_group *g);
/* "about 2 min", "at most 2 min, and 1 GiB without a time limit", "6 x 2 GiB
 * without a time limit". */
char *plan_format_expected(const struct plan_expected *e, char *text,
			   size_t size);

/* For a person (`lunbench plan`); stable text. @verbose: every client. */
void plan_print(const struct plan *p, bool verbose, FILE *out);

#endif
