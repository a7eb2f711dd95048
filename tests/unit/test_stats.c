#include "tests/unit/unit.h"

#include <math.h>

#include "report/stats.h"

static bool near(double a, double b, double relative)
{
	if (fabs(a - b) <= relative * fabs(b))
		return true;
	printf("# %.15g is not %.15g\n", a, b);
	return false;
}

/* NIST StRD, univariate summary statistics: NumAcc1, NumAcc3 and NumAcc4. */
static void test_nist_summary(void)
{
	static const double offsets[] = {0, 1e6, 1e7};
	static double x[1001];
	struct summary s;
	size_t i, k;

	x[0] = 10000001, x[1] = 10000003, x[2] = 10000002;
	stats_summarize(x, 3, &s);
	CU_ASSERT(near(s.mean, 10000002, 1e-15));
	CU_ASSERT(near(s.sd, 1, 1e-15));
	for (k = 1; k < 3; k++) {
		x[0] = offsets[k] + 0.2;
		for (i = 1; i < 1001; i++)
			x[i] = offsets[k] + (i % 2 ? 0.1 : 0.3);
		stats_summarize(x, 1001, &s);
		CU_ASSERT(near(s.mean, offsets[k] + 0.2, 1e-14));
		CU_ASSERT(near(s.sd, 0.1, 1e-7));
	}
}

/* Any printed table of Student's t, column 0.975; R's qt() for the rest. */
static void test_t_table(void)
{
	CU_ASSERT(near(stats_t(1), 12.7062047364, 1e-10));
	CU_ASSERT(near(stats_t(2), 4.30265272975, 1e-10));
	CU_ASSERT(near(stats_t(3), 3.18244630528, 1e-10));
	CU_ASSERT(near(stats_t(4), 2.77644510520, 1e-10));
	CU_ASSERT(near(stats_t(10), 2.22813885199, 1e-10));
	CU_ASSERT(near(stats_t(30), 2.04227245630, 1e-10));
	CU_ASSERT(near(stats_t(194), 1.9723, 2e-5));
	CU_ASSERT(near(stats_t(1e6), 1.95996635682, 1e-9));
	CU_ASSERT(near(stats_t(INFINITY), 1.95996398454, 1e-11));
	CU_ASSERT(isinf(stats_t(0)));
}

/* NIST/SEMATECH e-Handbook 1.3.5.2: ZARR13.DAT, N = 195; mean and deviation
 * are the handbook's. */
static void test_handbook_interval(void)
{
	double t = stats_t(194), half = t * 0.02278881 / sqrt(195);

	CU_ASSERT(near(9.261460 - half, 9.258242, 1e-6));
	CU_ASSERT(near(9.261460 + half, 9.264679, 1e-6));
}

/* e-Handbook 1.3.5.3: AUTO83B.DAT, miles per gallon of 249 US and 79 Japanese
 * cars, variances not assumed equal: T = -12.94627, 136.8750 degrees. */
static void test_handbook_two_means(void)
{
	struct estimate us = {20.14458, 6.414700 / sqrt(249), 248};
	struct estimate japan = {30.48101, 6.107710 / sqrt(79), 78};
	struct interval i;
	double t, half;

	CU_ASSERT_FATAL(stats_difference(&us, &japan, &i));
	CU_ASSERT(near((i.low + i.high) / 2, -10.33643, 1e-5));
	half = (i.high - i.low) / 2;
	t = stats_t(136.8750);
	CU_ASSERT(near((us.mean - japan.mean) / (half / t), -12.94627, 1e-5));
	CU_ASSERT(near(t, 1.9774, 1e-4));
}

/* By hand: 100 +- 1 over 50 +- 1, 4 degrees each. */
static void test_ratio(void)
{
	struct estimate a = {100, 1, 4}, b = {50, 1, 4};
	double va = 1e-4, vb = 4e-4;
	double df = (va + vb) * (va + vb) / (va * va / 4 + vb * vb / 4);
	double half = stats_t(df) * sqrt(va + vb);
	struct interval i;

	CU_ASSERT_FATAL(stats_ratio(&a, &b, &i));
	CU_ASSERT(near(log(i.high / 2), half, 1e-12));
	CU_ASSERT(near(log(2 / i.low), half, 1e-12));
	/* nothing varies: the ratio itself */
	a.se = b.se = 0;
	CU_ASSERT(stats_ratio(&a, &b, &i) && i.low == 2 && i.high == 2);
	/* one side is exact */
	b.df = INFINITY;
	a.se = 1;
	CU_ASSERT(stats_ratio(&a, &b, &i));
	CU_ASSERT(near(log(i.high / 2), stats_t(4) * 0.01, 1e-12));
	a.se = NAN;
	CU_ASSERT_FALSE(stats_ratio(&a, &b, &i));
	a = (struct estimate){0, 1, 4};
	CU_ASSERT_FALSE(stats_ratio(&a, &b, &i));
}

static void test_few(void)
{
	double x[] = {7, 7, 7};
	struct summary s;

	stats_summarize(x, 0, &s);
	CU_ASSERT(s.mean == 0 && s.sd == 0 && isnan(s.half));
	stats_summarize(x, 1, &s);
	CU_ASSERT(s.mean == 7 && s.sd == 0 && isnan(s.half));
	stats_summarize(x, 3, &s);
	CU_ASSERT(s.mean == 7 && s.sd == 0 && s.half == 0);
	CU_ASSERT(stats_effective_n(x, 3) == 3);
}

static void test_effective_n(void)
{
	double rising[100], alternating[100];
	size_t i;

	for (i = 0; i < 100; i++) {
		rising[i] = (double)i;
		alternating[i] = i % 2;
	}
	/* A trend is hardly more than two values; what swings about its mean
	 * is never credited with more than it has. */
	CU_ASSERT(stats_effective_n(rising, 100) < 3);
	CU_ASSERT(stats_effective_n(rising, 100) >= 2);
	CU_ASSERT(stats_effective_n(alternating, 100) == 100);
}

/* Of many samples of a known mean, 95 in 100 intervals hold it: within four
 * deviations of that share. */
static void test_coverage(void)
{
	unsigned int seed = 1, held = 0, n = 4000, i, k, j;
	double x[5], sum;
	struct summary s;

	for (i = 0; i < n; i++) {
		for (k = 0; k < 5; k++) {
			for (j = 0, sum = 0; j < 12; j++)
				sum += rand_r(&seed) / (double)RAND_MAX;
			x[k] = sum - 6;
		}
		stats_summarize(x, 5, &s);
		held += fabs(s.mean) <= s.half;
	}
	CU_ASSERT(fabs(held / (double)n - 0.95) < 4 * sqrt(0.95 * 0.05 / n));
}

UNIT_TESTS("stats", {"NIST StRD summaries", test_nist_summary},
	   {"table of Student's t", test_t_table},
	   {"NIST handbook, interval of a mean", test_handbook_interval},
	   {"NIST handbook, two means", test_handbook_two_means},
	   {"ratio of means", test_ratio}, {"few values", test_few},
	   {"neighbours that resemble each other", test_effective_n},
	   {"coverage", test_coverage})
