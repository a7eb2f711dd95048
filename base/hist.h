#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Log-linear histogram of durations in ns.
 *
 * Range: 0 .. 2^40 ns (18 minutes); larger values count in the last bucket,
 * and max_ns still tells the largest exactly. Values under 256 have a bucket
 * each; above, every power of two is cut into 128 buckets, so a value reported
 * for a bucket (its middle) is off by at most 1/256. Count, sum, min and max
 * are exact. Adding two histograms is exact. Not thread-safe: one writer,
 * merge after join.
 */
enum { HIST_BUCKETS = 256 + 32 * 128 };

struct hist {
	uint64_t count;
	uint64_t min_ns; /* UINT64_MAX when empty */
	uint64_t max_ns;
	double sum_ns;
	double sum_sq_ns2; /* for the standard deviation */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);
void hist_record(struct hist *h, uint64_t ns);
void hist_add(struct hist *to, const struct hist *from);

double hist_mean_ns(const struct hist *h);   /* 0 when empty */
double hist_stddev_ns(const struct hist *h); /* 0 under two samples */

/* The smallest bucket value with at least @percent of the samples at or below
 * it (nearest rank), @percent in (0, 100]; clamped to [min, max], and max
 * itself where the rank is the last sample's; 0 when empty. */
uint64_t hist_percentile_ns(const struct hist *h, double percent);

/* What bucket @i stands for: its middle; and its bounds [low, high). */
uint64_t hist_bucket_ns(size_t i);
uint64_t hist_bucket_low_ns(size_t i);
uint64_t hist_bucket_high_ns(size_t i);

/* Samples in buckets whose middle is <= @ns. */
uint64_t hist_count_upto(const struct hist *h, uint64_t ns);

#endif
