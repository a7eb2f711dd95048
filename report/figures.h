#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "report/put.h"
#include "report/samples.h"

/*
 * The points of a set with their repeats pooled, whether these are in one file
 * or in several: each is a figure, with what CrystalDiskMark shows of the
 * repeats (the best), what KDiskMark does (the mean), and what statistics do.
 * Rules: docs/METHOD.md, "Repeats and intervals".
 */

struct spread {
	size_t n;    /* 0: not measured, the rest is 0 */
	double best; /* the highest rate, the lowest latency */
	double mean, median;
	double sd;
	double half; /* mean +- half at 95 %; 0 under two values */
};

struct figure {
	const struct point *point; /* the first; borrowed from the set */
	size_t nr_points;
	struct spread spread[METRICS];
};

struct figures {
	struct figure *list; /* owned; in the set's order */
	size_t nr;
};

/* Pure, but that it sorts @x: the order of the repeats must not show. */
void spread_of(struct spread *s, double x[], size_t n, bool more_is_better);

int figures_of(struct figures *f, const struct set *s, struct err *e);
void figures_release(struct figures *f);

bool figures_have_repeats(const struct figures *f);

/* lunbench.summary[]: those that have repeats. */
void figures_put(struct put *p, json_t *summary, const struct figures *f);

#endif
