#include "initiator/ledger.h"

#include <errno.h>

#include "tests/unit/pdu_header.h"
#include "tests/unit/unit.h"

enum { READ = 0x40, WRITE = 0x20 };

static struct ledger l;
static uint32_t residual; /* of responses */
static uint32_t ttt;	  /* of Data-Out */

static void send_command(uint32_t itt, uint8_t flags, uint32_t expected)
{
	fill(0x01 | 0x40, 0x80 | flags, itt, 0); /* the immediate bit, too */
	put32(20, expected);
	ledger_sent(&l, header);
}

static int data_in(uint32_t itt, uint32_t at, uint32_t bytes, bool is_last)
{
	fill(0x25, is_last ? 0x81 : 0, itt, bytes);
	put32(40, at);
	return ledger_received(&l, header);
}

static int r2t(uint32_t itt, uint32_t at, uint32_t bytes)
{
	fill(0x31, 0x80, itt, 0);
	put32(40, at);
	put32(44, bytes);
	return ledger_received(&l, header);
}

static int response(uint32_t itt, uint8_t flags, uint8_t status)
{
	fill(0x21, 0x80 | flags, itt, 0);
	header[3] = status;
	put32(44, residual);
	return ledger_received(&l, header);
}

static void send_data(uint32_t itt, uint32_t bytes)
{
	fill(0x05, 0x80, itt, bytes);
	put32(20, ttt);
	ledger_sent(&l, header);
	ledger_sent_data(&l, bytes);
}

static void check_refused(int ret, const char *why)
{
	CU_ASSERT_EQUAL(ret, -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(l.complaint, why));
	if (!strstr(l.complaint, why))
		printf("# %s\n", l.complaint);
	l.complaint[0] = '\0';
}

static void test_reads(void)
{
	ledger_init(&l);
	check_refused(data_in(7, 0, 512, false), "no read that is under way");
	send_command(7, READ, 4096);
	CU_ASSERT_EQUAL(ledger_data_in(&l, 7), 0);
	CU_ASSERT_EQUAL(data_in(7, 0, 2048, false), 0);
	check_refused(data_in(7, 2048, 2049, false), "beyond the bytes");
	check_refused(data_in(7, UINT32_MAX, 2, false), "beyond the bytes");
	check_refused(r2t(7, 0, 512), "no write that is under way");
	CU_ASSERT_EQUAL(data_in(7, 2048, 2048, true), 0);
	CU_ASSERT_EQUAL(ledger_data_in(&l, 7), 4096);
	check_refused(data_in(7, 0, 512, false), "no read that is under way");
	/* status in a PDU of its own; then it is over, too */
	send_command(8, READ, 4096);
	CU_ASSERT_EQUAL(data_in(8, 0, 1024, false), 0);
	CU_ASSERT_EQUAL(response(8, 0, 0), 0);
	CU_ASSERT_EQUAL(ledger_data_in(&l, 8), 1024);
	check_refused(data_in(8, 0, 512, false), "0x00000008");
	CU_ASSERT_EQUAL(ledger_data_in(&l, 9), -1);
	ledger_release(&l);
}

static void test_writes(void)
{
	ledger_init(&l);
	send_command(1, WRITE, 8192);
	ledger_sent_data(&l, 4096); /* immediate */
	check_refused(data_in(1, 0, 512, false), "no read that is under way");
	check_refused(r2t(1, 4096, 4097), "beyond the end");
	CU_ASSERT_EQUAL(r2t(1, 4096, 4096), 0);
	send_data(1, 4000);
	send_command(2, WRITE, 512);
	CU_ASSERT_EQUAL(ledger_data_left(&l, 1), 96);
	send_data(1, 96);
	CU_ASSERT_EQUAL(ledger_data_left(&l, 1), 0);
	CU_ASSERT_EQUAL(ledger_data_left(&l, 3), -1);
	CU_ASSERT_EQUAL(response(1, 0, 0), 0);
	check_refused(r2t(1, 4096, 4096), "no write that is under way");
	check_refused(response(2, 0, 0), "a write of which it has not had all");
	/* another answer, and one with a residual, may come at any time */
	send_command(3, WRITE, 512);
	CU_ASSERT_EQUAL(response(3, 0, 0x08), 0);
	send_command(4, WRITE, 512);
	residual = 512;
	CU_ASSERT_EQUAL(response(4, 0x02, 0), 0);
	residual = 0;
	send_command(5, WRITE, 512);
	check_refused(response(5, 0x02, 0), "a write of which it has not had");
	/* what libiscsi sorts out itself */
	CU_ASSERT_EQUAL(response(99, 0, 0), 0);
	fill(0x20, 0x80, UINT32_MAX, 0);
	CU_ASSERT_EQUAL(ledger_received(&l, header), 0);
	ledger_release(&l);
}

/* An R2T for what was sent unasked, or was asked for: some is still to be sent
 * when as many bytes as there are have gone. */
static void test_asked_twice(void)
{
	ledger_init(&l);
	send_command(1, WRITE, 8192);
	ledger_sent_data(&l, 4096);
	ttt = UINT32_MAX;
	send_data(1, 2048);
	ttt = 1;
	CU_ASSERT_EQUAL(r2t(1, 0, 4096), 0);
	CU_ASSERT_EQUAL(r2t(1, 4096, 4096), 0);
	check_refused(r2t(1, 0, 1), "more than its data");
	send_data(1, 2048);
	CU_ASSERT_EQUAL(ledger_data_left(&l, 1), 6144);
	check_refused(response(1, 0, 0), "a write of which it has not had all");
	send_command(2, WRITE, 8192);
	CU_ASSERT_EQUAL(r2t(2, 0, 8192), 0);
	send_data(2, 8192);
	CU_ASSERT_EQUAL(ledger_data_left(&l, 2), 0);
	CU_ASSERT_EQUAL(response(2, 0, 0), 0);
	ledger_release(&l);
}

/* More under way than there are places, around the end of the numbers. */
static void test_many(void)
{
	uint32_t first = UINT32_MAX - 700, i;

	ledger_init(&l);
	for (i = 0; i < 5000; i++) {
		send_command(first + i, READ, 8);
		if (i >= 1000)
			CU_ASSERT_EQUAL_FATAL(
				data_in(first + i - 1000, 0, 8, true), 0);
		if (i % 7 == 0 && i > 1000)
			CU_ASSERT_EQUAL(ledger_data_in(&l, first + i - 999), 0);
	}
	for (; i < 6000; i++)
		CU_ASSERT_EQUAL_FATAL(data_in(first + i - 1000, 0, 8, true), 0);
	CU_ASSERT_TRUE(l.nr_entries <= 2048);
	ledger_release(&l);
}

/* A few that take for ever while the others go on: no reason to grow. */
static void test_stuck(void)
{
	uint32_t i;

	ledger_init(&l);
	for (i = 0; i < 6; i++)
		send_command(64 * i, READ, 8);
	for (i = 1000; i < 3000000; i++) {
		send_command(i, READ, 8);
		CU_ASSERT_EQUAL_FATAL(data_in(i, 0, 8, true), 0);
		CU_ASSERT_EQUAL_FATAL(ledger_data_in(&l, i), 8);
	}
	CU_ASSERT_FALSE(l.is_blind);
	CU_ASSERT_TRUE(l.nr_entries <= 256);
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(data_in(64 * i, 0, 8, true), 0);
	ledger_release(&l);
}

/* Tags that never fit: it goes blind and lets all pass. */
static void test_blind(void)
{
	ledger_init(&l);
	for (uint32_t i = 0; i < 9; i++)
		send_command(i << 24, READ, 8);
	CU_ASSERT_TRUE(l.is_blind);
	CU_ASSERT_EQUAL(data_in(5, 0, 512, false), 0);
	CU_ASSERT_EQUAL(ledger_data_in(&l, 0), -1);
	ledger_sent_data(&l, 4096);
	ledger_release(&l);
}

UNIT_TESTS("ledger", {"reads", test_reads}, {"writes", test_writes},
	   {"asked twice", test_asked_twice}, {"many", test_many},
	   {"stuck", test_stuck}, {"blind", test_blind})
