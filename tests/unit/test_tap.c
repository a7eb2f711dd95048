#include "initiator/tap.h"

#include "base/clock.h"
#include "tests/unit/pdu_header.h"
#include "tests/unit/unit.h"

/* Sequences of headers, as they pass on a wire; and what a login says. The
 * clock is the real one: what is asserted is in which stage time was spent. */

enum { READ = 0x40, WRITE = 0x20, FINAL = 0x80, MOST = 64 };

static struct ledger l;
static struct tap t;
static uint32_t max_cmdsn;

static void begin(void)
{
	ledger_init(&l);
	tap_init(&t, &l, MOST);
	max_cmdsn = 10;
}

static void end(void)
{
	tap_release(&t);
	ledger_release(&l);
}

/* With @digest bytes after the header, then its data. */
static void queue(size_t digest, uint32_t data)
{
	uint8_t pdu[PDU_HEADER + 4] = {0};

	memcpy(pdu, header, PDU_HEADER);
	ledger_sent(&l, header);
	tap_queued_header(&t, pdu, PDU_HEADER + digest);
	if (data) {
		ledger_sent_data(&l, data);
		tap_queued_data(&t, data);
	}
}

static void command(uint32_t itt, uint8_t flags, uint32_t expected,
		    uint32_t immediate)
{
	fill(0x01, flags, itt, immediate);
	put32(20, expected);
	queue(0, immediate);
}

static void data_out(uint32_t itt, uint8_t flags, uint32_t ttt, uint32_t bytes)
{
	fill(0x05, flags, itt, bytes);
	put32(20, ttt);
	queue(0, bytes);
}

static void receive(void)
{
	put32(28, max_cmdsn - 3); /* a window of four */
	put32(32, max_cmdsn);
	tap_received(&t);
	CU_ASSERT_EQUAL(ledger_received(&l, header), 0);
	tap_received_header(&t, header);
}

static void r2t(uint32_t itt, uint32_t at, uint32_t bytes)
{
	fill(0x31, FINAL, itt, 0);
	put32(40, at);
	put32(44, bytes);
	receive();
}

static void response(uint32_t itt)
{
	fill(0x21, FINAL, itt, 0);
	receive();
}

static void send_all(void)
{
	tap_sent(&t, t.queued_bytes - t.sent_bytes);
}

static void wait_a_bit(void)
{
	uint64_t until = clock_now_ns() + 20 * NS_PER_USEC;

	while (clock_now_ns() < until)
		;
}

/* The stage it is in, after some time there. */
static enum wire_stage stage(uint32_t itt)
{
	wait_a_bit();
	return ledger_find(&l, itt)->times.now;
}

static uint64_t spent(uint32_t itt, enum wire_stage s)
{
	return ledger_find(&l, itt)->times.spent_ns[s];
}

static void test_read(void)
{
	begin();
	command(1, READ | FINAL, 4096, 0);
	CU_ASSERT_EQUAL(ledger_find(&l, 1)->times.first_ns, 0);
	tap_sent(&t, 20); /* of its header */
	CU_ASSERT_NOT_EQUAL(ledger_find(&l, 1)->times.first_ns, 0);
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	tap_sent(&t, 28);
	CU_ASSERT_EQUAL(stage(1), STAGE_TARGET);
	CU_ASSERT_TRUE(spent(1, STAGE_SENDING) >= 20 * NS_PER_USEC);
	CU_ASSERT_EQUAL(spent(1, STAGE_R2T_WAIT), 0);
	response(1); /* without data */
	CU_ASSERT_EQUAL(t.counts.pdus_out, 1);
	CU_ASSERT_EQUAL(t.counts.pdus_in, 1);
	end();
}

static void test_immediate(void)
{
	begin();
	command(1, WRITE | FINAL, 4096, 4096);
	tap_sent(&t, PDU_HEADER + 4000);
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_TARGET);
	CU_ASSERT_EQUAL(spent(1, STAGE_R2T_WAIT), 0);
	end();
}

static void test_unsolicited(void)
{
	begin();
	command(1, WRITE, 8192, 2048); /* not final: more comes unasked */
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	data_out(1, 0, UINT32_MAX, 2048);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	data_out(1, FINAL, UINT32_MAX, 2048);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_R2T_WAIT);
	r2t(1, 6144, 2048);
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	data_out(1, FINAL, 7, 2048);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_TARGET);
	end();
}

static void test_many_r2ts(void)
{
	uint64_t waited;

	begin();
	command(1, WRITE | FINAL, 3000, 0);
	command(2, READ | FINAL, 512, 0);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_R2T_WAIT);
	for (uint32_t at = 0; at < 3000; at += 1000) {
		r2t(1, at, 1000);
		waited = spent(1, STAGE_R2T_WAIT);
		CU_ASSERT_TRUE(waited >= (at / 1000 + 1) * 20 * NS_PER_USEC);
		CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
		data_out(1, 0, 7, 500);
		data_out(1, FINAL, 7, 500);
		tap_sent(&t, PDU_HEADER + 500 + PDU_HEADER);
		CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
		send_all();
		CU_ASSERT_EQUAL(stage(1),
				at < 2000 ? STAGE_R2T_WAIT : STAGE_TARGET);
	}
	CU_ASSERT_EQUAL(stage(2), STAGE_TARGET);
	CU_ASSERT_EQUAL(t.counts.r2ts, 3);
	CU_ASSERT_EQUAL(t.counts.pdus_out, 8);
	end();
}

static void test_header_digest(void)
{
	begin();
	fill(0x01, READ | FINAL, 1, 0);
	put32(20, 512);
	queue(4, 0);
	tap_sent(&t, PDU_HEADER);
	CU_ASSERT_EQUAL(stage(1), STAGE_SENDING);
	tap_sent(&t, 4);
	CU_ASSERT_EQUAL(stage(1), STAGE_TARGET);
	end();
}

static void test_window(void)
{
	struct wire_counts c;

	begin();
	response(99);
	tap_settled(&t, false);
	CU_ASSERT_EQUAL(t.counts.window_stalls, 0);
	tap_settled(&t, true);
	tap_settled(&t, true); /* still the same */
	wait_a_bit();
	response(99); /* opens nothing */
	tap_counts(&t, &c);
	CU_ASSERT_EQUAL(c.window_stalls, 1);
	CU_ASSERT_TRUE(c.window_shut_ns >= 20 * NS_PER_USEC);
	max_cmdsn++;
	response(99);
	tap_counts(&t, &c);
	wait_a_bit();
	CU_ASSERT_EQUAL(t.counts.window_shut_ns, c.window_shut_ns);
	tap_settled(&t, true);
	tap_counts(&t, &c);
	CU_ASSERT_EQUAL(c.window_stalls, 2);
	CU_ASSERT_EQUAL(c.window_commands, 4);
	end();
}

static void test_counts(void)
{
	begin();
	fill(0x20, FINAL, UINT32_MAX, 0); /* NOP-In, and its answer */
	receive();
	fill(0x40, FINAL, UINT32_MAX, 0);
	queue(0, 0);
	CU_ASSERT_EQUAL(t.counts.nops, 2);
	fill(0x3f, FINAL, UINT32_MAX, 0); /* rejects: data digest, another */
	header[2] = 2;
	receive();
	fill(0x3f, FINAL, UINT32_MAX, 0);
	header[2] = 4;
	receive();
	CU_ASSERT_EQUAL(t.counts.digest_errors, 1);
	end();
}

/* A connection that is lost in mid-command: the next one is another tap, and
 * knows nothing of it. */
static void test_reconnect(void)
{
	begin();
	command(1, WRITE | FINAL, 4096, 0);
	send_all();
	end();
	begin();
	CU_ASSERT_PTR_NULL(ledger_find(&l, 1));
	command(1, WRITE | FINAL, 4096, 4096);
	send_all();
	CU_ASSERT_EQUAL(stage(1), STAGE_TARGET);
	CU_ASSERT_EQUAL(spent(1, STAGE_R2T_WAIT), 0);
	end();
}

/* Half-sent PDUs for ever: marks move to the front, and none is lost. */
static void test_marks_move(void)
{
	begin();
	for (uint32_t i = 0; i < 10 * MOST; i++) {
		command(i, READ | FINAL, 512, 0);
		tap_sent(&t, i ? PDU_HEADER : 20);
		if (i)
			CU_ASSERT_EQUAL(ledger_find(&l, i - 1)->times.now,
					STAGE_TARGET);
		if (i)
			response(i - 1);
	}
	end();
}

/* --- the login --- */

static char told[1024];

static void tell(void *user, const struct negotiated *k)
{
	size_t used = strlen(told);

	(void)user;
	snprintf(told + used, sizeof(told) - used, "%s %s/%s=%s\n", k->key,
		 k->offered, k->answered, k->result);
}

#define TEXT(s) s, sizeof(s)

static void test_negotiation(void)
{
	struct negotiation n = {0};
	static const char ours[] =
		"InitialR2T=No\0ImmediateData=Yes\0CHAP_N=user\0"
		"CHAP_R=0x1234567890\0MaxRecvDataSegmentLength=262144\0"
		"FirstBurstLength=262144\0DefaultTime2Wait=2\0X-odd=1\0";
	static const char theirs[] =
		"InitialR2T=Yes\0ImmediateData=No\0CHAP_C=0xaabb\0"
		"FirstBurstLength=65536\0DefaultTime2Wait=20";

	/* at every split */
	for (size_t i = 0; i < sizeof(ours); i++)
		negotiation_add(&n, SIDE_INITIATOR, ours + i, 1);
	negotiation_add(&n, SIDE_TARGET, TEXT(theirs));
	told[0] = '\0';
	negotiation_tell(&n, tell, NULL);
	CU_ASSERT_STRING_EQUAL(told, "InitialR2T No/Yes=Yes\n"
				     "ImmediateData Yes/No=No\n"
				     "MaxRecvDataSegmentLength 262144/=8192\n"
				     "FirstBurstLength 262144/65536=65536\n"
				     "DefaultTime2Wait 2/20=20\n");
	CU_ASSERT_PTR_NULL(memmem(&n, sizeof(n), "1234567890", 10));
	CU_ASSERT_PTR_NULL(memmem(&n, sizeof(n), "aabb", 4));
	CU_ASSERT_PTR_NULL(memmem(&n, sizeof(n), "user", 4));
}

UNIT_TESTS("tap", {"read", test_read}, {"immediate data", test_immediate},
	   {"unsolicited data", test_unsolicited},
	   {"many R2Ts", test_many_r2ts}, {"header digest", test_header_digest},
	   {"window", test_window}, {"counts", test_counts},
	   {"reconnect", test_reconnect}, {"marks move", test_marks_move},
	   {"negotiation", test_negotiation})
