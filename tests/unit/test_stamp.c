#include "initiator/stamp.h"

#include "base/crc32c.h"
#include "base/rng.h"
#include "tests/unit/unit.h"

enum { BLOCK = 512, LBA = 4711, RUN = 77, LOW = 30, HIGH = 30 };

static const struct stamp_want want = {
	.run = RUN, .lba = LBA, .low = LOW, .high = HIGH};

static void write_block(uint8_t *b, uint64_t run, uint64_t lba, uint32_t g)
{
	struct stamp s = {.run = run, .lba = lba, .generation = g, .client = 3};

	stamp_write(b, BLOCK, &s);
}

static enum stamp_kind kind_of(const uint8_t *b, const struct stamp_want *w)
{
	struct stamp_found f;

	stamp_classify(&f, w, b, BLOCK);
	return f.kind;
}

static void test_crc32c(void)
{
	uint8_t zeros[32] = {0}, data[1000];
	size_t i;

	CU_ASSERT_EQUAL(crc32c(zeros, sizeof(zeros)), 0x8a9136aa);
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	for (i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(
			crc32c(data + i, sizeof(data) - 2 * i),
			crc32c_from_table(0, data + i, sizeof(data) - 2 * i));
	CU_ASSERT_EQUAL(crc32c_more(crc32c(data, 13), data + 13, 500),
			crc32c(data, 513));
}

static void test_right(void)
{
	struct stamp_want range = want;
	struct stamp_found f;
	uint8_t b[BLOCK];

	write_block(b, RUN, LBA, LOW);
	stamp_classify(&f, &want, b, BLOCK);
	CU_ASSERT_EQUAL(f.kind, STAMP_OK);
	CU_ASSERT_TRUE(f.has_stamp);
	CU_ASSERT_EQUAL(f.stamp.client, 3);
	CU_ASSERT_EQUAL(f.first_wrong, BLOCK);
	/* A failed write: old and new are both right. */
	range.high = 35;
	CU_ASSERT_EQUAL(kind_of(b, &range), STAMP_OK);
	write_block(b, RUN, LBA, 35);
	CU_ASSERT_EQUAL(kind_of(b, &range), STAMP_OK);
}

static void test_nothing_promised(void)
{
	struct stamp_want w = {.run = RUN, .lba = LBA};
	uint8_t b[BLOCK] = {0};

	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_UNWRITTEN);
	memset(b, 0x5a, sizeof(b));
	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_UNWRITTEN);
	write_block(b, RUN + 1, LBA, 9);
	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_UNWRITTEN);
	/* What this run meant for another LBA was not there before. */
	write_block(b, RUN, LBA + 1, 9);
	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_MISDIRECTED);
	/* The first write failed. */
	w.high = 9;
	memset(b, 0, sizeof(b));
	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_UNWRITTEN);
	w = want;
	w.may_be_trimmed = true;
	CU_ASSERT_EQUAL(kind_of(b, &w), STAMP_TRIMMED);
}

static void test_wrong(void)
{
	struct stamp_found f;
	uint8_t b[BLOCK] = {0};

	stamp_classify(&f, &want, b, BLOCK);
	CU_ASSERT_EQUAL(f.kind, STAMP_ZEROED);
	CU_ASSERT_EQUAL(f.first_wrong, 0);
	memset(b, 0x5a, sizeof(b));
	CU_ASSERT_EQUAL(kind_of(b, &want), STAMP_FOREIGN);
	write_block(b, RUN, LBA, LOW - 1);
	stamp_classify(&f, &want, b, BLOCK);
	CU_ASSERT_EQUAL(f.kind, STAMP_LOST);
	CU_ASSERT_EQUAL(f.stamp.generation, LOW - 1);
	CU_ASSERT_EQUAL(f.first_wrong, 24);
	write_block(b, RUN, LBA - 5, LOW);
	stamp_classify(&f, &want, b, BLOCK);
	CU_ASSERT_EQUAL(f.kind, STAMP_MISDIRECTED);
	CU_ASSERT_EQUAL(f.stamp.lba, LBA - 5);
	CU_ASSERT_EQUAL(f.first_wrong, 16);
	write_block(b, RUN + 1, LBA + 7, LOW);
	CU_ASSERT_EQUAL(kind_of(b, &want), STAMP_FOREIGN);
	/* Of an earlier run, at its place: nothing was written since. */
	write_block(b, RUN + 1, LBA, LOW);
	stamp_classify(&f, &want, b, BLOCK);
	CU_ASSERT_EQUAL(f.kind, STAMP_LOST);
	CU_ASSERT_TRUE(f.is_of_other_run);
	write_block(b, RUN, LBA, HIGH + 1);
	CU_ASSERT_EQUAL(kind_of(b, &want), STAMP_FOREIGN);
}

/* Every single bit, one after another. */
static void test_each_bit(void)
{
	struct stamp_found f;
	uint8_t b[BLOCK];
	size_t i, bad = 0;

	write_block(b, RUN, LBA, LOW);
	for (i = 0; i < 8 * BLOCK; i++) {
		b[i / 8] ^= 1u << i % 8;
		stamp_classify(&f, &want, b, BLOCK);
		/* The client (28) and the checksum nobody can know. */
		bad += f.kind != STAMP_ROTTEN ||
		       (f.first_wrong != i / 8 && !(i / 8 >= 28 && i / 8 < 36));
		b[i / 8] ^= 1u << i % 8;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(kind_of(b, &want), STAMP_OK);
}

/* Two halves of different times, cut at each word; and a half that is not
 * there. */
static void test_torn_inside(void)
{
	uint8_t old[BLOCK], new[BLOCK], b[BLOCK];
	struct stamp_found f;
	size_t cut, bad = 0;

	write_block(old, RUN, LBA, 12);
	write_block(new, RUN, LBA, LOW);
	for (cut = 40; cut < BLOCK; cut += 8) {
		memcpy(b, new, cut);
		memcpy(b + cut, old + cut, BLOCK - cut);
		stamp_classify(&f, &want, b, BLOCK);
		bad += f.kind != STAMP_TORN || !f.is_torn_inside ||
		       f.stamp.generation != LOW || f.other != 12 ||
		       f.first_wrong != cut;
		memcpy(b, old, cut);
		memcpy(b + cut, new + cut, BLOCK - cut);
		bad += kind_of(b, &want) != STAMP_TORN;
		memcpy(b, new, cut);
		memset(b + cut, 0, BLOCK - cut);
		if (cut > 40)
			bad += kind_of(b, &want) != STAMP_TORN;
	}
	CU_ASSERT_EQUAL(bad, 0);
}

/* Any bytes are safe, and nothing that is not whole passes. */
static void test_noise(void)
{
	uint8_t b[BLOCK], right[BLOCK];
	struct rng r;
	size_t i, n, passed = 0;

	rng_init(&r, 5);
	write_block(right, RUN, LBA, LOW);
	for (i = 0; i < 20000; i++) {
		memcpy(b, right, BLOCK);
		for (n = 1 + rng_below(&r, 60); n--;)
			b[rng_below(&r, BLOCK)] += 1 + rng_below(&r, 255);
		passed += !stamp_is_broken(kind_of(b, &want)) &&
			  memcmp(b, right, BLOCK) != 0;
	}
	CU_ASSERT_EQUAL(passed, 0);
}

UNIT_TESTS("stamp",
	   {"crc32c: the RFC's value; the CPU's and the table's agree",
	    test_crc32c},
	   {"what is right, also after a failed write", test_right},
	   {"where nothing was promised", test_nothing_promised},
	   {"what is wrong, by kind", test_wrong},
	   {"each bit that flips is bit rot, and said where", test_each_bit},
	   {"a block of two times is torn", test_torn_inside},
	   {"noise never passes", test_noise})
