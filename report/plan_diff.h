#ifndef REPORT_PLAN_DIFF_H
#define REPORT_PLAN_DIFF_H

#include "report/set.h"

/* What two points were asked to do: the job's settings, the clients' regions
 * and amounts, the block size, and the rows that ran beside them. Seeds, names
 * of files and descriptions make no different plan. True, with the first
 * difference in @what ("bs is \"4k\" and \"8k\""), where they differ. */
bool plan_differs(const struct point *a, const struct point *b, char *what,
		  size_t size);

#endif
