#include "tests/unit/unit.h"

#include <math.h>

#include "report/steady.h"

static struct steady check(const double *x, size_t n)
{
	struct steady s;

	steady_check(&s, x, n);
	return s;
}

static void test_equal(void)
{
	const double x[] = {50, 50, 50, 50, 50};
	struct steady s = check(x, 5);

	CU_ASSERT(s.is_steady && s.mean == 50 && s.range == 0 &&
		  s.excursion == 0 && !s.is_over);
	CU_ASSERT_EQUAL(steady_after(x, 5), 5);
	/* four are not five */
	CU_ASSERT_FALSE(check(x, 4).is_steady);
	CU_ASSERT_EQUAL(steady_after(x, 4), 0);
	CU_ASSERT_FALSE(check(x, 0).is_steady);
}

/* A line's excursion is its range: 10 % of the mean is the limit. */
static void test_slope(void)
{
	const double on[] = {95, 97.5, 100, 102.5, 105};
	const double off[] = {94.9, 97.45, 100, 102.55, 105.1};
	const double down[] = {105.1, 102.55, 100, 97.45, 94.9};
	struct steady s = check(on, 5);

	CU_ASSERT_TRUE(s.is_steady);
	CU_ASSERT_DOUBLE_EQUAL(s.excursion, 0.10, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.range, 0.10, 1e-12);
	s = check(off, 5);
	CU_ASSERT_FALSE(s.is_steady);
	CU_ASSERT_DOUBLE_EQUAL(s.excursion, 0.102, 1e-12);
	CU_ASSERT_FALSE(check(down, 5).is_steady);
}

/* No slope at all, but a range of 20 % and of more. */
static void test_range(void)
{
	const double on[] = {90, 110, 100, 110, 90};
	const double off[] = {89.9, 110, 100.2, 110, 89.9};
	struct steady s = check(on, 5);

	CU_ASSERT_TRUE(s.is_steady);
	CU_ASSERT_DOUBLE_EQUAL(s.range, 0.20, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.excursion, 0, 1e-12);
	s = check(off, 5);
	CU_ASSERT_FALSE(s.is_steady);
	CU_ASSERT(s.range > 0.2 && s.excursion < 0.01);
}

/* By hand: 8, 9, 10, 10, 10 have the mean 9.4 and a slope of 0.5, that is 2 in
 * four rounds. */
static void test_by_hand(void)
{
	const double x[] = {8, 9, 10, 10, 10};
	struct steady s = check(x, 5);

	CU_ASSERT_DOUBLE_EQUAL(s.mean, 9.4, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.range, 2 / 9.4, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.excursion, 2 / 9.4, 1e-12);
	CU_ASSERT_FALSE(s.is_steady);
}

/* A fresh disk that slows down: only the last five count. */
static void test_settling(void)
{
	const double x[] = {900, 600, 400, 320, 305, 302, 300, 301, 299, 300};
	size_t i;

	CU_ASSERT_EQUAL(steady_after(x, 10), 8);
	for (i = 0; i <= 10; i++)
		CU_ASSERT_EQUAL(check(x, i).is_steady, i >= 8);
}

/* 25 rounds at most: a steady 25th is steady, another is the end. */
static void test_over(void)
{
	double x[26];
	size_t i;

	for (i = 0; i < 26; i++)
		x[i] = i % 2 ? 100 : 200;
	CU_ASSERT_FALSE(check(x, 24).is_over);
	CU_ASSERT_TRUE(check(x, 25).is_over);
	CU_ASSERT_FALSE(check(x, 25).is_steady);
	for (i = 20; i < 25; i++)
		x[i] = 150;
	CU_ASSERT(check(x, 25).is_steady && !check(x, 25).is_over);
}

static void test_odd_values(void)
{
	const double zeros[] = {0, 0, 0, 0, 0};
	double odd[] = {1, 1, 1, 1, 1};
	struct steady s = check(zeros, 5);

	CU_ASSERT(!s.is_steady && s.range == 0 && s.excursion == 0);
	odd[2] = NAN;
	s = check(odd, 5);
	CU_ASSERT(!s.is_steady && isfinite(s.range) && isfinite(s.mean));
	odd[2] = INFINITY;
	CU_ASSERT_FALSE(check(odd, 5).is_steady);
	odd[2] = -1;
	CU_ASSERT_FALSE(check(odd, 5).is_steady);
}

UNIT_TESTS("steady state", {"equal rounds", test_equal}, {"slope", test_slope},
	   {"range", test_range}, {"by hand", test_by_hand},
	   {"settling", test_settling}, {"at most 25 rounds", test_over},
	   {"odd values", test_odd_values})
