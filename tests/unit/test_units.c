#include <errno.h>
#include <inttypes.h>

#include "base/units.h"
#include "tests/unit/unit.h"

static uint64_t size_of(const char *text, unsigned int kb_base)
{
	struct size_value v;
	struct err e;

	if (units_parse_size(text, kb_base, &v, &e) || v.is_percent)
		return UINT64_MAX;
	return v.bytes;
}

/* Each figure was read off fio 3.33: --ioengine=null --bs=TEXT
 * --number_ios=1 --output-format=json. */
static void test_sizes_as_fio(void)
{
	CU_ASSERT_EQUAL(size_of("4096", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("4b", 1024), 4);
	CU_ASSERT_EQUAL(size_of("4k", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("4K", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("4kb", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("4ki", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("4kib", 1024), 4000);
	CU_ASSERT_EQUAL(size_of("4KiB", 1024), 4000);
	CU_ASSERT_EQUAL(size_of("4k", 1000), 4000);
	CU_ASSERT_EQUAL(size_of("4kb", 1000), 4000);
	CU_ASSERT_EQUAL(size_of("4ki", 1000), 4000);
	CU_ASSERT_EQUAL(size_of("4kib", 1000), 4096);
	CU_ASSERT_EQUAL(size_of("1m", 1024), 1 << 20);
	CU_ASSERT_EQUAL(size_of("1g", 1024), 1 << 30);
	CU_ASSERT_EQUAL(size_of("3t", 1024), 3ULL << 40);
	CU_ASSERT_EQUAL(size_of("2P", 1024), 2ULL << 50);
	CU_ASSERT_EQUAL(size_of("0x1000", 1024), 4096);
	CU_ASSERT_EQUAL(size_of("0X1b", 1024), 0x1b);
	CU_ASSERT_EQUAL(size_of("+5", 1024), 5);
	CU_ASSERT_EQUAL(size_of("18446744073709551615", 1024), UINT64_MAX);
}

static void test_kib_trap(void)
{
	struct size_value v;
	struct err e;

	CU_ASSERT_EQUAL(units_parse_size("4kib", 1024, &v, &e), 0);
	CU_ASSERT_TRUE(v.kib_trap);
	CU_ASSERT_EQUAL(units_parse_size("4ki", 1024, &v, &e), 0);
	CU_ASSERT_FALSE(v.kib_trap);
	CU_ASSERT_EQUAL(units_parse_size("4ki", 1000, &v, &e), 0);
	CU_ASSERT_TRUE(v.kib_trap);
	CU_ASSERT_EQUAL(units_parse_size("4kib", 1000, &v, &e), 0);
	CU_ASSERT_FALSE(v.kib_trap);
	CU_ASSERT_EQUAL(units_parse_size("4k", 1000, &v, &e), 0);
	CU_ASSERT_FALSE(v.kib_trap);
}

static void test_percent(void)
{
	struct size_value v;
	struct err e;

	CU_ASSERT_EQUAL(units_parse_size("50%", 1024, &v, &e), 0);
	CU_ASSERT_TRUE(v.is_percent);
	CU_ASSERT_EQUAL(v.percent, 50);
	CU_ASSERT_EQUAL(units_parse_size("12.5%", 1024, &v, &e), 0);
	CU_ASSERT_EQUAL(v.percent, 12.5);
	CU_ASSERT_EQUAL(units_parse_size("100%", 1024, &v, &e), 0);
	CU_ASSERT_EQUAL(units_parse_size("101%", 1024, &v, &e), -ERANGE);
	CU_ASSERT_STRING_EQUAL(e.text, "\"101%\" is more than 100%");
	CU_ASSERT_EQUAL(units_parse_size("%", 1024, &v, &e), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_size("-5%", 1024, &v, &e), -EINVAL);
}

static void test_bad_sizes(void)
{
	static const struct {
		const char *text;
		int ret;
		const char *says;
	} bad[] = {
		{"", -EINVAL, "the value is empty"},
		{"4x", -EINVAL, "\"4x\" is not a size"},
		{"k", -EINVAL, "is not a size"},
		{"4kk", -EINVAL, "is not a size"},
		{"4kibb", -EINVAL, "is not a size"},
		{"4i", -EINVAL, "is not a size"},
		{"4 k", -EINVAL, "is not a size"},
		{"1.5g", -EINVAL, "is not a size"},
		{"0x", -EINVAL, "is not a size"},
		{"0x1g", -EINVAL, "is not a size"},
		{"-4k", -EINVAL, "\"-4k\" is negative"},
		{"(4*1024)", -EINVAL, "arithmetic expression"},
		{"18446744073709551616", -ERANGE, "too large for 64 bits"},
		{"99999p", -ERANGE, "\"99999p\" is too large"},
		{"0x10000000000000000", -ERANGE, "too large"},
	};
	struct size_value v;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(units_parse_size(bad[i].text, 1024, &v, &e),
				bad[i].ret);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, bad[i].says));
	}
	CU_ASSERT_EQUAL(units_parse_size("4x", 1024, &v, NULL), -EINVAL);
}

static uint64_t time_of(const char *text, uint64_t unit)
{
	uint64_t ns;

	return units_parse_time(text, unit, &ns, NULL) ? UINT64_MAX : ns;
}

static void test_times(void)
{
	CU_ASSERT_EQUAL(time_of("30", 1000000000), 30000000000);
	CU_ASSERT_EQUAL(time_of("30", 1000), 30000);
	CU_ASSERT_EQUAL(time_of("30s", 1000), 30000000000);
	CU_ASSERT_EQUAL(time_of("2sec", 1000), 2000000000);
	CU_ASSERT_EQUAL(time_of("1m", 1000), 60000000000);
	CU_ASSERT_EQUAL(time_of("1H", 1000), 3600000000000);
	CU_ASSERT_EQUAL(time_of("1d", 1000), 86400000000000);
	CU_ASSERT_EQUAL(time_of("250ms", 1000), 250000000);
	CU_ASSERT_EQUAL(time_of("5msec", 1000), 5000000);
	CU_ASSERT_EQUAL(time_of("10US", 1), 10000);
	CU_ASSERT_EQUAL(time_of("10usec", 1), 10000);
	CU_ASSERT_EQUAL(time_of("7ns", 1000), 7);
	CU_ASSERT_EQUAL(time_of("7nsec", 1000), 7);
	CU_ASSERT_EQUAL(time_of("1.5s", 1000), 1500000000);
	CU_ASSERT_EQUAL(time_of(".25ms", 1000), 250000);
	CU_ASSERT_EQUAL(time_of("0", 1000), 0);
}

static void test_bad_times(void)
{
	static const char *const bad[] = {"",	 "-1",	 "1x",	"s",
					  "1.s", ".",	 "1e3", "1 s",
					  "+1",	 "5-10", "0x10"};
	struct err e;
	uint64_t ns;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(units_parse_time(bad[i], 1000, &ns, &e),
				-EINVAL);
	CU_ASSERT_EQUAL(units_parse_time("-1", 1000, &ns, &e), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"-1\" is negative"));
	CU_ASSERT_EQUAL(units_parse_time("213504d", 1000, &ns, &e), -ERANGE);
	CU_ASSERT_EQUAL(units_parse_time("18446744073.8s", 1, &ns, &e),
			-ERANGE);
}

static void test_uint(void)
{
	struct err e;
	uint64_t n = 0;

	CU_ASSERT_EQUAL(units_parse_uint("17", 1, 20, &n, &e), 0);
	CU_ASSERT_EQUAL(n, 17);
	CU_ASSERT_EQUAL(units_parse_uint("0", 1, 20, &n, &e), -ERANGE);
	CU_ASSERT_STRING_EQUAL(e.text, "0 is outside 1..20");
	CU_ASSERT_EQUAL(units_parse_uint("21", 1, 20, &n, &e), -ERANGE);
	CU_ASSERT_EQUAL(units_parse_uint("-1", 0, 20, &n, &e), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_uint("1k", 0, 20, &n, &e), -EINVAL);
	CU_ASSERT_EQUAL(units_parse_uint("", 0, 20, &n, &e), -EINVAL);
}

static void test_texts(void)
{
	char b[32];

#define BYTES(n) units_bytes(b, sizeof(b), n)
	CU_ASSERT_STRING_EQUAL(BYTES(0), "0 B");
	CU_ASSERT_STRING_EQUAL(BYTES(513), "513 B");
	CU_ASSERT_STRING_EQUAL(BYTES(4000), "4000 B");
	CU_ASSERT_STRING_EQUAL(BYTES(4096), "4 KiB");
	CU_ASSERT_STRING_EQUAL(BYTES(1536), "1.5 KiB");
	CU_ASSERT_STRING_EQUAL(BYTES(1ULL << 30), "1 GiB");
	CU_ASSERT_STRING_EQUAL(BYTES(3ULL << 29), "1.5 GiB");
	CU_ASSERT_STRING_EQUAL(BYTES(5ULL << 28), "1.25 GiB");
	CU_ASSERT_STRING_EQUAL(BYTES(1000204886016), "931.51 GiB");
	CU_ASSERT_STRING_EQUAL(BYTES(UINT64_MAX), "16.00 EiB");
#define RATE(n) units_rate(b, sizeof(b), n)
	CU_ASSERT_STRING_EQUAL(RATE(123.4e6), "123.4 MB/s");
	CU_ASSERT_STRING_EQUAL(RATE(5e5), "0.500 MB/s");
	CU_ASSERT_STRING_EQUAL(RATE(5212e6), "5212 MB/s");
	CU_ASSERT_STRING_EQUAL(RATE(99999e3), "100.0 MB/s");
#define TIME(n) units_time(b, sizeof(b), n)
	CU_ASSERT_STRING_EQUAL(TIME(812), "812 ns");
	CU_ASSERT_STRING_EQUAL(TIME(999.6), "1.00 us");
	CU_ASSERT_STRING_EQUAL(TIME(14200), "14.2 us");
	CU_ASSERT_STRING_EQUAL(TIME(9996), "10.0 us");
	CU_ASSERT_STRING_EQUAL(TIME(3.05e6), "3.05 ms");
	CU_ASSERT_STRING_EQUAL(TIME(12e9), "12.0 s");
	CU_ASSERT_STRING_EQUAL(TIME(60e9), "1 min");
	CU_ASSERT_STRING_EQUAL(TIME(130e9), "2 min 10 s");
	CU_ASSERT_STRING_EQUAL(TIME(3600e9), "1 h");
	CU_ASSERT_STRING_EQUAL(TIME(3900e9), "1 h 5 min");
#define COUNT(n) units_count(b, sizeof(b), n)
	CU_ASSERT_STRING_EQUAL(COUNT(0), "0");
	CU_ASSERT_STRING_EQUAL(COUNT(1.25), "1.25");
	CU_ASSERT_STRING_EQUAL(COUNT(8120), "8120");
	CU_ASSERT_STRING_EQUAL(COUNT(12345), "12.3k");
	CU_ASSERT_STRING_EQUAL(COUNT(118000), "118k");
	CU_ASSERT_STRING_EQUAL(COUNT(1.25e6), "1.25M");
}

UNIT_TESTS("units", {"sizes as fio reads them", test_sizes_as_fio},
	   {"KiB trap", test_kib_trap}, {"percent", test_percent},
	   {"bad sizes", test_bad_sizes}, {"times", test_times},
	   {"bad times", test_bad_times}, {"whole numbers", test_uint},
	   {"texts for people", test_texts})
