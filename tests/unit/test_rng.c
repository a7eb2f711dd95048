#include "tests/unit/unit.h"

#include "base/rng.h"

/* xoshiro256** from state 1 2 3 4: the reference outputs of the algorithm's
 * authors. */
static void test_reference(void)
{
	static const uint64_t want[] = {11520ULL, 0ULL, 1509978240ULL,
					1215971899390074240ULL};
	struct rng r = {{1, 2, 3, 4}};
	size_t i;

	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(rng_next(&r), want[i]);
}

/* splitmix64 from seed 0 starts with this well-known number. */
static void test_seeding(void)
{
	struct rng r;

	rng_init(&r, 0);
	CU_ASSERT_EQUAL(r.s[0], 0xe220a8397b1dcdafULL);
	CU_ASSERT_EQUAL(r.s[1], 0x6e789e6aa1b965f4ULL);
}

static void test_same_seed_same_stream(void)
{
	struct rng a, b, c;
	int i, equal = 0;

	rng_init(&a, 7);
	rng_init(&b, 7);
	rng_init(&c, 8);
	for (i = 0; i < 1000; i++) {
		uint64_t x = rng_next(&a);

		CU_ASSERT_EQUAL(x, rng_next(&b));
		equal += x == rng_next(&c);
	}
	CU_ASSERT_EQUAL(equal, 0);
}

/* Small, alike pairs, also nested, give distinct seeds. */
static void test_derive_distinct(void)
{
	enum { SIDE = 40, ALL = 2 * SIDE * SIDE };
	static uint64_t seen[ALL];
	size_t n = 0, i, j;
	uint64_t s, t;

	for (s = 0; s < SIDE; s++)
		for (t = 0; t < SIDE; t++) {
			seen[n++] = rng_derive(s, t);
			seen[n++] = rng_derive(rng_derive(1000, s), t);
		}
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			if (seen[i] == seen[j])
				CU_FAIL("two streams have one seed");
	CU_ASSERT_EQUAL(rng_derive(3, 4), rng_derive(3, 4));
}

/* Chi-square over @bound cells; mean of the statistic is bound - 1. */
static double chi_square(uint64_t bound, unsigned int draws)
{
	unsigned int count[1000] = {0}, i;
	double expected = (double)draws / bound, sum = 0;
	struct rng r;

	rng_init(&r, 42);
	for (i = 0; i < draws; i++) {
		uint64_t x = rng_below(&r, bound);

		CU_ASSERT_FATAL(x < bound);
		count[x]++;
	}
	for (i = 0; i < bound; i++)
		sum += (count[i] - expected) * (count[i] - expected) / expected;
	return sum;
}

static void test_below_is_uniform(void)
{
	/* 6 deviations of the statistic (sqrt(2 * (bound - 1))) are allowed. */
	CU_ASSERT(chi_square(2, 100000) < 1 + 6 * 1.42);
	CU_ASSERT(chi_square(10, 100000) < 9 + 6 * 4.25);
	CU_ASSERT(chi_square(1000, 200000) < 999 + 6 * 44.7);
}

/* With bound 3 * 2^62 a plain high product would hit every third number twice
 * as often as the others, a plain remainder the lowest third. */
static void test_below_has_no_bias(void)
{
	const uint64_t third = 1ULL << 62;
	unsigned int low = 0, threes = 0, i;
	struct rng r;

	rng_init(&r, 1);
	for (i = 0; i < 30000; i++) {
		uint64_t x = rng_below(&r, 3 * third);

		low += x < third;
		threes += x % 3 == 0;
	}
	CU_ASSERT(low > 9500 && low < 10500);
	CU_ASSERT(threes > 9500 && threes < 10500);
	CU_ASSERT_EQUAL(rng_below(&r, 1), 0);
}

static void test_double(void)
{
	double sum = 0, least = 1, most = 0, x;
	struct rng r;
	int i;

	rng_init(&r, 5);
	for (i = 0; i < 100000; i++) {
		x = rng_double(&r);
		sum += x;
		least = x < least ? x : least;
		most = x > most ? x : most;
	}
	CU_ASSERT(least >= 0 && least < 0.001);
	CU_ASSERT(most < 1 && most > 0.999);
	CU_ASSERT_DOUBLE_EQUAL(sum / 100000, 0.5, 0.005);
}

UNIT_TESTS("rng", {"reference outputs", test_reference},
	   {"seeding", test_seeding},
	   {"same seed, same stream", test_same_seed_same_stream},
	   {"derived seeds are distinct", test_derive_distinct},
	   {"below is uniform", test_below_is_uniform},
	   {"below has no bias", test_below_has_no_bias},
	   {"double in [0, 1)", test_double})
