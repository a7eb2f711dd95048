#ifndef WORKLOADS_PLAN_CHECK_H
#define WORKLOADS_PLAN_CHECK_H

#include "workloads/lun.h"
#include "workloads/options.h"

/* Whether one job fits a LUN; for plan.c and plan_print.c. */

/* 0, or -EINVAL, -EROFS, -EOPNOTSUPP with key, value and limit. */
int plan_check_job(const struct job_opts *o, const struct lun *lun,
		   struct err *e);

/* What one command can carry: MAXIMUM TRANSFER LENGTH and MAXIMUM UNMAP LBA
 * COUNT of the Block Limits VPD page (SBC-3 6.5.3); 0 without a limit. */
uint64_t plan_command_limit(const struct lun *lun, int op);

/* Block sizes of one op, and the largest of all ops of the job. */
uint32_t plan_smallest_bs(const struct job_opts *o, enum io_op op);
uint32_t plan_largest_bs(const struct job_opts *o);

#endif
