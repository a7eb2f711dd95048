#include "tests/unit/unit.h"

#include "workloads/payload.h"

enum { LEN = 64 * 1024 };

static unsigned char buf[LEN], before[LEN];

static struct job_opts options(void)
{
	struct job_opts o = {.bs = {4096, 4096, 4096}};

	return o;
}

static size_t zeros(const unsigned char *p, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += p[i] == 0;
	return n;
}

static size_t differing(const unsigned char *a, const unsigned char *b,
			size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += a[i] != b[i];
	return n;
}

static void test_random(void)
{
	struct job_opts o = options();
	unsigned int count[256] = {0};
	struct payload p;
	size_t i;

	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	for (i = 0; i < LEN; i++)
		count[buf[i]]++;
	for (i = 0; i < 256; i++) /* 256 expected, deviation 16 */
		CU_ASSERT(count[i] > 160 && count[i] < 352);
	memset(buf, 0, 16);
	payload_fill(&p, buf, 13); /* a length that is no whole word */
	CU_ASSERT(zeros(buf, 13) < 5);
	CU_ASSERT_EQUAL(zeros(buf + 13, 3), 3);
}

static void test_stamp(void)
{
	struct job_opts o = options();
	struct payload p;
	uint64_t offset;
	size_t i, j;

	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, LEN, 1ULL << 42);
	memcpy(before, buf, LEN);
	payload_stamp(&p, buf, LEN, 1ULL << 42);
	for (i = 0; i < LEN; i += 512) {
		memcpy(&offset, buf + i, sizeof(offset));
		CU_ASSERT_EQUAL(offset, (1ULL << 42) + i);
		/* A rewrite of the same place differs, in the stamp only. */
		CU_ASSERT(memcmp(buf + i, before + i, 16) != 0);
		CU_ASSERT(!memcmp(buf + i + 16, before + i + 16, 496));
	}
	/* No two sectors are alike, whoever wrote them. */
	for (i = 0; i < LEN; i += 512)
		for (j = 0; j < LEN; j += 512)
			CU_ASSERT(memcmp(buf + i, before + j, 512) != 0);
	memcpy(before, buf, LEN);
	payload_stamp(&p, buf, 512, 0);
	CU_ASSERT(!memcmp(buf + 512, before + 512, LEN - 512));
}

static void test_clients_differ(void)
{
	struct job_opts o = options();
	struct payload a, b;

	payload_init(&a, &o, 1);
	payload_init(&b, &o, 2);
	memset(buf, 0, LEN);
	memset(before, 0, LEN);
	payload_stamp(&a, buf, 512, 0);
	payload_stamp(&b, before, 512, 0);
	CU_ASSERT(memcmp(buf, before, 512) != 0);
	payload_init(&a, &o, 7);
	payload_init(&b, &o, 7);
	payload_fill(&a, buf, LEN);
	payload_fill(&b, before, LEN);
	CU_ASSERT(!memcmp(buf, before, LEN));
}

static void test_zero(void)
{
	struct job_opts o = options();
	struct payload p;

	o.zero_buffers = true;
	o.refill_buffers = true;
	memset(buf, 0xff, LEN);
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, LEN, 4096);
	CU_ASSERT_EQUAL(zeros(buf, LEN), LEN);
}

static void test_pattern(void)
{
	struct job_opts o = options();
	struct payload p;
	size_t i;

	o.pattern_len = 3;
	memcpy(o.pattern, "abc", 3);
	o.zero_buffers = true; /* the pattern counts first */
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, LEN, 512);
	for (i = 0; i < LEN; i++)
		if (buf[i] != "abc"[i % 3])
			break;
	CU_ASSERT_EQUAL(i, LEN);
}

/* Random bytes are zero, too, once in 256. */
static void check_compress(unsigned int percent, size_t cell)
{
	struct job_opts o = options();
	size_t fixed = cell * percent / 100, i;
	struct payload p;

	o.compress_percent = percent;
	o.bs[OP_WRITE] = cell;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, LEN, 1ULL << 40);
	for (i = 0; i < LEN; i += cell) {
		size_t random = cell - fixed;

		CU_ASSERT_EQUAL(zeros(buf + i + random, fixed), fixed);
		/* a stamp has small numbers: some zeros of its own */
		CU_ASSERT(zeros(buf + i, random) <=
			  random / 64 + 16 * (random / 512 + 1));
	}
}

static void test_compress(void)
{
	check_compress(1, 4096);
	check_compress(50, 4096);
	check_compress(75, 4096);
	check_compress(99, 4096);
	check_compress(100, 4096);
	check_compress(50, 512); /* small writes compress as well */
	check_compress(30, 1024);
}

/* Each stretch of 4 KiB of a large write keeps its share. */
static void test_compress_large_write(void)
{
	struct job_opts o = options();
	struct payload p;
	size_t i;

	o.compress_percent = 50;
	o.bs[OP_WRITE] = LEN;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	for (i = 0; i < LEN; i += 4096) {
		size_t n = zeros(buf + i, 4096);

		CU_ASSERT(n >= 2048 && n < 2048 + 40);
	}
}

static void test_compress_with_pattern(void)
{
	struct job_opts o = options();
	struct payload p;
	size_t i;

	o.compress_percent = 25;
	o.pattern_len = 1;
	o.pattern[0] = 0x5a;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, LEN, 0);
	for (i = 3072; i < 4096; i++)
		CU_ASSERT_EQUAL(buf[i], 0x5a);
}

static void test_refill(void)
{
	struct job_opts o = options();
	struct payload p;

	o.refill_buffers = true;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	memcpy(before, buf, LEN);
	payload_stamp(&p, buf, 4096, 0);
	CU_ASSERT(differing(buf, before, 4096) > 4000);
	CU_ASSERT_EQUAL(differing(buf + 4096, before + 4096, LEN - 4096), 0);
	o.compress_percent = 50;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	payload_stamp(&p, buf, 4096, 0);
	CU_ASSERT_EQUAL(zeros(buf + 2048, 2048), 2048);
}

/* The smallest of bssplit is the cell. */
static void test_split_cell(void)
{
	struct bs_share split[] = {{16384, 50}, {1024, 50}};
	struct job_opts o = options();
	struct payload p;

	o.compress_percent = 50;
	o.bssplit[OP_WRITE] = split;
	o.nr_bssplit[OP_WRITE] = 2;
	payload_init(&p, &o, 1);
	payload_fill(&p, buf, LEN);
	CU_ASSERT_EQUAL(zeros(buf + 512, 512), 512);
	CU_ASSERT(zeros(buf, 512) < 20);
}

UNIT_TESTS("payload", {"random", test_random}, {"stamp", test_stamp},
	   {"clients differ, seeds repeat", test_clients_differ},
	   {"zero", test_zero}, {"pattern repeats, unstamped", test_pattern},
	   {"compress", test_compress},
	   {"compress a large write", test_compress_large_write},
	   {"compress with a pattern", test_compress_with_pattern},
	   {"refill", test_refill}, {"cell of a bssplit", test_split_cell})
