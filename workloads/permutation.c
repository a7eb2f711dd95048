#include "workloads/permutation.h"

#include <math.h>

#include "base/rng.h"

void permutation_init(struct permutation *p, uint64_t n, uint64_t seed)
{
	int i;

	p->n = n;
	/* sqrt() rounds; a * a must hold n. */
	p->a = (uint64_t)sqrt((double)n);
	while (p->a * p->a < n)
		p->a++;
	p->b = (n + p->a - 1) / p->a;
	for (i = 0; i < PERMUTATION_ROUNDS; i++)
		p->key[i] = rng_derive(seed, i);
}

static uint64_t high_product(uint64_t x, uint64_t y)
{
	return (uint64_t)(((unsigned __int128)x * y) >> 64);
}

/* The round function: any function of @x will do for a bijection, a well mixed
 * one for the looks. Below @bound. */
static uint64_t scramble(uint64_t x, uint64_t key, uint64_t bound)
{
	x = (x ^ key) * 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
	return high_product(x, bound);
}

static uint64_t add_modulo(uint64_t x, uint64_t y, uint64_t modulus)
{
	x += y;
	return x < modulus ? x : x - modulus;
}

uint64_t permutation_at(const struct permutation *p, uint64_t i)
{
	uint64_t left = i / p->b, right = i % p->b;
	int r;

	do {
		for (r = 0; r < PERMUTATION_ROUNDS; r += 2) {
			left = add_modulo(
				left, scramble(right, p->key[r], p->a), p->a);
			right = add_modulo(right,
					   scramble(left, p->key[r + 1], p->b),
					   p->b);
		}
	} while (left * p->b + right >= p->n);
	return left * p->b + right;
}
