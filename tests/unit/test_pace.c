#include "tests/unit/unit.h"

#include <math.h>

#include "base/clock.h"
#include "workloads/pace.h"

enum { START = 5000 };

static struct job_opts options(void)
{
	struct job_opts o = {.ops = OP_BIT(OP_READ),
			     .bs = {4096, 4096, 4096},
			     .rwmixread = 50,
			     .distribution.center = -1};

	return o;
}

static struct request request(enum io_op op, uint32_t length)
{
	struct request r = {.op = op, .length_bytes = length};

	return r;
}

static const struct request read_4k = {.op = OP_READ, .length_bytes = 4096};

static void test_closed_loop(void)
{
	struct job_opts o = options();
	struct pace p;

	pace_init(&p, &o, 1, 1, START);
	CU_ASSERT(!p.is_open_loop);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 7000), 7000);
	pace_completed(&p, &read_4k, 8000);
	CU_ASSERT(!pace_must_wait(&p));
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 8000), 8000);
}

static void test_linear(void)
{
	struct job_opts o = options();
	struct pace p;
	uint64_t i;

	o.rate_iops[OP_READ] = 1000;
	pace_init(&p, &o, 1, 1, START);
	CU_ASSERT(p.is_open_loop);
	for (i = 0; i < 100000; i++)
		CU_ASSERT_EQUAL(pace_next(&p, &read_4k, START),
				START + i * NS_PER_MSEC);
	/* A spacing that is no whole number of ns does not drift. */
	o.rate_iops[OP_READ] = 3;
	pace_init(&p, &o, 1, 1, START);
	for (i = 0; i < 300000; i++)
		pace_next(&p, &read_4k, START);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, START),
			START + 100000 * NS_PER_SEC);
}

static void test_share(void)
{
	struct job_opts o = options();
	struct pace p;

	o.rate_iops[OP_READ] = 1000;
	pace_init(&p, &o, 0.25, 1, START);
	pace_next(&p, &read_4k, START);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, START),
			START + 4 * NS_PER_MSEC);
}

/* Slots come free late; the schedule does not move. */
static void test_stall(void)
{
	struct job_opts o = options();
	struct pace p;
	uint64_t i;

	o.rate_iops[OP_READ] = 1000;
	pace_init(&p, &o, 1, 1, 0);
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(pace_next(&p, &read_4k, NS_PER_SEC),
				i * NS_PER_MSEC);
	pace_completed(&p, &read_4k, 2 * NS_PER_SEC);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 2 * NS_PER_SEC),
			10 * NS_PER_MSEC);
}

static void test_bytes(void)
{
	static const uint32_t lengths[] = {4096, 8192, 512, 65536};
	struct job_opts o = options();
	uint64_t i, bytes = 0;
	struct request r;
	struct pace p;

	o.rate[OP_READ] = 1000000; /* 1000 ns a byte */
	o.rate_iops[OP_READ] = 5;  /* rate counts before it */
	pace_init(&p, &o, 1, 1, START);
	for (i = 0; i < 1000; i++) {
		r = request(OP_READ, lengths[i % 4]);
		CU_ASSERT_EQUAL(pace_next(&p, &r, START), START + bytes * 1000);
		bytes += r.length_bytes;
	}
}

static void test_each_op_its_rate(void)
{
	struct request write_4k = request(OP_WRITE, 4096);
	struct job_opts o = options();
	struct pace p;
	uint64_t i;

	o.ops |= OP_BIT(OP_WRITE);
	o.rate_iops[OP_READ] = 1000;
	o.rate_iops[OP_WRITE] = 100;
	pace_init(&p, &o, 1, 1, START);
	for (i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(pace_next(&p, &write_4k, START),
				START + i * 10 * NS_PER_MSEC);
		CU_ASSERT_EQUAL(pace_next(&p, &read_4k, START),
				START + i * NS_PER_MSEC);
	}
	/* Only writes have a rate: reads go when they can. */
	o.rate_iops[OP_READ] = 0;
	pace_init(&p, &o, 1, 1, START);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 12345), 12345);
	CU_ASSERT_EQUAL(pace_next(&p, &write_4k, 12345), START);
}

/* Gaps: mean, deviation and the tail of an exponential distribution. */
static void test_poisson(void)
{
	enum { N = 100000 };
	double sum_sq = 0, over_mean = 0, over_thrice = 0, gap;
	struct job_opts o = options();
	uint64_t before = START, at = START, i;
	struct pace p;

	o.rate_iops[OP_READ] = 1000;
	o.rate_process = RATE_POISSON;
	pace_init(&p, &o, 1, 3, START);
	for (i = 0; i < N; i++, before = at) {
		at = pace_next(&p, &read_4k, START);
		CU_ASSERT_FATAL(at >= before);
		gap = (at - before) / 1e6; /* of the mean */
		sum_sq += gap * gap;
		over_mean += gap > 1;
		over_thrice += gap > 3;
	}
	CU_ASSERT_DOUBLE_EQUAL((at - START) / 1e6 / N, 1, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(sum_sq / N, 2, 0.06);
	CU_ASSERT_DOUBLE_EQUAL(over_mean / N, exp(-1), 0.006);
	CU_ASSERT_DOUBLE_EQUAL(over_thrice / N, exp(-3), 0.003);
}

/* Reads at 3000/s and writes at 1000/s in the pattern's shares: each at its
 * rate, and in one order (no request waits behind a later one). */
static void test_poisson_mix(void)
{
	enum { N = 100000 };
	struct request w = request(OP_WRITE, 4096);
	struct job_opts o = options();
	uint64_t before = 0, at, reads = 0, i;
	struct pace p;
	struct rng rng;

	o.ops |= OP_BIT(OP_WRITE);
	o.rate_iops[OP_READ] = 3000;
	o.rate_iops[OP_WRITE] = 1000;
	o.rate_process = RATE_POISSON;
	pace_init(&p, &o, 1, 3, 0);
	rng_init(&rng, 1);
	for (i = 0; i < N; i++, before = at) {
		bool is_read = rng_double(&rng) < 0.75;

		reads += is_read;
		at = pace_next(&p, is_read ? &read_4k : &w, 0);
		CU_ASSERT_FATAL(at >= before);
	}
	CU_ASSERT_DOUBLE_EQUAL(reads * 1e9 / at, 3000, 30);
	CU_ASSERT_DOUBLE_EQUAL((N - reads) * 1e9 / at, 1000, 20);
}

static void test_think_time(void)
{
	struct job_opts o = options();
	struct pace p;

	o.thinktime_ns = 10000;
	pace_init(&p, &o, 1, 1, START); /* thinktime_blocks 0: 1 */
	CU_ASSERT(!pace_must_wait(&p));
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, START), START);
	CU_ASSERT(pace_must_wait(&p));
	pace_completed(&p, &read_4k, 7000);
	CU_ASSERT(!pace_must_wait(&p));
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 7000), 17000);
	pace_completed(&p, &read_4k, 20000);
	/* A slot that comes free after the pause does not pause again. */
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 40000), 40000);
}

static void test_think_blocks(void)
{
	struct request flush = {.op = OP_FLUSH};
	struct job_opts o = options();
	struct pace p;
	int i;

	o.thinktime_ns = 10000;
	o.thinktime_blocks = 3;
	pace_init(&p, &o, 1, 1, 0);
	for (i = 0; i < 3; i++) {
		CU_ASSERT(!pace_must_wait(&p));
		CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 100), 100);
		CU_ASSERT_EQUAL(pace_next(&p, &flush, 100), 100);
	}
	for (i = 0; i < 3; i++) {
		CU_ASSERT(pace_must_wait(&p));
		pace_completed(&p, &flush, 500);
		pace_completed(&p, &read_4k, 1000 * (i + 1));
	}
	CU_ASSERT(!pace_must_wait(&p));
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 1000), 13000);
	CU_ASSERT_EQUAL(pace_next(&p, &flush, 1000), 1000);
}

/* The schedule runs on while thinking; the pause is not response time. */
static void test_think_with_rate(void)
{
	struct job_opts o = options();
	struct pace p;

	o.rate_iops[OP_READ] = 1000;
	o.thinktime_ns = 5 * NS_PER_MSEC;
	pace_init(&p, &o, 1, 1, 0);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 0), 0);
	pace_completed(&p, &read_4k, 1000);
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 1000), 1000 + 5 * NS_PER_MSEC);
	pace_completed(&p, &read_4k, 5 * NS_PER_MSEC + 2000);
	o.thinktime_ns = 0; /* caught up with: the third was due at 2 ms */
	p.hold_until_ns = 0;
	CU_ASSERT_EQUAL(pace_next(&p, &read_4k, 6 * NS_PER_MSEC),
			2 * NS_PER_MSEC);
}

static void test_costs(void)
{
	struct bs_share split[] = {{4096, 75}, {8192, 25}};
	struct job_opts o = options();

	CU_ASSERT_EQUAL(pace_cost_ns(&o, OP_READ, 4096), 0);
	CU_ASSERT_EQUAL(pace_cost_ns(&o, OP_FLUSH, 0), 0);
	CU_ASSERT_EQUAL(pace_mean_bytes(&o, OP_READ), 4096);
	o.bssplit[OP_READ] = split;
	o.nr_bssplit[OP_READ] = 2;
	CU_ASSERT_EQUAL(pace_mean_bytes(&o, OP_READ), 5120);
}

UNIT_TESTS("pace", {"closed loop", test_closed_loop},
	   {"linear spacing is exact", test_linear},
	   {"a client's share", test_share},
	   {"a stall keeps intended times", test_stall},
	   {"bytes per second, mixed sizes", test_bytes},
	   {"each op its rate", test_each_op_its_rate},
	   {"poisson", test_poisson}, {"poisson mix", test_poisson_mix},
	   {"think time", test_think_time},
	   {"think time after blocks", test_think_blocks},
	   {"think time with a rate", test_think_with_rate},
	   {"costs and means", test_costs})
