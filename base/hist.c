#include "base/hist.h"

#include <math.h>
#include <string.h>

/*
 * Buckets: 0..255 hold one value each. From 2^8 on, values of 2^m .. 2^(m+1)-1
 * keep their top 8 bits (1xxxxxxx): 128 buckets of 2^(m-7) values, m = 8..39.
 */
enum { EXACT = 256, PER_POWER = 128, FIRST_POWER = 8, LIMIT_POWER = 40 };

static size_t bucket_of(uint64_t ns)
{
	unsigned int power, shift;

	if (ns < EXACT)
		return ns;
	if (ns >> LIMIT_POWER)
		return HIST_BUCKETS - 1;
	power = 63 - __builtin_clzll(ns);
	shift = power - (FIRST_POWER - 1);
	return EXACT + (power - FIRST_POWER) * PER_POWER +
	       ((ns >> shift) - PER_POWER);
}

static uint64_t bucket_width(size_t i)
{
	return i < EXACT ? 1 : 2ULL << ((i - EXACT) / PER_POWER);
}

uint64_t hist_bucket_low_ns(size_t i)
{
	if (i < EXACT)
		return i;
	return bucket_width(i) * (PER_POWER + (i - EXACT) % PER_POWER);
}

uint64_t hist_bucket_high_ns(size_t i)
{
	return hist_bucket_low_ns(i) + bucket_width(i);
}

uint64_t hist_bucket_ns(size_t i)
{
	return hist_bucket_low_ns(i) + bucket_width(i) / 2;
}

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

void hist_record(struct hist *h, uint64_t ns)
{
	h->count++;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->sum_ns += ns;
	h->sum_sq_ns2 += (double)ns * ns;
	h->bucket[bucket_of(ns)]++;
}

void hist_add(struct hist *to, const struct hist *from)
{
	size_t i;

	to->count += from->count;
	if (from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->sum_ns += from->sum_ns;
	to->sum_sq_ns2 += from->sum_sq_ns2;
	for (i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

double hist_mean_ns(const struct hist *h)
{
	return h->count ? h->sum_ns / h->count : 0;
}

double hist_stddev_ns(const struct hist *h)
{
	double n = h->count, variance;

	if (h->count < 2)
		return 0;
	variance = (h->sum_sq_ns2 - h->sum_ns * h->sum_ns / n) / (n - 1);
	/* Equal samples may round to just below zero. */
	return variance > 0 ? sqrt(variance) : 0;
}

/* The rank of the nearest-rank percentile, 1..count. */
static uint64_t percentile_rank(uint64_t count, double percent)
{
	/* 0.07 as a double is a little over 0.07, and so is 0.07 % of 10000
	 * over 7: without the allowance of a few ulp it would become rank 8. */
	double rank = ceil(percent * count / 100 * (1 - 1e-15));

	if (rank < 1)
		return 1;
	return rank < count ? (uint64_t)rank : count;
}

uint64_t hist_percentile_ns(const struct hist *h, double percent)
{
	uint64_t rank, seen = 0, ns;
	size_t i;

	if (!h->count)
		return 0;
	rank = percentile_rank(h->count, percent);
	if (rank == h->count)
		return h->max_ns;
	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	ns = hist_bucket_ns(i);
	if (ns < h->min_ns)
		return h->min_ns;
	return ns < h->max_ns ? ns : h->max_ns;
}

uint64_t hist_count_upto(const struct hist *h, uint64_t ns)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < HIST_BUCKETS && hist_bucket_ns(i) <= ns; i++)
		n += h->bucket[i];
	return n;
}
