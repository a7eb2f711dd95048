#include "initiator/sense.h"

#include <errno.h>

#include "tests/unit/unit.h"

static char text[256];

static struct io_detail check(uint8_t key, uint8_t asc, uint8_t ascq)
{
	return (struct io_detail){.scsi_status = 0x02,
				  .sense_key = key,
				  .asc = asc,
				  .ascq = ascq};
}

static void test_parse(void)
{
	/* as tgt sends it: fixed format, 18 bytes */
	static const uint8_t fixed[18] = {0x70, 0, 0x03, 0, 0, 0,    0,
					  10,	0, 0,	 0, 0, 0x11, 0x04};
	static const uint8_t descriptor[8] = {0x72, 0x05, 0x21, 0x00};
	static const uint8_t deferred[8] = {0x73, 0x0b, 0x4e, 0x00};
	struct io_detail d = {0};

	sense_parse(fixed, sizeof(fixed), &d);
	CU_ASSERT_EQUAL(d.sense_key, 3);
	CU_ASSERT_EQUAL(d.asc, 0x11);
	CU_ASSERT_EQUAL(d.ascq, 0x04);
	sense_parse(descriptor, sizeof(descriptor), &d);
	CU_ASSERT_EQUAL(d.sense_key, 5);
	CU_ASSERT_EQUAL(d.asc, 0x21);
	sense_parse(deferred, sizeof(deferred), &d);
	CU_ASSERT_EQUAL(d.sense_key, 0xb);
	/* short, empty, unknown format */
	sense_parse(fixed, 13, &d);
	CU_ASSERT_EQUAL(d.sense_key, 3);
	CU_ASSERT_EQUAL(d.asc, 0);
	sense_parse(fixed, 0, &d);
	CU_ASSERT_EQUAL(d.sense_key, 0);
	sense_parse((const uint8_t[]){0x7f, 3, 3, 3}, 4, &d);
	CU_ASSERT_EQUAL(d.sense_key, 0);
}

static void test_results(void)
{
	static const struct {
		uint8_t status, key, asc, ascq;
		int result;
	} cases[] = {
		{0x00, 0, 0, 0, 0},
		{0x04, 0, 0, 0, 0},
		{0x08, 0, 0, 0, -EBUSY},
		{0x28, 0, 0, 0, -EBUSY},
		{0x18, 0, 0, 0, -EREMOTEIO},
		{0x30, 0, 0, 0, -EREMOTEIO},
		{0x40, 0, 0, 0, -EREMOTEIO},
		{0x77, 0, 0, 0, -EREMOTEIO},
		{0x02, 0x0, 0x00, 0x00, -EREMOTEIO},
		{0x02, 0x1, 0x18, 0x00, 0},
		{0x02, 0x2, 0x04, 0x01, -EAGAIN},
		{0x02, 0x3, 0x11, 0x00, -ENODATA},
		{0x02, 0x3, 0x00, 0x00, -ENODATA},
		{0x02, 0x4, 0x44, 0x00, -EREMOTEIO},
		{0x02, 0x5, 0x25, 0x00, -ENXIO},
		{0x02, 0x5, 0x20, 0x00, -EREMOTEIO},
		{0x02, 0x5, 0x21, 0x00, -EREMOTEIO},
		{0x02, 0x6, 0x29, 0x00, -EAGAIN},
		{0x02, 0x6, 0x3f, 0x0e, -EAGAIN},
		{0x02, 0x7, 0x27, 0x00, -EROFS},
		{0x02, 0x7, 0x27, 0x07, -ENOSPC},
		{0x02, 0xb, 0x4b, 0x00, -EREMOTEIO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct io_detail d = {.scsi_status = cases[i].status,
				      .sense_key = cases[i].key,
				      .asc = cases[i].asc,
				      .ascq = cases[i].ascq};

		CU_ASSERT_EQUAL(sense_result(&d), cases[i].result);
	}
}

static void test_texts(void)
{
	struct io_detail d = check(3, 0x11, 0x00);

	CU_ASSERT_STRING_EQUAL(sense_describe(&d, text, sizeof(text)),
			       "CHECK CONDITION, MEDIUM ERROR, unrecovered "
			       "read error (3/11/00)");
	d = check(5, 0x25, 0x00);
	CU_ASSERT_STRING_EQUAL(sense_describe(&d, text, sizeof(text)),
			       "CHECK CONDITION, ILLEGAL REQUEST, no such LUN "
			       "(5/25/00)");
	d = check(2, 0x04, 0x77); /* only the family has a name */
	CU_ASSERT_STRING_EQUAL(sense_describe(&d, text, sizeof(text)),
			       "CHECK CONDITION, NOT READY, not ready "
			       "(2/04/77)");
	d = check(4, 0x91, 0x01);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(sense_describe(&d, text, sizeof(text)), "vendor"));
	/* every key has a name (libiscsi's MEDIUM ERROR has none) */
	for (unsigned int key = 0; key < 16; key++) {
		d = check(key, 0x7f, 0x7f);
		sense_describe(&d, text, sizeof(text));
		CU_ASSERT_PTR_NULL(strstr(text, "null"));
		CU_ASSERT_TRUE(strlen(text) > strlen("CHECK CONDITION, ,  ()"));
	}
	d = (struct io_detail){.scsi_status = 0x18};
	CU_ASSERT_STRING_EQUAL(sense_describe(&d, text, sizeof(text)),
			       "RESERVATION CONFLICT");
	d.scsi_status = 0x77;
	CU_ASSERT_STRING_EQUAL(sense_describe(&d, text, sizeof(text)),
			       "unknown SCSI status 0x77");
}

static void test_io_texts(void)
{
	struct io io = {.length_bytes = 4096};

	CU_ASSERT_STRING_EQUAL(
		transport_describe_detail(&io, text, sizeof(text)), "GOOD");
	io.result = -EBADMSG;
	io.detail.residual_bytes = 512;
	CU_ASSERT_STRING_EQUAL(
		transport_describe_detail(&io, text, sizeof(text)),
		"GOOD, but 512 of 4096 bytes were not transferred (residual "
		"underflow)");
	io.detail.residual_bytes = -28672;
	CU_ASSERT_STRING_EQUAL(
		transport_describe_detail(&io, text, sizeof(text)),
		"GOOD, but the command was for 28672 bytes more than the 4096 "
		"that were transferred (residual overflow)");
	io.result = -EBUSY;
	io.detail = (struct io_detail){.scsi_status = 0x28};
	CU_ASSERT_STRING_EQUAL(
		transport_describe_detail(&io, text, sizeof(text)),
		"TASK SET FULL");
	io.result = -EIO;
	io.detail = (struct io_detail){0};
	CU_ASSERT_STRING_EQUAL(
		transport_describe_detail(&io, text, sizeof(text)),
		"Input/output error");
	io.result = -ECANCELED;
	CU_ASSERT_PTR_NOT_NULL(
		strstr(transport_describe_detail(&io, text, sizeof(text)),
		       "not answered"));
}

static void test_device_types(void)
{
	CU_ASSERT_STRING_EQUAL(sense_device_type(0x00), "disk");
	CU_ASSERT_STRING_EQUAL(sense_device_type(0x0c),
			       "storage array controller");
	CU_ASSERT_STRING_EQUAL(sense_device_type(0x13), "reserved device type");
	CU_ASSERT_STRING_EQUAL(sense_device_type(99), "reserved device type");
}

UNIT_TESTS("sense", {"parse", test_parse}, {"results", test_results},
	   {"texts", test_texts}, {"texts of an io", test_io_texts},
	   {"device types", test_device_types})
