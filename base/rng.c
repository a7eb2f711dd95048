#include "base/rng.h"

/* splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that leaves no
 * trace of its input's structure. Seeds and stream numbers are small and
 * alike, so they pass through it before they become a state. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static const uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;

void rng_init(struct rng *r, uint64_t seed)
{
	int i;

	/* Four outputs of one splitmix64 sequence are never all zero, the one
	 * state that xoshiro cannot leave. */
	for (i = 0; i < 4; i++) {
		seed += golden_gamma;
		r->s[i] = mix(seed);
	}
}

uint64_t rng_derive(uint64_t seed, uint64_t stream)
{
	/* The inner mix keeps (seed, stream) and (seed + 1, stream - 1), and
	 * nested derivations, from meeting. */
	return mix(mix(seed + golden_gamma) + (stream + 1) * golden_gamma);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2018). */
uint64_t rng_next(struct rng *r)
{
	uint64_t result = rotate_left(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotate_left(r->s[3], 45);
	return result;
}

/* Lemire, "Fast random integer generation in an interval", 2019: the high half
 * of a 128-bit product, with the few low halves that would be over-represented
 * drawn again; almost never a division. */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
	unsigned __int128 product = (unsigned __int128)rng_next(r) * bound;

	if ((uint64_t)product < bound) {
		uint64_t surplus = -bound % bound; /* 2^64 mod bound */

		while ((uint64_t)product < surplus)
			product = (unsigned __int128)rng_next(r) * bound;
	}
	return (uint64_t)(product >> 64);
}

double rng_double(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}
