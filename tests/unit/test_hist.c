#include "tests/unit/unit.h"

#include <math.h>

#include "base/hist.h"
#include "base/rng.h"

static struct hist h;

/* The bucket that a sample of @ns went to. */
static size_t bucket_of(uint64_t ns)
{
	size_t i;

	hist_init(&h);
	hist_record(&h, ns);
	for (i = 0; i < HIST_BUCKETS; i++)
		if (h.bucket[i])
			return i;
	return HIST_BUCKETS;
}

static void test_boundaries(void)
{
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low_ns(i);
		uint64_t high = hist_bucket_high_ns(i);

		CU_ASSERT_EQUAL(bucket_of(low), i);
		CU_ASSERT_EQUAL(bucket_of(high - 1), i);
		CU_ASSERT_EQUAL(bucket_of(hist_bucket_ns(i)), i);
		if (i + 1 < HIST_BUCKETS) {
			CU_ASSERT_EQUAL(hist_bucket_low_ns(i + 1), high);
			CU_ASSERT_EQUAL(bucket_of(high), i + 1);
		}
	}
	CU_ASSERT_EQUAL(hist_bucket_low_ns(0), 0);
	CU_ASSERT_EQUAL(hist_bucket_high_ns(HIST_BUCKETS - 1), 1ULL << 40);
}

static void test_beyond_range(void)
{
	CU_ASSERT_EQUAL(bucket_of(1ULL << 40), HIST_BUCKETS - 1);
	CU_ASSERT_EQUAL(bucket_of(UINT64_MAX), HIST_BUCKETS - 1);
	CU_ASSERT_EQUAL(h.max_ns, UINT64_MAX);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 100), UINT64_MAX);
}

static uint64_t random_ns(struct rng *r)
{
	return rng_next(r) >> (24 + rng_below(r, 40));
}

static void test_relative_error(void)
{
	struct rng r;
	int i;

	rng_init(&r, 1);
	for (i = 0; i < 3000; i++) {
		uint64_t ns = random_ns(&r);
		double got = hist_bucket_ns(bucket_of(ns));

		CU_ASSERT(fabs(got - ns) <= ns / 256.0);
	}
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_percentiles(void)
{
	static const double percents[] = {0.001, 1,  5,	 10,   25,    50,
					  75,	 90, 99, 99.9, 99.99, 100};
	static uint64_t sorted[4321];
	const size_t n = sizeof(sorted) / sizeof(sorted[0]);
	struct rng r;
	size_t i;

	rng_init(&r, 2);
	hist_init(&h);
	for (i = 0; i < n; i++) {
		sorted[i] = random_ns(&r);
		hist_record(&h, sorted[i]);
	}
	qsort(sorted, n, sizeof(sorted[0]), compare_ns);
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		size_t rank = ceil(percents[i] / 100 * n - 1e-9);
		double want = sorted[rank ? rank - 1 : 0];
		double got = hist_percentile_ns(&h, percents[i]);

		CU_ASSERT(fabs(got - want) <= want / 256);
	}
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 100), sorted[n - 1]);
}

/* 0.07 % of 10000 samples is the 7th, though 0.07 is no exact double. */
static void test_rank_is_exact(void)
{
	int i;

	hist_init(&h);
	for (i = 1; i <= 10000; i++)
		hist_record(&h, i <= 7 ? 10 : 200);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 0.07), 10);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 0.0701), 200);
}

static void test_clamped(void)
{
	hist_init(&h);
	hist_record(&h, 1000001);
	hist_record(&h, 1000002);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 50), 1000002);
	hist_init(&h);
	hist_record(&h, 1048575);
	hist_record(&h, 1048575);
	hist_record(&h, 2000000);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 1), 1048575);
}

static void test_moments(void)
{
	static const uint64_t x[] = {2, 4, 4, 4, 5, 5, 7, 9};
	size_t i;

	hist_init(&h);
	CU_ASSERT_EQUAL(hist_mean_ns(&h), 0);
	CU_ASSERT_EQUAL(hist_stddev_ns(&h), 0);
	CU_ASSERT_EQUAL(hist_percentile_ns(&h, 50), 0);
	CU_ASSERT_EQUAL(h.min_ns, UINT64_MAX);
	for (i = 0; i < 8; i++)
		hist_record(&h, x[i]);
	CU_ASSERT_DOUBLE_EQUAL(hist_mean_ns(&h), 5, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(hist_stddev_ns(&h), sqrt(32.0 / 7), 1e-12);
	CU_ASSERT_EQUAL(h.min_ns, 2);
	CU_ASSERT_EQUAL(h.max_ns, 9);
	hist_init(&h);
	for (i = 0; i < 1000; i++)
		hist_record(&h, 123456789);
	CU_ASSERT_EQUAL(hist_stddev_ns(&h), 0);
}

static void test_add_is_exact(void)
{
	static struct hist part[3], whole, sum;
	struct rng r;
	int i;

	rng_init(&r, 3);
	hist_init(&whole);
	hist_init(&sum);
	for (i = 0; i < 3; i++)
		hist_init(&part[i]);
	for (i = 0; i < 10000; i++) {
		uint64_t ns = random_ns(&r) >> 20; /* sums stay integers */

		hist_record(&whole, ns);
		hist_record(&part[i % 2], ns); /* part[2] stays empty */
	}
	for (i = 0; i < 3; i++)
		hist_add(&sum, &part[i]);
	CU_ASSERT_EQUAL(sum.sum_ns, whole.sum_ns);
	CU_ASSERT_EQUAL(sum.count, whole.count);
	CU_ASSERT_EQUAL(sum.min_ns, whole.min_ns);
	CU_ASSERT_EQUAL(sum.max_ns, whole.max_ns);
	CU_ASSERT(!memcmp(sum.bucket, whole.bucket, sizeof(sum.bucket)));
	CU_ASSERT_DOUBLE_EQUAL(hist_stddev_ns(&sum), hist_stddev_ns(&whole),
			       1e-6 * hist_stddev_ns(&whole));
}

static void test_count_upto(void)
{
	uint64_t ns;

	hist_init(&h);
	for (ns = 1; ns <= 100; ns++)
		hist_record(&h, ns);
	CU_ASSERT_EQUAL(hist_count_upto(&h, 0), 0);
	CU_ASSERT_EQUAL(hist_count_upto(&h, 1), 1);
	CU_ASSERT_EQUAL(hist_count_upto(&h, 50), 50);
	CU_ASSERT_EQUAL(hist_count_upto(&h, UINT64_MAX), 100);
}

UNIT_TESTS("hist", {"every bucket's bounds map to it", test_boundaries},
	   {"beyond the range", test_beyond_range},
	   {"relative error", test_relative_error},
	   {"percentiles against a sorted array", test_percentiles},
	   {"rank is exact", test_rank_is_exact},
	   {"clamped to min and max", test_clamped},
	   {"mean and deviation", test_moments},
	   {"add is exact", test_add_is_exact},
	   {"count up to", test_count_upto})
