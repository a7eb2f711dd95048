#ifndef REPORT_PAGE_DATA_H
#define REPORT_PAGE_DATA_H

#include "report/set.h"

/*
 * What the charts of a page draw, as JSON; report/page.js and the picture read
 * it:
 *
 *	points: label, row, op, mb_s, iops, mean_ns, p99_ns, curve: [[1/(1-p),
 *ns]...] series: label, start_s, interval_s, mb_s: [...]     (a row each)
 *	events: at_s, text
 *	sweeps: label, steps: [{clients, mb_s, iops, mean_ns, n}]
 *
 * A sweep is one job on one array with at least three numbers of clients; a
 * step is the mean of its @n rows, over all ops. NULL on no memory.
 */
json_t *page_data(const struct set *s, struct err *e);

#endif
