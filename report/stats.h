#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The statistics of repeated measurements. All intervals are at 95 %, with
 * Student's t. Rules and reasons: docs/METHOD.md, "Repeats and intervals".
 */

struct summary {
	size_t n;
	double mean;
	double sd;   /* sample deviation (n - 1); 0 under two values */
	double half; /* mean +- half; NaN under two values */
};

void stats_summarize(const double *x, size_t n, struct summary *s);

/* As many independent values as tell no more of the mean than these @n do,
 * which follow each other in time: n (1 - r) / (1 + r), r the correlation of
 * neighbours where it is positive. From 2 to n. */
double stats_effective_n(const double *x, size_t n);

/* The t that 2.5 % of the distribution lie above; infinity for df <= 0, the
 * normal distribution's 1.96 for df = infinity. */
double stats_t(double df);

/* A mean with what is known of its error. */
struct estimate {
	double mean;
	double se; /* standard error of the mean; NaN: not known */
	double df; /* degrees of freedom of @se; infinity: exact */
};

struct interval {
	double low, high;
};

/* The mean of @s; its error is not known under two values. */
struct estimate stats_estimate(const struct summary *s);

/* The interval of a.mean - b.mean by Welch, without assuming that both vary
 * alike. False where an error is not known. */
bool stats_difference(const struct estimate *a, const struct estimate *b,
		      struct interval *i);

/* The interval of a.mean / b.mean: the delta method on the logarithm,
 * ln(a/b) +- t sqrt(va + vb) with v = (se / mean)^2 and Welch's degrees of
 * freedom. False where an error is not known or a mean is not positive. */
bool stats_ratio(const struct estimate *a, const struct estimate *b,
		 struct interval *i);

#endif
