#ifndef REPORT_STEADY_H
#define REPORT_STEADY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Steady state as SNIA's Solid State Storage Performance Test Specification has
 * it ("Steady State"), over the last five rounds: their range is at
 * most 20 % of their mean, and the line fitted to them rises or falls by at
 * most 10 % of the mean from the first to the last. Pure.
 */

enum { STEADY_ROUNDS = 5, STEADY_ROUNDS_MOST = 25 };

#define STEADY_RANGE 0.20
#define STEADY_EXCURSION 0.10

struct steady {
	bool is_steady;
	bool is_over;	  /* not steady, and no round is left */
	double mean;	  /* of the rounds looked at: five, or all of fewer */
	double range;	  /* max - min, share of the mean; 0 without one */
	double excursion; /* |rise of the fitted line|, share of the mean */
};

/* Of the rounds x[0] ... x[n - 1], in the order of time. Fewer than five are
 * not steady, nor are those with a mean of 0 or a value that is not finite. */
void steady_check(struct steady *s, const double x[], size_t n);

/* The number of rounds after which the last five were steady for the first
 * time; 0 where they never were. */
size_t steady_after(const double x[], size_t n);

#endif
