#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "initiator/pcap_pdu.h"
#include "tests/unit/pcap_reader.h"
#include "tests/unit/unit.h"

/* A capture of a login with CHAP and of data, cut at every byte. What tshark
 * makes of real ones: tests/func/test_pcap.sh. */

struct bytes {
	uint8_t at[40000];
	size_t n;
};

static struct bytes ours, theirs;
static uint8_t secret; /* for each # of a text */

enum { SECRET = 0xaa };

static void put_pdu(struct bytes *b, uint8_t opcode, uint8_t flags,
		    const void *data, size_t n, size_t digest)
{
	uint8_t *h = b->at + b->n;

	memset(h, 0, PDU_HEADER + digest);
	h[0] = opcode;
	h[1] = flags;
	h[5] = n >> 16;
	h[6] = n >> 8;
	h[7] = n;
	memset(h + PDU_HEADER, 0xee, digest);
	memset(h + PDU_HEADER + digest, 0, (n + 3) & ~3u);
	if (n)
		memcpy(h + PDU_HEADER + digest, data, n);
	for (uint8_t *c = h + PDU_HEADER; c < h + PDU_HEADER + n; c++)
		if (*c == '#')
			*c = secret;
	b->n += PDU_HEADER + digest + ((n + 3) & ~3u);
}

#define TEXT(s) s, sizeof(s)

/* Each # of these texts, a byte that nobody may see, is @secret: of a value
 * that goes on in the next PDU, of a key that does. */
static void make_session(uint8_t with)
{
	uint8_t data[9000];

	memset(data, 0xdd, sizeof(data));
	secret = with;
	ours.n = theirs.n = 0;
	put_pdu(&ours, 0x43, 0x81, TEXT("CHAP_A=5"), 0);
	put_pdu(&theirs, 0x23, 0x40,
		TEXT("CHAP_A=5\0CHAP_I=####\0CHAP_C=########") - 1, 0);
	put_pdu(&theirs, 0x23, 0, TEXT("####\0Plain=1"), 0);
	put_pdu(&ours, 0x43, 0x40, TEXT("CHAP_N=####\0CHA") - 1, 0);
	put_pdu(&ours, 0x43, 0x87, TEXT("P_R=########\0chap_r=####"), 0);
	put_pdu(&theirs, 0x23, 0x87, TEXT("HeaderDigest=CRC32C\0Last=CHAP_R"),
		0);
	put_pdu(&ours, 0x01, 0x80, data, 300, 4);
	put_pdu(&ours, 0x05, 0x80, data, sizeof(data), 4);
	put_pdu(&theirs, 0x25, 0x81, data, 8191, 4);
	put_pdu(&theirs, 0x3f, 0x80, data, 100, 4); /* a reject */
}

/* In calls of @piece bytes, the first of @first; the logins take turns, as the
 * keys of digests must be known before what has them. */
static void pass(struct pcap_stream *s, size_t first, size_t piece)
{
	size_t at[2] = {0, 0}, n = first;
	struct bytes *half[2] = {&ours, &theirs};

	/* The last two of each side come after all logins. */
	for (int i = 0; i < 4; i++) {
		struct bytes *b = half[i & 1];
		size_t end = b->n;

		if (i == 0)
			end -= 300 + 9000 + 2 * (PDU_HEADER + 4);
		else if (i == 1)
			end -= 8192 + 100 + 2 * (PDU_HEADER + 4);
		while (at[i & 1] < end) {
			struct iovec v[2];

			if (n > end - at[i & 1])
				n = end - at[i & 1];
			v[0] = (struct iovec){b->at + at[i & 1], n / 2};
			v[1] = (struct iovec){b->at + at[i & 1] + n / 2,
					      n - n / 2 + 7};
			if (n)
				(i & 1 ? pcap_received : pcap_sent)(s, v, n);
			at[i & 1] += n;
			n = piece;
		}
	}
	pcap_received(s, NULL, 0);
}

static void capture(uint32_t keep, size_t first, size_t piece,
		    struct pcap_side side[2])
{
	struct pcap *p;
	int fd = pcap_in_memory(&p, keep);
	struct pcap_stream *s = pcap_stream_new(p, -1);

	pass(s, first, piece);
	pcap_stream_free(s);
	CU_ASSERT_EQUAL_FATAL(pcap_flush(p, NULL), 0);
	pcap_close(p);
	CU_ASSERT_TRUE_FATAL(pcap_read(fd, side));
}

static void check_all(size_t first, size_t piece)
{
	struct pcap_side side[2];

	make_session(SECRET);
	capture(PCAP_KEEP_ALL, first, piece, side);
	make_session('x');
	CU_ASSERT_EQUAL_FATAL(side[0].n, ours.n);
	CU_ASSERT_EQUAL_FATAL(side[1].n, theirs.n);
	CU_ASSERT_EQUAL_FATAL(side[0].captured, ours.n);
	CU_ASSERT_EQUAL_FATAL(memcmp(side[0].bytes, ours.at, ours.n), 0);
	CU_ASSERT_EQUAL_FATAL(memcmp(side[1].bytes, theirs.at, theirs.n), 0);
	CU_ASSERT_TRUE_FATAL(side[0].has_fin && side[1].has_fin);
	pcap_side_release(side);
}

static void test_every_split(void)
{
	for (size_t first = 1; first < 400; first++)
		check_all(first, SIZE_MAX / 4);
	for (size_t piece = 1; piece < 120; piece += 7)
		check_all(piece, piece);
}

/* A packet a PDU, whose lengths are whole; of data, what was asked for. */
static void test_cut(void)
{
	static const size_t keeps[] = {0, 1, 256, 300, 9000};
	struct pcap_side side[2];

	for (size_t k = 0; k < sizeof(keeps) / sizeof(keeps[0]); k++) {
		for (size_t piece = 1; piece < 600; piece += 37) {
			size_t n = keeps[k];

			make_session(SECRET);
			capture(n, piece, piece, side);
			CU_ASSERT_EQUAL_FATAL(side[0].n, ours.n);
			CU_ASSERT_EQUAL_FATAL(side[1].n, theirs.n);
			/* SYN, ACK, PDUs, FIN */
			CU_ASSERT_EQUAL_FATAL(side[0].packets, 2 + 5 + 1);
			CU_ASSERT_EQUAL_FATAL(side[1].packets, 1 + 5 + 1);
			CU_ASSERT_EQUAL_FATAL(
				side[0].captured,
				ours.n - (n < 300 ? 300 - n : 0) -
					(n < 9000 ? 9000 - n : 0));
			CU_ASSERT_EQUAL_FATAL(
				side[1].captured,
				theirs.n - (n < 8191 ? 8192 - n : 0));
			for (int i = 0; i < 2; i++)
				CU_ASSERT_PTR_NULL_FATAL(memchr(
					side[i].bytes, SECRET, side[i].n));
			pcap_side_release(side);
		}
	}
}

/* Cut in the middle of a PDU: what had passed is there. */
static void test_ends_anywhere(void)
{
	for (size_t n = 1; n < 500; n += 11) {
		struct pcap *p;
		int fd = pcap_in_memory(&p, 0);
		struct pcap_stream *s = pcap_stream_new(p, -1);
		struct pcap_side side[2];
		struct iovec v = {ours.at, n};

		make_session(SECRET);
		pcap_sent(s, &v, n);
		pcap_stream_free(s);
		pcap_close(p);
		CU_ASSERT_TRUE_FATAL(pcap_read(fd, side));
		CU_ASSERT_EQUAL_FATAL(side[0].n, n);
		pcap_side_release(side);
	}
}

/* No room in the middle of the file: it ends at a whole packet, and what comes
 * after is dropped. */
static void test_no_room(void)
{
	struct rlimit before, limit;
	struct pcap_side side[2];
	struct err e = {0};
	char path[] = "/tmp/lunbench-pcap.XXXXXX";
	int fd = mkstemp(path);
	struct pcap *p;
	struct pcap_stream *s;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 20001;
	CU_ASSERT_EQUAL_FATAL(pcap_open(&p, path, PCAP_KEEP_ALL, &e), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	s = pcap_stream_new(p, -1);
	make_session(SECRET);
	pass(s, 100, 100);
	pcap_stream_free(s);
	CU_ASSERT_EQUAL_FATAL(pcap_flush(p, &e), -EFBIG);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "ended early"));
	setrlimit(RLIMIT_FSIZE, &before);
	pcap_close(p);
	unlink(path);
	CU_ASSERT_TRUE_FATAL(lseek(fd, 0, SEEK_END) > 19000);
	CU_ASSERT_TRUE_FATAL(pcap_read(fd, side));
	CU_ASSERT_TRUE_FATAL(side[0].n > 5000);
	CU_ASSERT_FALSE(side[0].has_fin);
	pcap_side_release(side);
}

UNIT_TESTS("pcap", {"every split", test_every_split}, {"cut", test_cut},
	   {"ends anywhere", test_ends_anywhere}, {"no room", test_no_room})
