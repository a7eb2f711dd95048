#ifndef REPORT_SAMPLES_H
#define REPORT_SAMPLES_H

#include "report/set.h"
#include "report/stats.h"

/* The figures of a point that are compared, each with what is known of its
 * error. Rules: docs/METHOD.md, "Repeats and intervals". */

enum metric { METRIC_MB_S, METRIC_IOPS, METRIC_MEAN, METRIC_P99, METRICS };

struct metric_desc {
	const char *name; /* as on the command line */
	const char *title;
	bool more_is_better;
};
extern const struct metric_desc metrics[METRICS];

/* MB/s, I/Os a second, ns. False where nothing was measured, and for the rate
 * in MB/s of a flush, which moves nothing. */
bool metric_value(const struct point *p, enum metric m, double *value);

/* Where an error was taken from. */
enum basis {
	BASIS_NONE,   /* one run, and nothing in it tells */
	BASIS_RUNS,   /* repeats */
	BASIS_SERIES, /* the intervals of one run */
	BASIS_EXACT,  /* a published figure; virtual time, same seed */
};

struct sample_of {
	struct estimate estimate;
	enum basis basis;
	size_t n; /* runs, or intervals */
};

/* Of @nr repeats. False where none of them has the figure. */
bool sample_take(struct sample_of *s, const struct point *const points[],
		 size_t nr, enum metric m);

/* There is no chance in it. */
void sample_make_exact(struct sample_of *s);

/* "12.3", "1.05 ms". */
char *metric_text(enum metric m, double value, char *buf, size_t size);

#endif
