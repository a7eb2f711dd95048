#ifndef WORKLOADS_PERMUTATION_H
#define WORKLOADS_PERMUTATION_H

#include <stdint.h>

/*
 * A keyed permutation of 0 .. n-1: every number once, in an order that looks
 * random, without a bitmap: 3 TiB of 4 KiB blocks cost as much as ten blocks.
 *
 * A Feistel network over pairs (left < a, right < b), a * b the least product
 * of near-square factors that holds n, with addition modulo a and b in place
 * of XOR (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
 * a * b exceeds n by less than sqrt(n) + 1, so walking on from a result beyond
 * n - 1 (cycle walking) is rare. Const after init.
 */
enum { PERMUTATION_ROUNDS = 6 };

struct permutation {
	uint64_t n, a, b;
	uint64_t key[PERMUTATION_ROUNDS];
};

/* 0 < @n <= 2^62. */
void permutation_init(struct permutation *p, uint64_t n, uint64_t seed);

/* Where @i, below n, goes. */
uint64_t permutation_at(const struct permutation *p, uint64_t i);

#endif
