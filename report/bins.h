#ifndef REPORT_BINS_H
#define REPORT_BINS_H

#include <stdint.h>

#include "report/set.h"

/* The histogram of a point, as its file holds it (json+): every counted I/O by
 * the middle of its bucket, smallest first. */
struct bin {
	uint64_t ns, count;
};

struct bins {
	struct bin *bin; /* owned */
	size_t nr;
	uint64_t total;
};

/* No bins is 0 of them. */
int bins_read(struct bins *b, const struct point *p, struct err *e);
/* Adds those of @p to @b, which bins_read() or zeroes began. */
int bins_add(struct bins *b, const struct point *p, struct err *e);
void bins_release(struct bins *b);

/* Nearest rank, 0 when empty (docs/METHOD.md, "Histograms and percentiles").
 */
uint64_t bins_percentile_ns(const struct bins *b, double percent);

#endif
