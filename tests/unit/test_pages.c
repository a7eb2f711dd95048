#include "initiator/pages.h"

#include <errno.h>

#include "tests/unit/unit.h"

static void test_inquiry(void)
{
	uint8_t d[36] = {0x00, 0, 5, 2, 31};
	unsigned int qualifier, type;
	struct lun l = {0};

	memcpy(d + 8, "IET     ", 8);
	memcpy(d + 16, "VIRTUAL-DISK\x01\xff  ", 16);
	memcpy(d + 32, "0001", 4);
	CU_ASSERT_EQUAL(pages_inquiry(d, 36, &qualifier, &type, &l), 0);
	CU_ASSERT_EQUAL(qualifier, 0);
	CU_ASSERT_EQUAL(type, 0);
	CU_ASSERT_STRING_EQUAL(l.vendor, "IET");
	CU_ASSERT_STRING_EQUAL(l.product, "VIRTUAL-DISK");
	CU_ASSERT_STRING_EQUAL(l.revision, "0001");
	d[0] = 0x7f;
	CU_ASSERT_EQUAL(pages_inquiry(d, 5, &qualifier, &type, &l), 0);
	CU_ASSERT_EQUAL(qualifier, 3);
	CU_ASSERT_EQUAL(type, 0x1f);
	CU_ASSERT_EQUAL(pages_inquiry(d, 4, &qualifier, &type, &l), -EPROTO);
}

static void test_capacity10(void)
{
	uint8_t d[8] = {0x00, 0x01, 0xff, 0xff, 0, 0, 2, 0};
	struct lun l = {0};

	CU_ASSERT_EQUAL(pages_capacity10(d, 8, &l), 0);
	CU_ASSERT_EQUAL(l.blocks, 131072);
	CU_ASSERT_EQUAL(l.block_bytes, 512);
	CU_ASSERT_EQUAL(pages_capacity10(d, 7, &l), -EPROTO);
	memset(d, 0xff, 4);
	CU_ASSERT_EQUAL(pages_capacity10(d, 8, &l), -EOVERFLOW);
	memset(d, 0, 8);
	CU_ASSERT_EQUAL(pages_capacity10(d, 8, &l), -EPROTO);
}

static void test_capacity16(void)
{
	/* 3 TiB of 512 bytes, 8 blocks a physical one, thin, zeroes */
	uint8_t d[32] = {0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff,
			 0, 0, 2, 0, 0,	   3,	 0xc0};
	struct lun l = {0};

	CU_ASSERT_EQUAL(pages_capacity16(d, 32, &l), 0);
	CU_ASSERT_EQUAL(lun_bytes(&l), 3ULL << 40);
	CU_ASSERT_EQUAL(l.physical_block_bytes, 4096);
	CU_ASSERT_TRUE(l.is_thin);
	CU_ASSERT_TRUE(l.unmap_zeroes);
	CU_ASSERT_EQUAL(pages_capacity16(d, 11, &l), -EPROTO);
	/* tgt's LUN on an empty file: one would wrap to 0 blocks */
	memset(d, 0xff, 8);
	CU_ASSERT_EQUAL(pages_capacity16(d, 32, &l), -ENODATA);
	d[7] = 0xfe; /* 2^64-1 blocks of 512 bytes: cannot be */
	CU_ASSERT_EQUAL(pages_capacity16(d, 32, &l), -EPROTO);
}

static void test_vpd(void)
{
	static const uint8_t list[] = {0, 0, 0, 3, 0x00, 0x80, 0xb0};
	static const uint8_t serial[] = {0,   0x80, 0,	 8,   ' ', ' ',
					 'S', 'N',  '1', ' ', ' ', ' '};
	struct lun l = {0};

	CU_ASSERT_TRUE(pages_has(list, sizeof(list), 0xb0));
	CU_ASSERT_FALSE(pages_has(list, sizeof(list), 0xb2));
	CU_ASSERT_FALSE(pages_has(list, 6, 0xb0));
	CU_ASSERT_FALSE(pages_has(list, 3, 0x00));
	pages_serial(serial, sizeof(serial), &l);
	CU_ASSERT_STRING_EQUAL(l.serial, "SN1");
}

static void test_identity(void)
{
	static const uint8_t d[] = {
		0,
		0x83,
		0,
		41,
		/* T10 vendor, LUN */
		0x02,
		0x01,
		0,
		5,
		'A',
		'C',
		'M',
		'E',
		'1',
		/* NAA, but of the target port */
		0x01,
		0x13,
		0,
		8,
		1,
		2,
		3,
		4,
		5,
		6,
		7,
		8,
		/* NAA, LUN */
		0x01,
		0x03,
		0,
		8,
		0x60,
		0x01,
		0x40,
		0x5a,
		0,
		0,
		0,
		9,
	};
	struct lun l = {0};

	pages_identity(d, sizeof(d), &l);
	CU_ASSERT_STRING_EQUAL(l.naa, "naa.6001405a00000009");
	memset(&l, 0, sizeof(l));
	pages_identity(d, 20, &l); /* cut in the second */
	CU_ASSERT_STRING_EQUAL(l.naa, "t10.ACME1");
	memset(&l, 0, sizeof(l));
	for (size_t n = 0; n < sizeof(d); n++)
		pages_identity(d, n, &l);
}

static void test_limits(void)
{
	uint8_t d[64] = {0,    0xb0, 0, 60, 0, 0, 0, 1, 0, 0, 0x40,
			 0,    0,    0, 8,  0, 0, 0, 0, 0, 0, 0,
			 0x20, 0,    0, 0,  0, 1, 0, 0, 0, 8};
	uint8_t b2[8] = {0, 0xb2, 0, 4, 0, 0xe4, 2, 0};
	struct lun l = {0};

	pages_limits(d, sizeof(d), &l);
	CU_ASSERT_EQUAL(l.max_transfer_blocks, 0x4000);
	CU_ASSERT_EQUAL(l.optimal_transfer_blocks, 0x800);
	CU_ASSERT_EQUAL(l.max_unmap_blocks, 0x2000);
	CU_ASSERT_EQUAL(l.max_unmap_descriptors, 1);
	CU_ASSERT_EQUAL(l.unmap_granularity_blocks, 8);
	memset(&l, 0, sizeof(l));
	pages_limits(d, 16, &l); /* an SBC-2 page stops here */
	CU_ASSERT_EQUAL(l.max_transfer_blocks, 0x4000);
	CU_ASSERT_EQUAL(l.max_unmap_blocks, 0);
	pages_provisioning(b2, sizeof(b2), &l);
	CU_ASSERT_TRUE(l.can_unmap);
	CU_ASSERT_TRUE(l.unmap_zeroes);
}

static void test_mode(void)
{
	/* with a block descriptor of 8 and page 01h before 08h */
	uint8_t d[44] = {43, 0, 0x80, 8, 0, 0, 0, 0, 0, 0, 2,	 0,  0x01, 10,
			 0,  0, 0,    0, 0, 0, 0, 0, 0, 0, 0x88, 18, 0x14};
	struct lun l = {0};

	CU_ASSERT_FALSE(l.write_cache_known);
	pages_mode(d, sizeof(d), &l);
	CU_ASSERT_TRUE(l.is_read_only);
	CU_ASSERT_TRUE(l.write_cache_known); /* the PS bit is no matter */
	d[24] = 0x08;
	CU_ASSERT_TRUE(l.write_cache);
	d[26] = 0x10;
	d[2] = 0;
	pages_mode(d, sizeof(d), &l);
	CU_ASSERT_FALSE(l.write_cache);
	CU_ASSERT_FALSE(l.is_read_only);
	for (size_t n = 0; n < sizeof(d); n++)
		pages_mode(d, n, &l);
}

static void test_lun_numbers(void)
{
	static const uint8_t luns[][8] = {
		{0, 44}, {0x41, 0x2c}, {0x00, 0xff}, {0x7f, 0xff}, {0x41, 0x00},
	};
	static const int wanted[] = {44, 300, 255, 16383, 256};
	static const uint8_t bus[8] = {0x01, 5}, extended[8] = {0xd2, 0, 1};
	static const uint8_t report[8] = {0, 0, 0x12, 0xc8};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		CU_ASSERT_EQUAL(pages_lun_number(luns[i]), wanted[i]);
	CU_ASSERT_EQUAL(pages_lun_number(bus), -1);
	CU_ASSERT_EQUAL(pages_lun_number(extended), -1);
	CU_ASSERT_EQUAL(pages_luns_bytes(report, 8), 601 * 8 + 8);
	CU_ASSERT_EQUAL(pages_luns_bytes(report, 7), 0);
}

UNIT_TESTS("pages", {"inquiry", test_inquiry},
	   {"read capacity 10", test_capacity10},
	   {"read capacity 16", test_capacity16}, {"vpd", test_vpd},
	   {"identity", test_identity}, {"limits", test_limits},
	   {"mode", test_mode}, {"LUN numbers", test_lun_numbers})
