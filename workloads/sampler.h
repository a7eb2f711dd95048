#ifndef WORKLOADS_SAMPLER_H
#define WORKLOADS_SAMPLER_H

#include <stdbool.h>

#include "base/rng.h"
#include "workloads/options.h"
#include "workloads/permutation.h"

/*
 * Which of n blocks is next: fio's random_distribution (HOWTO) and its random
 * map. Allocates nothing; one thread.
 *
 *   random   uniform; with @once each block once, then again with a new key
 *   zipf     the k-th hottest block with probability ~ 1 / k^theta (exact)
 *   pareto   the hottest h of the blocks get 1-h of the accesses, and so on
 *            inside them
 *   normal   around the center (0.5) with a deviation of that percent of n;
 *            what falls outside is drawn again
 *   zoned    access/size pairs in percent, uniform in each
 *
 * Hot blocks of zipf and pareto are scattered over the range, as fio's are by
 * its hash; a center says where the hottest one is.
 */
struct sampler {
	const struct distribution *dist; /* borrowed */
	uint64_t n;
	bool once;
	uint64_t seed;
	struct rng rng;
	uint64_t pass, next; /* once: pass and index in it */
	struct permutation order;
	double access_total;		/* zoned */
	double h_first, h_last, accept; /* zipf: see sampler.c */
	double power;			/* pareto */
	uint64_t shift;			/* of hot blocks, to the center */
};

/* @n > 0. @dist is kept; @once counts for DIST_RANDOM only. */
void sampler_init(struct sampler *s, const struct distribution *dist,
		  uint64_t n, bool once, uint64_t seed);

/* A block, 0 .. n-1. */
uint64_t sampler_next(struct sampler *s);

#endif
