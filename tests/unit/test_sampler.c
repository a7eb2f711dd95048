#include "tests/unit/unit.h"

#include <math.h>

#include "workloads/sampler.h"

enum { DRAWS = 200000 };

static unsigned int count[100000];

static void draw(const struct distribution *d, uint64_t n, bool once,
		 unsigned int draws)
{
	struct sampler s;
	unsigned int i;

	memset(count, 0, sizeof(count));
	sampler_init(&s, d, n, once, 11);
	for (i = 0; i < draws; i++) {
		uint64_t block = sampler_next(&s);

		CU_ASSERT_FATAL(block < n);
		count[block]++;
	}
}

static int descending(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x < y) - (x > y);
}

static double share_of(uint64_t first, uint64_t end)
{
	double sum = 0;

	for (; first < end; first++)
		sum += count[first];
	return sum / DRAWS;
}

static void test_uniform(void)
{
	struct distribution d = {.kind = DIST_RANDOM, .center = -1};
	int i;

	draw(&d, 100, false, DRAWS);
	for (i = 0; i < 100; i++)
		CU_ASSERT(count[i] > 1700 && count[i] < 2300);
}

static void test_once(void)
{
	struct distribution d = {.kind = DIST_RANDOM, .center = -1};
	struct sampler s;
	uint64_t first[50], changed = 0;
	unsigned int i;

	draw(&d, 1000, true, 3000);
	for (i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(count[i], 3);
	/* Another pass, another order. */
	sampler_init(&s, &d, 50, true, 4);
	for (i = 0; i < 50; i++)
		first[i] = sampler_next(&s);
	for (i = 0; i < 50; i++)
		changed += sampler_next(&s) != first[i];
	CU_ASSERT(changed > 40);
	draw(&d, 1, true, 10);
	CU_ASSERT_EQUAL(count[0], 10);
}

/* From the counts of blocks to those of ranks. */
static void sort_by_rank(const struct distribution *d, uint64_t n)
{
	static unsigned int sorted[100000];
	struct sampler s;
	uint64_t rank;

	sampler_init(&s, d, n, false, 11);
	for (rank = 0; rank < n; rank++)
		sorted[rank] =
			count[(permutation_at(&s.order, rank) + s.shift) % n];
	memcpy(count, sorted, n * sizeof(count[0]));
}

/* Sorted by heat, the shares are those of 1 / k^theta. */
static void check_zipf(double theta, uint64_t n)
{
	struct distribution d = {
		.kind = DIST_ZIPF, .param = theta, .center = -1};
	double zeta = 0, share, sigma;
	uint64_t k;

	for (k = 1; k <= n; k++)
		zeta += pow(k, -theta);
	draw(&d, n, false, DRAWS);
	sort_by_rank(&d, n);
	for (k = 1; k <= 20 && k <= n; k++) {
		share = pow(k, -theta) / zeta;
		sigma = sqrt(share * (1 - share) / DRAWS);
		CU_ASSERT_DOUBLE_EQUAL(share_of(k - 1, k), share, 5 * sigma);
	}
	/* and of the tail */
	for (share = 0, k = n / 2 + 1; k <= n; k++)
		share += pow(k, -theta) / zeta;
	CU_ASSERT_DOUBLE_EQUAL(share_of(n / 2, n), share,
			       5 * sqrt(share / DRAWS));
}

static void test_zipf(void)
{
	check_zipf(0.5, 1000);
	check_zipf(0.99, 100000);
	check_zipf(1.2, 100000);
	check_zipf(3, 1000);
	check_zipf(1.2, 1);
	check_zipf(1.2, 2);
}

/* The shares lie scattered; a center says where the hottest is. */
static void check_scattered(double center)
{
	struct distribution d = {
		.kind = DIST_ZIPF, .param = 1.2, .center = center};
	unsigned int hottest[3] = {0}, i, j;

	draw(&d, 100000, false, DRAWS);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 100000; j++)
			if (count[j] > count[hottest[i]])
				hottest[i] = j;
		count[hottest[i]] = 0;
	}
	for (i = 0; i < 3; i++)
		for (j = 0; j < i; j++)
			CU_ASSERT(abs((int)hottest[i] - (int)hottest[j]) > 100);
	if (center >= 0)
		CU_ASSERT_EQUAL(hottest[0],
				center < 1 ? center * 100000 : 99999);
}

static void test_scattered(void)
{
	check_scattered(-1);
	check_scattered(0);
	check_scattered(0.25);
	check_scattered(1);
}

/* h = 0.2: the hottest 20 % of the blocks get 80 %, and the hottest 20 % of
 * these get 80 % of that. */
static void test_pareto(void)
{
	struct distribution d = {
		.kind = DIST_PARETO, .param = 0.2, .center = -1};

	draw(&d, 10000, false, DRAWS);
	qsort(count, 10000, sizeof(count[0]), descending);
	CU_ASSERT_DOUBLE_EQUAL(share_of(0, 2000), 0.8, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(share_of(0, 400), 0.64, 0.01);
	d.center = 0.25;
	draw(&d, 10000, false, DRAWS);
	sort_by_rank(&d, 10000);
	CU_ASSERT_DOUBLE_EQUAL(share_of(0, 2000), 0.8, 0.005);
}

static void check_normal(double deviation, double center, double want_center)
{
	struct distribution d = {
		.kind = DIST_NORMAL, .param = deviation, .center = center};
	double mean = 0, variance = 0, within = 0;
	int i;

	draw(&d, 10000, false, DRAWS);
	for (i = 0; i < 10000; i++)
		mean += (double)count[i] * i / DRAWS;
	for (i = 0; i < 10000; i++)
		variance += (double)count[i] * (i - mean) * (i - mean) / DRAWS;
	CU_ASSERT_DOUBLE_EQUAL(mean, want_center * 10000, 10);
	CU_ASSERT_DOUBLE_EQUAL(sqrt(variance), deviation * 100, deviation);
	for (i = mean - deviation * 100; i < mean + deviation * 100; i++)
		within += (double)count[i] / DRAWS;
	CU_ASSERT_DOUBLE_EQUAL(within, 0.6827, 0.01);
}

static void test_normal(void)
{
	struct distribution edge = {
		.kind = DIST_NORMAL, .param = 100, .center = 1};

	check_normal(5, -1, 0.5);
	check_normal(10, 0.5, 0.5);
	check_normal(2, 0.25, 0.25);
	draw(&edge, 100, false, 1000); /* only that it ends, within range */
	edge.param = 0;
	draw(&edge, 100, false, 10);
	CU_ASSERT_EQUAL(count[99], 10);
}

static void test_zoned(void)
{
	struct zone zones[] = {{60, 10}, {30, 20}, {8, 30}, {2, 40}};
	struct distribution d = {.kind = DIST_ZONED,
				 .center = -1,
				 .zones = zones,
				 .nr_zones = 4};

	draw(&d, 1000, false, DRAWS);
	CU_ASSERT_DOUBLE_EQUAL(share_of(0, 100), 0.60, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(share_of(100, 300), 0.30, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(share_of(300, 600), 0.08, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(share_of(600, 1000), 0.02, 0.003);
	CU_ASSERT(count[999] > 0);
	CU_ASSERT_DOUBLE_EQUAL(share_of(0, 50), 0.30, 0.01); /* uniform in it */
	draw(&d, 1, false, 100);
	draw(&d, 3, false, 1000);
}

UNIT_TESTS("sampler", {"uniform", test_uniform},
	   {"each once in a pass", test_once}, {"zipf", test_zipf},
	   {"hot blocks are scattered", test_scattered},
	   {"pareto", test_pareto}, {"normal", test_normal},
	   {"zoned", test_zoned})
