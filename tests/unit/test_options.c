#include <errno.h>
#include <stdint.h>

#include "tests/unit/unit.h"
#include "workloads/options.h"

static struct job_opts o;
static struct err e;
static char warning[512];

/* Sets one key in a fresh job; the caller looks at o, e, warning. */
static int set_with(const char *key, const char *value, unsigned int kb_base)
{
	const struct option_desc *d = option_find(key);

	job_opts_release(&o);
	job_opts_init(&o);
	memset(&e, 0, sizeof(e));
	return d ? option_set(&o, d, value, kb_base, warning, sizeof(warning),
			      &e)
		 : -ENOENT;
}

static int set(const char *key, const char *value)
{
	return set_with(key, value, 1024);
}

static int says(const char *text)
{
	if (strstr(e.text, text))
		return 1;
	printf("# \"%s\" does not say \"%s\"\n", e.text, text);
	return 0;
}

static void test_table(void)
{
	const struct option_desc *d, *other;
	enum option_kind kind = OPTION_WORKS;

	CU_ASSERT_PTR_NOT_NULL(options_table()->heading);
	for (d = options_table(); d->name; d++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(d->help);
		CU_ASSERT_TRUE(d->help[0] != '\0');
		CU_ASSERT_TRUE(strlen(d->help) <= 130);
		CU_ASSERT_TRUE(d->kind >= kind); /* sorted by kind */
		kind = d->kind;
		CU_ASSERT_EQUAL(d->arg != NULL, d->kind == OPTION_WORKS);
		for (other = d + 1; other->name; other++) {
			CU_ASSERT_STRING_NOT_EQUAL(d->name, other->name);
			if (other->alias)
				CU_ASSERT_STRING_NOT_EQUAL(d->name,
							   other->alias);
			if (d->alias)
				CU_ASSERT_STRING_NOT_EQUAL(d->alias,
							   other->name);
		}
		CU_ASSERT_PTR_EQUAL(option_find(d->name), d);
		if (d->alias)
			CU_ASSERT_PTR_EQUAL(option_find(d->alias), d);
	}
	CU_ASSERT_PTR_NULL(option_find("BS"));
	CU_ASSERT_PTR_NULL(option_find(""));
}

/* Every key that the issue names. */
static void test_named_keys(void)
{
	static const char *const works[] = {"rw",
					    "bs",
					    "blocksize",
					    "bssplit",
					    "blockalign",
					    "iodepth",
					    "numjobs",
					    "size",
					    "io_size",
					    "number_ios",
					    "offset",
					    "offset_increment",
					    "runtime",
					    "time_based",
					    "ramp_time",
					    "startdelay",
					    "loops",
					    "stonewall",
					    "wait_for_previous",
					    "new_group",
					    "group_reporting",
					    "name",
					    "description",
					    "rwmixread",
					    "rwmixwrite",
					    "percentage_random",
					    "random_distribution",
					    "norandommap",
					    "randrepeat",
					    "allrandrepeat",
					    "randseed",
					    "thinktime",
					    "thinktime_blocks",
					    "rate",
					    "rate_iops",
					    "rate_process",
					    "fsync",
					    "fdatasync",
					    "end_fsync",
					    "buffer_compress_percentage",
					    "buffer_pattern",
					    "zero_buffers",
					    "refill_buffers",
					    "percentile_list",
					    "continue_on_error",
					    "kb_base",
					    "filesize"};
	static const char *const not_applicable[] = {
		"ioengine",
		"direct",
		"buffered",
		"thread",
		"filename",
		"directory",
		"invalidate",
		"nrfiles",
		"openfiles",
		"file_service_type",
		"create_serialize",
		"create_on_open",
		"fallocate",
		"iodepth_batch",
		"iodepth_batch_complete_min",
		"gtod_reduce",
		"disk_util",
		"cpus_allowed",
		"numa_cpu_nodes",
		"nice",
		"prio",
		"lockfile",
		"opendir",
		"write_bw_log",
		"write_lat_log",
		"log_avg_msec",
		"uid",
		"mem",
		"hugepage-size",
		"unit_base"};
	static const char *const unsupported[] = {
		"verify",  "zonemode",	   "latency_target",
		"bsrange", "bs_unaligned", "rate_min",
		"exitall", "create_only",  "sync"};
	size_t i;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(option_find(works[i]));
		CU_ASSERT_EQUAL(option_find(works[i])->kind, OPTION_WORKS);
	}
	for (i = 0; i < sizeof(not_applicable) / sizeof(char *); i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(option_find(not_applicable[i]));
		CU_ASSERT_EQUAL(option_find(not_applicable[i])->kind,
				OPTION_NOT_APPLICABLE);
	}
	for (i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(option_find(unsupported[i]));
		CU_ASSERT_EQUAL(option_find(unsupported[i])->kind,
				OPTION_UNSUPPORTED);
	}
}

static void test_unsupported(void)
{
	CU_ASSERT_EQUAL(set("verify", "crc32c"), -EOPNOTSUPP);
	CU_ASSERT_STRING_EQUAL(e.text,
			       "\"verify\" is not supported: lunbench run does "
			       "not compare data; lunbench check does");
	CU_ASSERT_EQUAL(set("bsrange", "4k-8k"), -EOPNOTSUPP);
	CU_ASSERT_TRUE(says("bssplit"));
	CU_ASSERT_EQUAL(set("rate_min", NULL), -EOPNOTSUPP);
	/* What asks for nothing is let through. */
	CU_ASSERT_EQUAL(set("verify", "0"), 0);
	CU_ASSERT_EQUAL(set("sync", "none"), 0);
	CU_ASSERT_EQUAL(set("sync", "0"), 0);
	CU_ASSERT_EQUAL(set("sync", "non"), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(set("sync", ""), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(set("zonemode", "none"), 0);
	CU_ASSERT_EQUAL(set("scramble_buffers", "0"), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(set("ioengine", "anything"), 0);
	CU_ASSERT_EQUAL(set("thread", NULL), 0);
}

static void test_nearest(void)
{
	CU_ASSERT_STRING_EQUAL(option_nearest("iodepht"), "iodepth");
	CU_ASSERT_STRING_EQUAL(option_nearest("BS"), "bs");
	CU_ASSERT_STRING_EQUAL(option_nearest("block_size"), "blocksize");
	CU_ASSERT_STRING_EQUAL(option_nearest("ramptime"), "ramp_time");
	CU_ASSERT_PTR_NULL(option_nearest("xyzzyplugh"));
	CU_ASSERT_PTR_NULL(option_nearest(""));
	CU_ASSERT_PTR_NULL(option_nearest(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_defaults(void)
{
	job_opts_release(&o);
	job_opts_init(&o);
	CU_ASSERT_EQUAL(o.ops, OP_BIT(OP_READ));
	CU_ASSERT_EQUAL(o.bs[OP_WRITE], 4096);
	CU_ASSERT_EQUAL(o.iodepth, 1);
	CU_ASSERT_EQUAL(o.rwmixread, 50);
	CU_ASSERT_EQUAL(o.percentage_random[OP_TRIM], 100);
	CU_ASSERT_EQUAL(o.nr_percentiles, 17);
	CU_ASSERT_EQUAL(o.percentiles[16], 99.99);
	CU_ASSERT_TRUE(o.randrepeat);
	CU_ASSERT_STRING_EQUAL(op_name(OP_FLUSH), "flush");
}

static void test_rw(void)
{
	CU_ASSERT_EQUAL(set("rw", "randrw"), 0);
	CU_ASSERT_EQUAL(o.ops, OP_BIT(OP_READ) | OP_BIT(OP_WRITE));
	CU_ASSERT_TRUE(o.is_random);
	CU_ASSERT_EQUAL(set("readwrite", "readwrite"), 0);
	CU_ASSERT_EQUAL(o.ops, OP_BIT(OP_READ) | OP_BIT(OP_WRITE));
	CU_ASSERT_FALSE(o.is_random);
	CU_ASSERT_EQUAL(set("rw", "randtrim"), 0);
	CU_ASSERT_EQUAL(o.ops, OP_BIT(OP_TRIM));
	CU_ASSERT_EQUAL(set("rw", "randread:8"), 0);
	CU_ASSERT_EQUAL(o.sequence, 8);
	CU_ASSERT_EQUAL(set("rw", "write:4k"), 0);
	CU_ASSERT_EQUAL(o.step_bytes, 4096);
	CU_ASSERT_EQUAL(o.sequence, 1);
	CU_ASSERT_EQUAL(set("rw", "read:-8k"), 0);
	CU_ASSERT_EQUAL(o.step_bytes, -8192);

	CU_ASSERT_EQUAL(set("rw", "randread:0"), -ERANGE);
	CU_ASSERT_EQUAL(set("rw", "randread:-1"), -EINVAL);
	CU_ASSERT_EQUAL(set("rw", "read:50%"), -ERANGE);
	CU_ASSERT_EQUAL(set("rw", "read:"), -EINVAL);
	CU_ASSERT_EQUAL(set("rw", "Read"), -EINVAL);
	CU_ASSERT_EQUAL(set("rw", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("rw", "trimwrite"), -EINVAL);
	CU_ASSERT_TRUE(says("\"trimwrite\" is not supported"));
	CU_ASSERT_EQUAL(set("rw", "readread"), -EINVAL);
	CU_ASSERT_TRUE(says("\"rw=readread\": \"readread\" is not read, "));
	CU_ASSERT_EQUAL(o.ops, OP_BIT(OP_READ)); /* as it was */
}

static void check_bs(const char *value, uint32_t r, uint32_t w, uint32_t t)
{
	CU_ASSERT_EQUAL(set("bs", value), 0);
	CU_ASSERT_EQUAL(o.bs[OP_READ], r);
	CU_ASSERT_EQUAL(o.bs[OP_WRITE], w);
	CU_ASSERT_EQUAL(o.bs[OP_TRIM], t);
}

/* HOWTO, "blocksize": its five examples, and the ends of the range. */
static void test_bs(void)
{
	check_bs("256k", 262144, 262144, 262144);
	check_bs("8k,32k", 8192, 32768, 32768);
	check_bs("8k,32k,", 8192, 32768, 4096);
	check_bs(",8k", 4096, 8192, 8192);
	check_bs(",8k,", 4096, 8192, 4096);
	check_bs("1k,2k,3k", 1024, 2048, 3072);
	check_bs("8k,", 8192, 4096, 4096);
	check_bs("1g", 1 << 30, 1 << 30, 1 << 30);
	CU_ASSERT_EQUAL(set("bs", "0"), -ERANGE);
	CU_ASSERT_STRING_EQUAL(e.text, "\"bs=0\": 0 is outside 1..1073741824");
	CU_ASSERT_EQUAL(set("bs", "2g"), -ERANGE);
	CU_ASSERT_EQUAL(set("bs", "-4k"), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", "4q"), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", "50%"), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", "1k,2k,3k,4k"), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", "4k-8k"), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", ","), -EINVAL);
	CU_ASSERT_EQUAL(set("bs", NULL), -EINVAL);
	CU_ASSERT_TRUE(says("\"bs\" needs a value: bs=SIZE"));
	CU_ASSERT_EQUAL(set("bs", "99999999999999999999"), -ERANGE);
}

static void test_kib_warning(void)
{
	CU_ASSERT_EQUAL(set("bs", "4k,4kib"), 0);
	CU_ASSERT_EQUAL(o.bs[OP_WRITE], 4000);
	CU_ASSERT_STRING_EQUAL(warning,
			       "\"bs=4k,4kib\": as in fio, 4kib means 4000 "
			       "bytes with kb_base=1024; for powers of 1024 "
			       "write 4k");
	CU_ASSERT_EQUAL(set_with("size", "1gi", 1000), 0);
	CU_ASSERT_EQUAL(o.size.bytes, 1000000000);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "write 1giB"));
	CU_ASSERT_EQUAL(set("rw", "read:4kib"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "4000 bytes"));
	CU_ASSERT_EQUAL(set("size", "1g"), 0);
	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_EQUAL(set_with("bs", "4kib", 1000), 0);
	CU_ASSERT_EQUAL(o.bs[OP_READ], 4096);
	CU_ASSERT_STRING_EQUAL(warning, "");
}

static void test_bssplit(void)
{
	CU_ASSERT_EQUAL(set("bssplit", "4k/10:64k/50:32k/40"), 0);
	CU_ASSERT_EQUAL(o.nr_bssplit[OP_READ], 3);
	CU_ASSERT_EQUAL(o.nr_bssplit[OP_TRIM], 3);
	CU_ASSERT_EQUAL(o.bssplit[OP_READ][1].bytes, 65536);
	CU_ASSERT_EQUAL(o.bssplit[OP_READ][1].percent, 50);
	/* Blank, zero and missing shares get what is left. */
	CU_ASSERT_EQUAL(set("bssplit", "4k/50:1k/:32k/0:2k"), 0);
	CU_ASSERT_DOUBLE_EQUAL(o.bssplit[OP_READ][1].percent, 50. / 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(o.bssplit[OP_READ][3].percent, 50. / 3, 1e-9);
	CU_ASSERT_EQUAL(set("bssplit", "8k"), 0);
	CU_ASSERT_EQUAL(o.bssplit[OP_READ][0].percent, 100);
	CU_ASSERT_EQUAL(set("bssplit", "2k/50:4k/50,4k/90:8k/10"), 0);
	CU_ASSERT_EQUAL(o.bssplit[OP_WRITE][0].percent, 90);
	CU_ASSERT_EQUAL(o.bssplit[OP_TRIM][1].bytes, 8192);
	CU_ASSERT_EQUAL(set("bssplit", ",4k/90:8k/10"), 0);
	CU_ASSERT_EQUAL(o.nr_bssplit[OP_READ], 0);
	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_EQUAL(set("bssplit", "1k/33:2k/33:4k/33"), 0);
	CU_ASSERT_DOUBLE_EQUAL(o.bssplit[OP_READ][0].percent, 100. / 3, 1e-9);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, "add up to 99; scaled"));

	CU_ASSERT_EQUAL(set("bssplit", "4k/60:8k/50"), -ERANGE);
	CU_ASSERT_TRUE(says("add up to 110"));
	CU_ASSERT_EQUAL(set("bssplit", "4k/101"), -ERANGE);
	CU_ASSERT_EQUAL(set("bssplit", "4k/nan"), -EINVAL);
	CU_ASSERT_EQUAL(set("bssplit", "4k/-5:8k"), -EINVAL);
	CU_ASSERT_EQUAL(set("bssplit", "4k/50:"), -EINVAL);
	CU_ASSERT_EQUAL(set("bssplit", "0/50:4k/50"), -ERANGE);
	CU_ASSERT_EQUAL(set("bssplit", ""), -EINVAL);
	CU_ASSERT_EQUAL(o.nr_bssplit[OP_READ], 0);
}

static void test_distribution(void)
{
	CU_ASSERT_EQUAL(set("random_distribution", "zipf"), 0);
	CU_ASSERT_EQUAL(o.distribution.param, 1.1);
	CU_ASSERT_TRUE(o.distribution.center < 0);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:1.2:0.25"), 0);
	CU_ASSERT_EQUAL(o.distribution.kind, DIST_ZIPF);
	CU_ASSERT_EQUAL(o.distribution.param, 1.2);
	CU_ASSERT_EQUAL(o.distribution.center, 0.25);
	CU_ASSERT_EQUAL(set("random_distribution", "pareto:0.3"), 0);
	CU_ASSERT_EQUAL(o.distribution.kind, DIST_PARETO);
	CU_ASSERT_EQUAL(set("random_distribution", "normal:12.5"), 0);
	CU_ASSERT_EQUAL(o.distribution.kind, DIST_NORMAL);
	CU_ASSERT_EQUAL(
		set("random_distribution", "zoned:60/10:30/20:8/30:2/40"), 0);
	CU_ASSERT_EQUAL(o.distribution.nr_zones, 4);
	CU_ASSERT_EQUAL(o.distribution.zones[1].access, 30);
	CU_ASSERT_EQUAL(o.distribution.zones[1].size, 20);
	CU_ASSERT_EQUAL(set("random_distribution", "zoned:50/10:50/"), 0);
	CU_ASSERT_EQUAL(o.distribution.zones[1].size, 90);

	CU_ASSERT_EQUAL(set("random_distribution", "zoned:50/10:40/90"),
			-EINVAL);
	CU_ASSERT_TRUE(says("accesses add up to 90 percent"));
	CU_ASSERT_EQUAL(set("random_distribution", "zoned:50/60:50/60"),
			-ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "zoned"), -EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "zoned:100/50,100/50"),
			-EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "zoned_abs:50/1g:50/2g"),
			-EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:1"), -ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:0"), -ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "pareto:1"), -ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "normal:100"), -ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:1.2:2"), -ERANGE);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:inf"), -EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "zipf:1.2x"), -EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "random:1"), -EINVAL);
	CU_ASSERT_EQUAL(set("random_distribution", "flat"), -EINVAL);
}

/* The bytes are what fio 3.33 wrote for the same texts. */
static void test_pattern(void)
{
	CU_ASSERT_EQUAL(set("buffer_pattern", "0xdeadface"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 4);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "\xde\xad\xfa\xce", 4), 0);
	CU_ASSERT_EQUAL(set("buffer_pattern", "0xabc"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 2);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "\x0a\xbc", 2), 0);
	CU_ASSERT_EQUAL(set("buffer_pattern", "-12"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 4);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "\xf4\xff\xff\xff", 4), 0);
	CU_ASSERT_EQUAL(set("buffer_pattern", "300"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 2);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "\x2c\x01", 2), 0);
	CU_ASSERT_EQUAL(set("buffer_pattern", "0"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 1);
	CU_ASSERT_EQUAL(set("buffer_pattern", "\"abcd\"0x1"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 5);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "abcd\x01", 5), 0);
	CU_ASSERT_EQUAL(set("buffer_pattern", "0xff0x14-100xab"), 0);
	CU_ASSERT_EQUAL(o.pattern_len, 7);
	CU_ASSERT_EQUAL(memcmp(o.pattern, "\xff\x14\xf6\xff\xff\xff\xab", 7),
			0);

	CU_ASSERT_EQUAL(set("buffer_pattern", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "\"\""), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "\"abc"), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "abc"), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "0x"), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "2147483648"), -EINVAL);
	CU_ASSERT_EQUAL(set("buffer_pattern", "'/etc/passwd'"), -EINVAL);
	CU_ASSERT_TRUE(says("not supported"));
}

static void test_long_pattern(void)
{
	char text[2 * PATTERN_MAX + 8];
	size_t i, n = strlen(strcpy(text, "0x"));

	for (i = 0; i < 2 * PATTERN_MAX; i++)
		text[n++] = 'f';
	text[n] = '\0';
	CU_ASSERT_EQUAL(set("buffer_pattern", text), 0);
	CU_ASSERT_EQUAL(o.pattern_len, PATTERN_MAX);
	strcpy(text + n, "ff");
	CU_ASSERT_EQUAL(set("buffer_pattern", text), -EINVAL);
	CU_ASSERT_TRUE(says("over 512 bytes"));
}

static void test_numbers(void)
{
	CU_ASSERT_EQUAL(set("iodepth", "32"), 0);
	CU_ASSERT_EQUAL(o.iodepth, 32);
	CU_ASSERT_EQUAL(set("iodepth", "0"), -ERANGE);
	CU_ASSERT_STRING_EQUAL(e.text, "\"iodepth=0\": 0 is outside 1..65536");
	CU_ASSERT_EQUAL(set("numjobs", "0"), -ERANGE);
	CU_ASSERT_EQUAL(set("clients", "0"), -ERANGE);
	CU_ASSERT_EQUAL(set("number_ios", "1m"), 0);
	CU_ASSERT_EQUAL(o.number_ios, 1 << 20);
	CU_ASSERT_EQUAL(set("rwmixwrite", "30"), 0);
	CU_ASSERT_EQUAL(o.rwmixread, 70);
	CU_ASSERT_EQUAL(set("rwmixread", "101"), -ERANGE);
	CU_ASSERT_EQUAL(set("percentage_random", "100,50"), 0);
	CU_ASSERT_EQUAL(o.percentage_random[OP_READ], 100);
	CU_ASSERT_EQUAL(o.percentage_random[OP_TRIM], 50);
	CU_ASSERT_EQUAL(set("percentage_random", "101"), -ERANGE);
	CU_ASSERT_EQUAL(set("rate", "1m,500k"), 0);
	CU_ASSERT_EQUAL(o.rate[OP_READ], 1 << 20);
	CU_ASSERT_EQUAL(o.rate[OP_WRITE], 500 << 10);
	CU_ASSERT_EQUAL(set("rate_iops", ",100,"), 0);
	CU_ASSERT_EQUAL(o.rate_iops[OP_READ], 0);
	CU_ASSERT_EQUAL(o.rate_iops[OP_WRITE], 100);
	CU_ASSERT_EQUAL(o.rate_iops[OP_TRIM], 0);
	CU_ASSERT_EQUAL(set("randseed", "42"), 0);
	CU_ASSERT_TRUE(o.randseed_set);
	CU_ASSERT_EQUAL(o.randseed, 42);
	CU_ASSERT_EQUAL(set("size", "25%"), 0);
	CU_ASSERT_TRUE(o.size.set && o.size.is_percent);
	CU_ASSERT_EQUAL(o.size.percent, 25);
	CU_ASSERT_EQUAL(set("size", "110%"), -ERANGE);
	CU_ASSERT_EQUAL(set("runtime", "30"), 0);
	CU_ASSERT_EQUAL(o.runtime_ns, 30000000000);
	CU_ASSERT_EQUAL(set("timeout", "2m"), 0);
	CU_ASSERT_EQUAL(o.runtime_ns, 120000000000);
	CU_ASSERT_EQUAL(set("thinktime", "30"), 0);
	CU_ASSERT_EQUAL(o.thinktime_ns, 30000);
	CU_ASSERT_EQUAL(set("startdelay", "1-5"), -EINVAL);
}

static void test_words(void)
{
	CU_ASSERT_EQUAL(set("stonewall", NULL), 0);
	CU_ASSERT_TRUE(o.stonewall);
	CU_ASSERT_EQUAL(set("stonewall", "0"), 0);
	CU_ASSERT_FALSE(o.stonewall);
	CU_ASSERT_EQUAL(set("stonewall", "yes"), -EINVAL);
	CU_ASSERT_EQUAL(set("randrepeat", "0"), 0);
	CU_ASSERT_FALSE(o.randrepeat);
	CU_ASSERT_EQUAL(set("randrepeat", NULL), -EINVAL);
	CU_ASSERT_EQUAL(set("rate_process", "poisson"), 0);
	CU_ASSERT_EQUAL(o.rate_process, RATE_POISSON);
	CU_ASSERT_EQUAL(set("rate_process", "gamma"), -EINVAL);
	CU_ASSERT_EQUAL(set("continue_on_error", "io"), 0);
	CU_ASSERT_EQUAL(o.continue_on_error,
			OP_BIT(OP_READ) | OP_BIT(OP_WRITE) | OP_BIT(OP_TRIM));
	CU_ASSERT_EQUAL(set("continue_on_error", "all"), 0);
	CU_ASSERT_EQUAL(o.continue_on_error, 15);
	CU_ASSERT_EQUAL(set("continue_on_error", "some"), -EINVAL);
	CU_ASSERT_EQUAL(set("kb_base", "1000"), 0);
	CU_ASSERT_EQUAL(o.kb_base, 1000);
	CU_ASSERT_EQUAL(set("kb_base", "1023"), -EINVAL);
	CU_ASSERT_EQUAL(set("percentile_list", "99.9:50:99:50"), 0);
	CU_ASSERT_EQUAL(o.nr_percentiles, 3);
	CU_ASSERT_EQUAL(o.percentiles[0], 50);
	CU_ASSERT_EQUAL(o.percentiles[2], 99.9);
	CU_ASSERT_EQUAL(set("percentile_list", "0"), -ERANGE);
	CU_ASSERT_EQUAL(set("percentile_list", "100.1"), -ERANGE);
	CU_ASSERT_EQUAL(set("percentile_list", "50:"), -EINVAL);
	CU_ASSERT_EQUAL(
		set("percentile_list",
		    "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21"),
		-EINVAL);
}

static void test_copy(void)
{
	struct job_opts copy;

	CU_ASSERT_EQUAL(set("bssplit", "4k/50:8k/50"), 0);
	o.name = strdup("one");
	CU_ASSERT_EQUAL(option_set(&o, option_find("random_distribution"),
				   "zoned:50/50:50/50", 1024, warning,
				   sizeof(warning), &e),
			0);
	CU_ASSERT_EQUAL_FATAL(job_opts_copy(&copy, &o), 0);
	job_opts_release(&o);
	CU_ASSERT_STRING_EQUAL(copy.name, "one");
	CU_ASSERT_EQUAL(copy.bssplit[OP_WRITE][1].bytes, 8192);
	CU_ASSERT_EQUAL(copy.distribution.zones[1].access, 50);
	job_opts_release(&copy);
	job_opts_release(&copy); /* takes a zeroed one */
}

static void test_set_again(void)
{
	CU_ASSERT_EQUAL(set("bssplit", "4k/50:8k/50"), 0);
	CU_ASSERT_EQUAL(option_set(&o, option_find("bssplit"), "1k,2k,4k", 1024,
				   warning, sizeof(warning), &e),
			0);
	CU_ASSERT_EQUAL(o.nr_bssplit[OP_READ], 1);
	CU_ASSERT_EQUAL(o.bssplit[OP_TRIM][0].bytes, 4096);
	CU_ASSERT_EQUAL(option_set(&o, option_find("description"), "a", 1024,
				   warning, sizeof(warning), &e),
			0);
	CU_ASSERT_EQUAL(option_set(&o, option_find("description"), "b", 1024,
				   warning, sizeof(warning), &e),
			0);
	CU_ASSERT_STRING_EQUAL(o.description, "b");
	job_opts_release(&o);
}

static void test_steps(void)
{
	CU_ASSERT_EQUAL_FATAL(set("clients", "7"), 0);
	CU_ASSERT_EQUAL(o.clients, 7);
	CU_ASSERT_EQUAL(o.nr_steps, 0);
	CU_ASSERT_EQUAL_FATAL(set("clients", "1,4-13:4,20"), 0);
	CU_ASSERT_EQUAL(o.clients, 20);
	CU_ASSERT_EQUAL_FATAL(o.nr_steps, 5);
	CU_ASSERT_EQUAL(o.steps[0], 1);
	CU_ASSERT_EQUAL(o.steps[3], 12);
	CU_ASSERT_EQUAL(o.steps[4], 20);
	CU_ASSERT_EQUAL_FATAL(set("clients", "2-4"), 0);
	CU_ASSERT_EQUAL(o.nr_steps, 3);
	CU_ASSERT_EQUAL_FATAL(set("clients", "4-4"), 0);
	CU_ASSERT_EQUAL(o.nr_steps, 0);
	CU_ASSERT_EQUAL(set("clients", "1-256"), 0);
	CU_ASSERT_EQUAL(o.nr_steps, 256);
	CU_ASSERT_EQUAL(set("clients", "1-257"), -E2BIG);
	CU_ASSERT_EQUAL(set("clients", "1,0"), -ERANGE);
	CU_ASSERT_EQUAL(set("clients", "1-65537:100000"), -ERANGE);
	CU_ASSERT_EQUAL(set("clients", "4-1"), -EINVAL);
	CU_ASSERT_EQUAL(set("clients", "1,1"), -EINVAL);
	CU_ASSERT_EQUAL(set("clients", "1-4:0"), -ERANGE);
	CU_ASSERT_EQUAL(set("clients", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("clients", "1,"), -EINVAL);
	CU_ASSERT_EQUAL(set("clients", "-4"), -EINVAL);
	CU_ASSERT_EQUAL(set("clients", "4-"), -EINVAL);
	/* One number takes a list back. */
	CU_ASSERT_EQUAL_FATAL(set("clients", "1,2"), 0);
	CU_ASSERT_EQUAL(option_set(&o, option_find("clients"), "3", 1024,
				   warning, sizeof(warning), &e),
			0);
	CU_ASSERT_EQUAL(o.nr_steps, 0);
	CU_ASSERT_EQUAL(o.clients, 3);
}

static void test_until(void)
{
	char text[32];

	CU_ASSERT_EQUAL_FATAL(set("until", "ci:2.5%"), 0);
	CU_ASSERT_EQUAL(o.until.kind, UNTIL_CI);
	CU_ASSERT_EQUAL(o.until.percent, 2.5);
	until_format(&o.until, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "ci:2.5%");
	CU_ASSERT_EQUAL_FATAL(set("until", "steady"), 0);
	CU_ASSERT_EQUAL(o.until.kind, UNTIL_STEADY);
	CU_ASSERT_EQUAL(set("until", "ci:2"), 0);
	CU_ASSERT_EQUAL(set("until", "ci:"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci:nan"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci:0x2"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci: 2"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci:-2%"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci:1e1%"), -EINVAL);
	CU_ASSERT_EQUAL(set("until", "ci:100%"), -ERANGE);
	CU_ASSERT_EQUAL(set("until", "ci:0%"), -ERANGE);
	CU_ASSERT_EQUAL(set("until", "foo"), -EINVAL);
}

static void test_own_words(void)
{
	CU_ASSERT_EQUAL(set("misfit", "adapt"), 0);
	CU_ASSERT_EQUAL(o.misfit, MISFIT_ADAPT);
	CU_ASSERT_EQUAL(set("view", "copy"), 0);
	CU_ASSERT_STRING_EQUAL(view_name(o.view), "copy");
	CU_ASSERT_EQUAL(set("view", "none"), 0);
	CU_ASSERT_PTR_NULL(view_name(o.view));
	CU_ASSERT_EQUAL(set("repeat_order", "together"), 0);
	CU_ASSERT_TRUE(o.repeats_together);
	CU_ASSERT_EQUAL(set("view", "cop"), -EINVAL);
	CU_ASSERT_TRUE(says("\"cop\" is none of none|bars|cdm|copy"));
	CU_ASSERT_EQUAL(set("view", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("departs", ""), -EINVAL);
	CU_ASSERT_EQUAL(set("departs", "a"), 0);
	CU_ASSERT_EQUAL(o.nr_departs, 1);
	CU_ASSERT_EQUAL(set("workspace", "0"), -ERANGE);
}

UNIT_TESTS("options", {"table is whole", test_table},
	   {"keys of the issue", test_named_keys},
	   {"unsupported keys", test_unsupported},
	   {"nearest key", test_nearest}, {"defaults", test_defaults},
	   {"rw", test_rw}, {"bs", test_bs}, {"KiB warning", test_kib_warning},
	   {"bssplit", test_bssplit},
	   {"random_distribution", test_distribution},
	   {"buffer_pattern", test_pattern},
	   {"long buffer_pattern", test_long_pattern},
	   {"numbers", test_numbers}, {"words", test_words},
	   {"copy is deep", test_copy}, {"set again", test_set_again},
	   {"steps", test_steps}, {"until", test_until},
	   {"words of ours", test_own_words})
