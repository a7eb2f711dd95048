#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/*
 * Deterministic random numbers (xoshiro256**). Every stream of a run comes
 * from the run's one printed seed: rng_derive() gives independent streams by
 * number, so adding a client does not change what another client does.
 * A struct rng belongs to one thread.
 */
struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);

/* A seed for stream @stream of @seed (splitmix64 over both). */
uint64_t rng_derive(uint64_t seed, uint64_t stream);

uint64_t rng_next(struct rng *r);

/* Uniform in [0, bound), bound > 0, without modulo bias. */
uint64_t rng_below(struct rng *r, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double rng_double(struct rng *r);

#endif
