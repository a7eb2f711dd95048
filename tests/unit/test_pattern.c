#include "tests/unit/unit.h"

#include <errno.h>

#include "workloads/pattern.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* One job, one client, without the readers: what a test needs of a plan. */
static struct job_opts opts;
static struct jobset set = {.jobs = &opts, .nr_jobs = 1};
static struct plan plan = {.set = &set};
static struct plan_client client;
static struct pattern *pattern;
static struct request r;

static void setup(unsigned int ops, bool is_random, uint64_t region_bytes)
{
	memset(&opts, 0, sizeof(opts));
	opts.ops = ops;
	opts.is_random = is_random;
	opts.sequence = 1;
	opts.rwmixread = 50;
	opts.loops = 1;
	opts.distribution.center = -1;
	for (int i = 0; i < OP_DATA_COUNT; i++) {
		opts.bs[i] = 4 * KIB;
		opts.percentage_random[i] = 100;
	}
	plan.lun.block_bytes = 512;
	memset(&client, 0, sizeof(client));
	client.opts = &opts;
	client.offset_bytes = MIB;
	client.length_bytes = region_bytes;
	client.io_bytes = UINT64_MAX;
	client.number_ios = UINT64_MAX;
	client.seed = 1;
}

static void start(void)
{
	struct err e = {0};

	pattern_free(pattern);
	pattern = NULL;
	CU_ASSERT_EQUAL_FATAL(pattern_new(&pattern, &plan, &client, &e), 0);
}

static void stop(void)
{
	pattern_free(pattern);
	pattern = NULL;
}

/* The next request, checked for what holds for all; its place from the
 * region's start, or -1 when the amount is done. */
static int64_t next(void)
{
	uint64_t end = client.offset_bytes + client.length_bytes;

	if (!pattern_next(pattern, &r))
		return -1;
	if (r.op == OP_FLUSH) {
		CU_ASSERT_EQUAL(r.length_bytes, 0);
		return 0;
	}
	CU_ASSERT_FATAL(opts.ops & OP_BIT(r.op));
	CU_ASSERT_FATAL(r.length_bytes > 0);
	CU_ASSERT_FATAL(r.length_bytes % plan.lun.block_bytes == 0);
	CU_ASSERT_FATAL(r.offset_bytes % plan.lun.block_bytes == 0);
	CU_ASSERT_FATAL(r.offset_bytes >= client.offset_bytes);
	CU_ASSERT_FATAL(r.length_bytes <= end - r.offset_bytes);
	return r.offset_bytes - client.offset_bytes;
}

/* "R0+4096 W4096+512 F!": op, place + length; F! drains first. */
static char *list(int n)
{
	static char text[2000];
	size_t len = 0;
	int64_t at;

	text[0] = '\0';
	while (n-- && (at = next()) >= 0 && len < sizeof(text) - 60) {
		if (r.op == OP_FLUSH)
			len += sprintf(text + len, "F%s ",
				       r.drain_first ? "!" : "");
		else
			len += sprintf(text + len, "%c%lld+%u ", "RWT"[r.op],
				       (long long)at, r.length_bytes);
	}
	if (len)
		text[len - 1] = '\0';
	return text;
}

static void expect(int n, const char *want)
{
	char *got = list(n);

	CU_ASSERT_STRING_EQUAL(got, want);
	if (strcmp(got, want) != 0)
		printf("# got  %s\n# want %s\n", got, want);
}

static void test_sequential(void)
{
	setup(OP_BIT(OP_READ), false, 16 * KIB);
	start();
	expect(6, "R0+4096 R4096+4096 R8192+4096 R12288+4096 R0+4096 "
		  "R4096+4096");
	setup(OP_BIT(OP_TRIM), false, 8 * KIB);
	start();
	expect(3, "T0+4096 T4096+4096 T0+4096");
	stop();
}

/* The tail of a region that is no multiple of bs is read too, not beyond. */
static void test_sequential_tail(void)
{
	setup(OP_BIT(OP_WRITE), false, 9 * KIB);
	start();
	expect(4, "W0+4096 W4096+4096 W8192+1024 W0+4096");
	setup(OP_BIT(OP_WRITE), false, 1024); /* less than bs in all */
	start();
	expect(2, "W0+1024 W0+1024");
	stop();
}

static void test_step(void)
{
	setup(OP_BIT(OP_READ), false, 32 * KIB);
	opts.step_bytes = 4096;
	start();
	expect(6, "R0+4096 R8192+4096 R16384+4096 R24576+4096 R0+4096 "
		  "R8192+4096");
	opts.step_bytes = -8192; /* backwards, each block once */
	client.length_bytes = 16 * KIB;
	start();
	expect(6, "R12288+4096 R8192+4096 R4096+4096 R0+4096 R12288+4096 "
		  "R8192+4096");
	opts.step_bytes = -4096; /* stays */
	start();
	expect(2, "R12288+4096 R12288+4096");
	opts.step_bytes = INT64_MIN; /* further than there is */
	start();
	expect(2, "R12288+4096 R12288+4096");
	opts.step_bytes = INT64_MAX / 512 * 512;
	start();
	expect(2, "R0+4096 R0+4096");
	stop();
}

/* Each direction goes on behind its own last request. */
static void test_mixed_sequential(void)
{
	uint64_t end[2] = {0, 0};
	unsigned int reads = 0;
	int i;

	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), false, 1024 * MIB);
	opts.rwmixread = 70;
	start();
	for (i = 0; i < 20000; i++) {
		uint64_t at = next();

		CU_ASSERT_EQUAL_FATAL(at, end[r.op]);
		end[r.op] = at + r.length_bytes;
		reads += r.op == OP_READ;
	}
	CU_ASSERT(reads > 13700 && reads < 14300);
	opts.rwmixread = 0;
	start();
	for (i = 0; i < 100; i++) {
		next();
		CU_ASSERT_EQUAL(r.op, OP_WRITE);
	}
	opts.rwmixread = 100;
	start();
	for (i = 0; i < 100; i++) {
		next();
		CU_ASSERT_EQUAL(r.op, OP_READ);
	}
	stop();
}

static void test_covers_each_once(void)
{
	static unsigned char seen[1000];
	int pass, i;

	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true, 1000 * 4096 + 512);
	start();
	for (pass = 1; pass <= 3; pass++) {
		for (i = 0; i < 1000; i++) {
			int64_t at = next();

			CU_ASSERT_FATAL(at % 4096 == 0);
			seen[at / 4096]++;
		}
		for (i = 0; i < 1000; i++)
			CU_ASSERT_EQUAL(seen[i], pass);
	}
	memset(seen, 0, sizeof(seen));
	opts.norandommap = true;
	start();
	for (i = 0; i < 1000; i++)
		seen[next() / 4096]++;
	for (pass = 0, i = 0; i < 1000; i++)
		pass += seen[i] == 0;
	CU_ASSERT(pass > 300 && pass < 430); /* 1000 / e were missed */
	stop();
}

static void check_spread(void)
{
	enum { DRAWS = 48000, CELLS = 48 };
	const uint64_t cell_bytes = (3ULL << 40) / CELLS;
	unsigned int cell[CELLS] = {0}, i;

	start();
	for (i = 0; i < DRAWS; i++) {
		uint64_t at = next();

		CU_ASSERT_FATAL(at % 4096 == 0);
		cell[at / cell_bytes]++;
	}
	for (i = 0; i < CELLS; i++)
		CU_ASSERT(cell[i] > 800 && cell[i] < 1200);
}

static void test_three_tib(void)
{
	setup(OP_BIT(OP_READ), true, 3ULL << 40);
	plan.lun.block_bytes = 4096;
	check_spread();
	opts.norandommap = true;
	check_spread();
	opts.is_random = false; /* up to the very end */
	opts.step_bytes = (3ULL << 40) - 8192;
	start();
	expect(3, "R0+4096 R3298534879232+4096 R0+4096");
	stop();
}

static void test_sequencer(void)
{
	uint64_t at, before = 0;
	int i, drawn = 0;

	setup(OP_BIT(OP_READ), true, 1024 * MIB);
	opts.sequence = 8;
	start();
	for (i = 0; i < 8000; i++, before = at) {
		at = next();
		if (i % 8)
			CU_ASSERT_EQUAL(at, before + 4096);
		drawn += i && at != before + 4096;
	}
	CU_ASSERT_EQUAL(drawn, 999);
	/* At the region's end it draws anew, and never leaves it. */
	client.length_bytes = 20 * KIB;
	start();
	for (i = 0; i < 1000; i++)
		next();
	stop();
}

static void test_percentage_random(void)
{
	uint64_t at, before = 0;
	int i, random = 0;

	setup(OP_BIT(OP_READ), true, 1024 * MIB);
	opts.percentage_random[OP_READ] = 30;
	start();
	for (i = 0; i < 20000; i++, before = at + 4096) {
		at = next();
		random += at != before;
	}
	CU_ASSERT(random > 5700 && random < 6300);
	opts.percentage_random[OP_READ] = 0;
	start();
	expect(3, "R0+4096 R4096+4096 R8192+4096");
	stop();
}

static void test_bssplit(void)
{
	struct bs_share split[] = {{4096, 60}, {16384, 30}, {65536, 10}};
	unsigned int count[3] = {0}, i;

	setup(OP_BIT(OP_WRITE), true, 1024 * MIB);
	opts.bssplit[OP_WRITE] = split;
	opts.nr_bssplit[OP_WRITE] = 3;
	start();
	for (i = 0; i < 20000; i++) {
		CU_ASSERT_FATAL(next() % 4096 == 0);
		count[r.length_bytes == 4096	? 0
		      : r.length_bytes == 16384 ? 1
						: 2]++;
	}
	CU_ASSERT(count[0] > 11600 && count[0] < 12400);
	CU_ASSERT(count[1] > 5600 && count[1] < 6400);
	CU_ASSERT(count[2] > 1700 && count[2] < 2300);
	/* What does not fit becomes the largest that does. */
	split[0].percent = split[1].percent = 0;
	client.length_bytes = 24 * KIB;
	opts.is_random = false;
	start();
	expect(4, "W0+16384 W16384+4096 W20480+4096 W0+16384");
	client.length_bytes = 16384 + 512;
	start();
	expect(3, "W0+16384 W16384+512 W0+16384");
	stop();
}

static void test_sizes_per_direction(void)
{
	unsigned char seen[2][64] = {{0}};
	int i;

	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true, 256 * KIB);
	opts.bs[OP_WRITE] = 8 * KIB;
	start();
	for (i = 0; i < 2000; i++) {
		uint64_t at = next();

		CU_ASSERT_EQUAL(r.length_bytes, opts.bs[r.op]);
		CU_ASSERT_EQUAL(at % opts.bs[r.op], 0);
		seen[r.op][at / opts.bs[r.op]] = 1;
	}
	for (i = 0; i < 64; i++)
		CU_ASSERT(seen[0][i] && (i >= 32 || seen[1][i]));
	stop();
}

/* Places that lie apart are like blocks: each once a pass. So are extents of
 * several I/Os each, as long as one does not reach into the next. */
static void test_places_apart(void)
{
	unsigned int seen[32] = {0}, i;
	uint64_t at;

	setup(OP_BIT(OP_READ), true, 32 * 16 * KIB);
	opts.blockalign[OP_READ] = 16 * KIB;
	opts.sequence = 4;
	client.io_bytes = UINT64_MAX;
	start();
	for (i = 0; i < 32 * 4; i++) {
		at = next();
		CU_ASSERT_EQUAL(at % (16 * KIB), i % 4 * 4 * KIB);
		seen[at / (16 * KIB)]++;
	}
	for (i = 0; i < 32; i++)
		CU_ASSERT_EQUAL(seen[i], 4);
	opts.sequence = 5; /* each overlaps the next: drawn freely */
	start();
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < 32 * 5; i++) {
		at = next();
		if (i % 5 == 0)
			seen[at / (16 * KIB)]++;
	}
	for (i = 0; i < 32 && seen[i] == 1; i++)
		;
	CU_ASSERT(i < 32);
	stop();
}

static void test_blockalign(void)
{
	unsigned int places[16] = {0}, even = 0, i;
	struct err e = {0};

	setup(OP_BIT(OP_READ), true, 8 * KIB);
	opts.blockalign[OP_READ] = 512;
	start();
	for (i = 0; i < 9000; i++)
		places[next() / 512]++;
	for (i = 0; i < 16; i++) /* 4 KiB fit at 0 .. 8 */
		CU_ASSERT(i <= 8 ? places[i] > 800 && places[i] < 1200
				 : !places[i]);
	for (i = 0; i <= 8; i++) /* and without a random map */
		even += places[i] == 1000;
	CU_ASSERT(even < 5);
	opts.blockalign[OP_READ] = 64 * KIB;
	client.length_bytes = 132 * KIB;
	start();
	for (i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(next() % (64 * KIB), 0);
	opts.blockalign[OP_READ] = 100;
	stop();
	CU_ASSERT_EQUAL(pattern_new(&pattern, &plan, &client, &e), -EINVAL);
	CU_ASSERT(strstr(e.text, "\"blockalign\" of 100 bytes") != NULL);
	opts.blockalign[OP_READ] = 0;
	opts.step_bytes = -100;
	CU_ASSERT_EQUAL(pattern_new(&pattern, &plan, &client, &e), -EINVAL);
	pattern = NULL;
}

/* Distributions reach the places; their shapes are test_sampler's. */
static void test_distributions(void)
{
	struct zone zones[] = {{90, 10}, {10, 90}};
	unsigned int first_tenth = 0, i;

	setup(OP_BIT(OP_READ), true, 1000 * 4096);
	opts.distribution.kind = DIST_ZONED;
	opts.distribution.zones = zones;
	opts.distribution.nr_zones = 2;
	start();
	for (i = 0; i < 10000; i++)
		first_tenth += next() < 100 * 4096;
	CU_ASSERT(first_tenth > 8800 && first_tenth < 9200);
	for (i = DIST_ZIPF; i <= DIST_NORMAL; i++) {
		int n = 1000;

		opts.distribution.kind = i;
		opts.distribution.param = 0.4;
		start();
		while (n--)
			CU_ASSERT_FATAL(next() % 4096 == 0);
	}
	stop();
}

static void test_limits(void)
{
	setup(OP_BIT(OP_READ), false, 8 * KIB);
	client.io_bytes = 10240; /* more than the region; the last is cut */
	start();
	expect(9, "R0+4096 R4096+4096 R0+2048");
	CU_ASSERT_FALSE(pattern_next(pattern, &r));
	CU_ASSERT_FALSE(pattern_next(pattern, &r));
	client.io_bytes = 4096 + 700; /* to whole blocks */
	start();
	expect(9, "R0+4096 R4096+512");
	client.io_bytes = 5 * 8 * KIB; /* five loops */
	client.number_ios = 3;
	start();
	expect(9, "R0+4096 R4096+4096 R0+4096");
	client.number_ios = 0;
	start();
	expect(9, "");
	stop();
}

static void test_flushes(void)
{
	setup(OP_BIT(OP_WRITE), false, MIB);
	client.number_ios = 5;
	opts.fsync = 2;
	start();
	expect(99, "W0+4096 W4096+4096 F W8192+4096 W12288+4096 F "
		   "W16384+4096");
	opts.end_fsync = true;
	start();
	expect(99, "W0+4096 W4096+4096 F W8192+4096 W12288+4096 F "
		   "W16384+4096 F!");
	client.number_ios = 4; /* the two last are one */
	start();
	expect(99, "W0+4096 W4096+4096 F W8192+4096 W12288+4096 F!");
	opts.end_fsync = false;
	start();
	expect(99, "W0+4096 W4096+4096 F W8192+4096 W12288+4096 F");
	opts.fsync = 4;
	opts.fdatasync = 2; /* both due: one */
	start();
	expect(99, "W0+4096 W4096+4096 F W8192+4096 W12288+4096 F");
	opts.ops = OP_BIT(OP_READ); /* nothing written, nothing to flush */
	opts.end_fsync = true;
	start();
	expect(99, "R0+4096 R4096+4096 R8192+4096 R12288+4096");
	stop();
}

static void test_finish(void)
{
	setup(OP_BIT(OP_WRITE), false, MIB);
	opts.end_fsync = true;
	opts.fsync = 1;
	start();
	next();
	CU_ASSERT_TRUE(pattern_finish(pattern, &r));
	CU_ASSERT_EQUAL(r.op, OP_FLUSH);
	CU_ASSERT_TRUE(r.drain_first);
	CU_ASSERT_FALSE(pattern_next(pattern, &r));
	CU_ASSERT_FALSE(pattern_finish(pattern, &r));
	start(); /* nothing written yet */
	CU_ASSERT_FALSE(pattern_finish(pattern, &r));
	opts.end_fsync = false;
	start();
	next();
	CU_ASSERT_FALSE(pattern_finish(pattern, &r));
	CU_ASSERT_FALSE(pattern_next(pattern, &r));
	stop();
}

/* Both directions have a rate: the mix is theirs, in the order of their
 * schedules. */
static void test_rates_make_the_mix(void)
{
	unsigned int reads = 0, i;

	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true, 1024 * MIB);
	opts.rwmixread = 70;
	opts.rate_iops[OP_READ] = 1000;
	opts.rate_iops[OP_WRITE] = 3000;
	start();
	for (i = 0; i < 4000; i++) {
		next();
		reads += r.op == OP_READ;
		CU_ASSERT_FATAL(reads <= i / 4 + 1 && reads >= i / 4);
	}
	CU_ASSERT_EQUAL(reads, 1000);
	opts.rate_process = RATE_POISSON;
	start();
	for (reads = 0, i = 0; i < 40000; i++) {
		next();
		reads += r.op == OP_READ;
	}
	CU_ASSERT(reads > 9600 && reads < 10400);
	opts.rate_iops[OP_WRITE] = 0; /* one rate alone: rwmixread */
	start();
	for (reads = 0, i = 0; i < 10000; i++) {
		next();
		reads += r.op == OP_READ;
	}
	CU_ASSERT(reads > 6800 && reads < 7200);
	stop();
}

static void test_same_seed_same_stream(void)
{
	struct bs_share split[] = {{4096, 50}, {8192, 50}};
	static char first[2000];
	int64_t at[50];
	int i;

	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true, 1024 * MIB);
	start();
	strcpy(first, list(50));
	start();
	expect(50, first);
	client.seed = 2;
	start();
	CU_ASSERT_STRING_NOT_EQUAL(list(50), first);
	/* The sizes drawn do not move the places. */
	client.seed = 1;
	opts.rwmixread = 100;
	start();
	for (i = 0; i < 50; i++)
		at[i] = next();
	opts.bssplit[OP_READ] = split;
	opts.nr_bssplit[OP_READ] = 2;
	start();
	for (i = 0; i < 50; i++)
		CU_ASSERT_EQUAL(next(), at[i]);
	stop();
}

/* Golden: a change here changes every recorded run. */
static void test_golden(void)
{
	struct bs_share split[] = {{4096, 50}, {8192, 50}};

	setup(OP_BIT(OP_READ), true, 1024 * MIB);
	start();
	expect(16, "R881983488+4096 R318717952+4096 R58904576+4096 "
		   "R479272960+4096 R1023320064+4096 R1036156928+4096 "
		   "R351809536+4096 R533098496+4096 R352247808+4096 "
		   "R368066560+4096 R325529600+4096 R527933440+4096 "
		   "R372326400+4096 R245874688+4096 R789004288+4096 "
		   "R790970368+4096");
	opts.norandommap = true;
	start();
	expect(16, "R140808192+4096 R1032437760+4096 R925433856+4096 "
		   "R576315392+4096 R302194688+4096 R833236992+4096 "
		   "R1026256896+4096 R964915200+4096 R528367616+4096 "
		   "R53108736+4096 R854564864+4096 R721293312+4096 "
		   "R332689408+4096 R947806208+4096 R700395520+4096 "
		   "R826265600+4096");
	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true, 1024 * MIB);
	opts.rwmixread = 70;
	opts.bssplit[OP_READ] = split;
	opts.nr_bssplit[OP_READ] = 2;
	opts.sequence = 4;
	start();
	expect(16, "R881983488+4096 R881987584+4096 R881991680+4096 "
		   "W0+4096 R318717952+8192 R318726144+4096 "
		   "W4096+4096 W8192+4096 W58904576+4096 "
		   "W58908672+4096 R318730240+4096 R318734336+8192 "
		   "R479272960+8192 R479281152+4096 R479285248+8192 "
		   "W58912768+4096");
	setup(OP_BIT(OP_READ) | OP_BIT(OP_WRITE), false, 1024 * MIB);
	opts.fsync = 3;
	opts.end_fsync = true;
	client.number_ios = 12;
	start();
	expect(99, "R0+4096 R4096+4096 R8192+4096 "
		   "W0+4096 R12288+4096 R16384+4096 "
		   "W4096+4096 W8192+4096 F "
		   "W12288+4096 W16384+4096 R20480+4096 "
		   "R24576+4096 F!");
	stop();
}

UNIT_TESTS("pattern", {"sequential", test_sequential},
	   {"sequential tail", test_sequential_tail}, {"step", test_step},
	   {"mixed sequential", test_mixed_sequential},
	   {"covers each block once", test_covers_each_once},
	   {"3 TiB", test_three_tib}, {"sequencer", test_sequencer},
	   {"percentage_random", test_percentage_random},
	   {"bssplit", test_bssplit},
	   {"sizes per direction", test_sizes_per_direction},
	   {"places apart", test_places_apart}, {"blockalign", test_blockalign},
	   {"distributions", test_distributions}, {"limits", test_limits},
	   {"flushes", test_flushes}, {"finish", test_finish},
	   {"rates make the mix", test_rates_make_the_mix},
	   {"same seed, same stream", test_same_seed_same_stream},
	   {"golden", test_golden})
