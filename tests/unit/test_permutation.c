#include "tests/unit/unit.h"

#include "workloads/permutation.h"

static void check_bijection(uint64_t n, uint64_t seed)
{
	unsigned char *seen = calloc(n, 1);
	struct permutation p;
	uint64_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
	permutation_init(&p, n, seed);
	for (i = 0; i < n; i++) {
		uint64_t to = permutation_at(&p, i);

		CU_ASSERT_FATAL(to < n);
		CU_ASSERT_FATAL(!seen[to]);
		seen[to] = 1;
	}
	free(seen);
}

static void test_bijection(void)
{
	static const uint64_t large[] = {4095,	4096,  4097,
					 65537, 99991, 1000000};
	uint64_t n;
	size_t i;

	for (n = 1; n <= 300; n++)
		check_bijection(n, n * 7);
	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		check_bijection(large[i], i);
}

static void test_keyed(void)
{
	unsigned int same = 0, fixed = 0;
	struct permutation a, b;
	uint64_t i;

	permutation_init(&a, 10000, 1);
	permutation_init(&b, 10000, 2);
	for (i = 0; i < 10000; i++) {
		same += permutation_at(&a, i) == permutation_at(&b, i);
		fixed += permutation_at(&a, i) == i;
	}
	/* One each is expected. */
	CU_ASSERT(same < 10);
	CU_ASSERT(fixed < 10);
}

/* Over many keys each number of a small range goes to each place about
 * equally often. */
static void test_no_favourites(void)
{
	enum { N = 7, KEYS = 7000 };
	unsigned int count[N][N] = {{0}};
	struct permutation p;
	uint64_t key, i;

	for (key = 0; key < KEYS; key++) {
		permutation_init(&p, N, key);
		for (i = 0; i < N; i++)
			count[i][permutation_at(&p, i)]++;
	}
	for (i = 0; i < N * N; i++)
		CU_ASSERT(count[i / N][i % N] > KEYS / N * 8 / 10 &&
			  count[i / N][i % N] < KEYS / N * 12 / 10);
}

/* 3 TiB of 4 KiB blocks: neighbours in time lie far apart, all of the range
 * is used evenly from the start, low bits too. */
static void test_spread(void)
{
	enum { DRAWS = 64000, CELLS = 64 };
	const uint64_t n = 3ULL << 28;
	unsigned int cell[CELLS] = {0}, low[CELLS] = {0}, near = 0, i;
	uint64_t before = n;
	struct permutation p;

	permutation_init(&p, n, 9);
	for (i = 0; i < DRAWS; i++) {
		uint64_t to = permutation_at(&p, i);

		CU_ASSERT_FATAL(to < n);
		cell[to / (n / CELLS)]++;
		low[to % CELLS]++;
		near += to - before + 1000 < 2000;
		before = to;
	}
	for (i = 0; i < CELLS; i++) {
		CU_ASSERT(cell[i] > 800 && cell[i] < 1200);
		CU_ASSERT(low[i] > 800 && low[i] < 1200);
	}
	CU_ASSERT(near < 5);
}

static void test_largest(void)
{
	struct permutation p;
	uint64_t i;

	permutation_init(&p, 1ULL << 62, 3);
	for (i = 0; i < 1000; i++)
		CU_ASSERT(permutation_at(&p, (1ULL << 62) - 1 - i) <
			  1ULL << 62);
}

UNIT_TESTS("permutation", {"bijection", test_bijection},
	   {"depends on the key", test_keyed},
	   {"no favourites", test_no_favourites},
	   {"spread over 3 TiB", test_spread}, {"largest range", test_largest})
