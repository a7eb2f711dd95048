#include "workloads/sampler.h"

#include <math.h>
#include <string.h>

/* Streams of the sampler's seed. */
enum { SEED_DRAWS, SEED_SCATTER, SEED_FIRST_PASS };

/*
 * Zipf by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", 1996): exact for
 * every n without summing n terms. H is a primitive of x^-theta; rank k stands
 * for the area H(k - 1/2) .. H(k + 1/2), of which k^-theta is accepted.
 */
static double zipf_primitive(double theta, double x)
{
	return expm1((1 - theta) * log(x)) / (1 - theta);
}

static double zipf_inverse(double theta, double area)
{
	double t = (1 - theta) * area;

	/* Rounding may put it just past the pole at -1. */
	return t > -1 ? exp(log1p(t) / (1 - theta)) : INFINITY;
}

static void zipf_init(struct sampler *s)
{
	double theta = s->dist->param;

	s->h_first = zipf_primitive(theta, 1.5) - 1;
	s->h_last = zipf_primitive(theta, (double)s->n + 0.5);
	/* Within this distance below its rank every x is accepted. */
	s->accept = 2 - zipf_inverse(theta, zipf_primitive(theta, 2.5) -
						    pow(2, -theta));
}

static uint64_t zipf_next(struct sampler *s)
{
	double theta = s->dist->param, n = (double)s->n;
	double area, x, k;

	do {
		area = s->h_last +
		       rng_double(&s->rng) * (s->h_first - s->h_last);
		x = zipf_inverse(theta, area);
		k = floor(x + 0.5);
		k = k < 1 ? 1 : k > n ? n : k;
	} while (k - x > s->accept &&
		 area < zipf_primitive(theta, k + 0.5) - pow(k, -theta));
	return (uint64_t)k - 1;
}

static uint64_t pareto_next(struct sampler *s)
{
	return (uint64_t)(s->n * pow(rng_double(&s->rng), s->power));
}

/* Box and Muller, one of the pair: no state between draws. */
static double standard_normal(struct rng *rng)
{
	double radius = sqrt(-2 * log(1 - rng_double(rng)));

	return radius * cos(2 * M_PI * rng_double(rng));
}

static uint64_t normal_next(struct sampler *s)
{
	double center = s->dist->center < 0 ? 0.5 : s->dist->center;
	double x;

	do
		x = center + s->dist->param / 100 * standard_normal(&s->rng);
	while (x < 0 || x > 1);
	return (uint64_t)(x * s->n);
}

static uint64_t percent_of(uint64_t n, double percent)
{
	return (uint64_t)(n * (percent / 100) + 0.5);
}

static uint64_t zoned_next(struct sampler *s)
{
	double left = rng_double(&s->rng) * s->access_total, before = 0;
	const struct zone *z = s->dist->zones;
	const struct zone *last = z + s->dist->nr_zones - 1;
	uint64_t low, high;

	while (z < last && left >= z->access) {
		left -= z->access;
		before += z->size;
		z++;
	}
	low = percent_of(s->n, before);
	high = percent_of(s->n, before + z->size);
	/* A zone of less than one block still has one. */
	return low + rng_below(&s->rng, high > low ? high - low : 1);
}

static uint64_t once_next(struct sampler *s)
{
	if (s->next == s->n) {
		s->next = 0;
		s->pass++;
		permutation_init(
			&s->order, s->n,
			rng_derive(s->seed, SEED_FIRST_PASS + s->pass));
	}
	return permutation_at(&s->order, s->next++);
}

static uint64_t at_most(uint64_t x, uint64_t most)
{
	return x < most ? x : most;
}

void sampler_init(struct sampler *s, const struct distribution *dist,
		  uint64_t n, bool once, uint64_t seed)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->dist = dist;
	s->n = n;
	s->once = once && dist->kind == DIST_RANDOM;
	s->seed = seed;
	rng_init(&s->rng, rng_derive(seed, SEED_DRAWS));
	permutation_init(
		&s->order, n,
		rng_derive(seed, s->once ? SEED_FIRST_PASS : SEED_SCATTER));
	if (dist->kind == DIST_ZIPF)
		zipf_init(s);
	if (dist->kind == DIST_PARETO)
		s->power = log(dist->param) / log1p(-dist->param);
	if (dist->center >= 0)
		s->shift = at_most(dist->center * n, n - 1) + n -
			   permutation_at(&s->order, 0);
	for (i = 0; i < dist->nr_zones; i++)
		s->access_total += dist->zones[i].access;
}

/* The block that is the @rank-th hottest; rank 0 is at the center. */
static uint64_t hot_block(const struct sampler *s, uint64_t rank)
{
	return (permutation_at(&s->order, rank) + s->shift) % s->n;
}

uint64_t sampler_next(struct sampler *s)
{
	uint64_t last = s->n - 1;

	switch (s->dist->kind) {
	case DIST_ZIPF:
		return hot_block(s, zipf_next(s));
	case DIST_PARETO:
		return hot_block(s, at_most(pareto_next(s), last));
	case DIST_NORMAL:
		return at_most(normal_next(s), last);
	case DIST_ZONED:
		return at_most(zoned_next(s), last);
	case DIST_RANDOM:
		break;
	}
	return s->once ? once_next(s) : rng_below(&s->rng, s->n);
}
