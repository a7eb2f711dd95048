#include "initiator/wire.h"

#include <fcntl.h>
#include <pthread.h>

#include "tests/unit/cut.h"
#include "tests/unit/unit.h"

/*
 * The wire over a pair of sockets, called as libiscsi 1.19 calls it
 * (lib/socket.c), cut at every byte. Whole sessions: test_wire_session.c.
 */

/* Data segments of the recorded PDUs: none, padded, small, borrowed, large. */
static const size_t segments[] = {0,	5,     100, 0,	 1500,	1024, 1023,
				  4096, 17000, 0,   700, 16384, 3,    0};
enum { NR_PDUS = sizeof(segments) / sizeof(segments[0]), HEADER = 48 };
static char stream[65536], got[65536];
static size_t stream_bytes;

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void make_stream(void)
{
	stream_bytes = 0;
	for (int i = 0; i < NR_PDUS; i++)
		stream_bytes += HEADER + padded(segments[i]);
	for (size_t i = 0; i < stream_bytes; i++)
		stream[i] = i * 7 + i / 251;
	/* NOP-In and their lengths, and what libiscsi's padding is */
	for (size_t at = 0, i = 0; i < NR_PDUS; i++) {
		stream[at] = 0x20;
		stream[at + 4] = stream[at + 5] = 0;
		stream[at + 6] = segments[i] >> 8;
		stream[at + 7] = segments[i];
		at += HEADER + padded(segments[i]);
		memset(stream + at - (padded(segments[i]) - segments[i]), 0,
		       padded(segments[i]) - segments[i]);
	}
}

struct ends {
	int ours, theirs;
	struct wire *wire;
};

static void open_ends(struct ends *e)
{
	int fd[2];

	make_stream();
	CU_ASSERT_EQUAL_FATAL(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	e->ours = fd[0];
	e->theirs = fd[1];
	e->wire = wire_new(e->ours);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e->wire);
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
}

static void close_ends(struct ends *e)
{
	wire_free(e->wire);
	close(e->ours);
	if (e->theirs >= 0)
		close(e->theirs);
}

/* --- as libiscsi reads --- */

struct reader {
	int pdu;
	size_t header, data; /* bytes of them that are in */
	size_t at;	     /* in got[] */
};

/* iscsi_read_from_socket(): reads PDUs until there is no more. 0, or what the
 * call said that was not good: -errno, or 1 for the end. */
static int read_pdus(struct reader *r, int fd)
{
	ssize_t n;

	while (r->pdu < NR_PDUS) {
		size_t all = padded(segments[r->pdu]);

		if (r->header < HEADER) {
			n = recv(fd, got + r->at, HEADER - r->header, 0);
			if (n <= 0)
				return n ? -errno : 1;
			r->header += n;
			r->at += n;
			if (r->header < HEADER)
				return 0;
		}
		if (all) {
			size_t left = all - r->data;
			/* without the padding, which is read after it */
			size_t pad = all - segments[r->pdu];
			struct iovec v = {got + r->at, left - pad};

			n = left > pad && r->pdu % 3
				    ? readv(fd, &v, 1)
				    : recv(fd, got + r->at, left, 0);
			if (n <= 0)
				return n ? -errno : 1;
			r->data += n;
			r->at += n;
			if (r->data < all)
				return 0;
		}
		r->pdu++;
		r->header = r->data = 0;
	}
	return 0;
}

/* A turn of the loop: as iscsi_link.c's service(). */
static int read_turn(struct reader *r, struct ends *e)
{
	size_t left, before = 0;
	int ret;

	do {
		struct wire *outer = wire_enter(e->wire);

		left = before;
		ret = read_pdus(r, e->ours);
		wire_leave(outer);
		before = wire_input(e->wire);
	} while ((!ret || ret == -EAGAIN) && before && before != left);
	return ret;
}

static void fill(struct ends *e)
{
	CU_ASSERT_EQUAL_FATAL(write(e->theirs, stream, stream_bytes),
			      (ssize_t)stream_bytes);
	memset(got, 0, sizeof(got));
}

static void check_all_is_read(struct ends *e)
{
	struct reader r = {0};
	int turns = 0, ret = 0;

	while (r.pdu < NR_PDUS && turns++ < 200000 && (!ret || ret == -EAGAIN))
		ret = read_turn(&r, e);
	CU_ASSERT_EQUAL_FATAL(r.pdu, NR_PDUS);
	CU_ASSERT_EQUAL(r.at, stream_bytes);
	CU_ASSERT_EQUAL_FATAL(memcmp(got, stream, stream_bytes), 0);
	CU_ASSERT_EQUAL(wire_input(e->wire), 0);
}

static void test_receive_cut_everywhere(void)
{
	struct ends e;

	open_ends(&e);
	for (size_t at = 0; at <= stream_bytes; at++) {
		fill(&e);
		cut_set(&cut_in, at, at % 5 ? EAGAIN : EINTR);
		check_all_is_read(&e);
	}
	close_ends(&e);
}

static void test_receive_in_crumbs(void)
{
	struct ends e;

	open_ends(&e);
	for (size_t most = 1; most < 130; most += most < 60 ? 1 : 23) {
		fill(&e);
		cut_set(&cut_in, 0, CUT_NOT);
		cut_in.most = most;
		check_all_is_read(&e);
	}
	close_ends(&e);
}

static void test_receive_is_batched(void)
{
	struct ends e;

	open_ends(&e);
	fill(&e);
	check_all_is_read(&e);
	/* all at once */
	CU_ASSERT_EQUAL(cut_in.calls, 1);
	fill(&e);
	cut_set(&cut_in, 0, CUT_NOT);
	check_all_is_read(&e);
	/* after a large segment: it, and what comes after it */
	CU_ASSERT_TRUE(cut_in.calls <= 5);
	close_ends(&e);
}

/* What came before the end, or before an error, is given first; then it. */
static void check_end(size_t at, int then, int want)
{
	struct reader r = {0};
	struct ends e;
	int turns = 0, ret = 0;

	open_ends(&e);
	fill(&e);
	cut_set(&cut_in, at, then);
	while (turns++ < 100 && (!ret || ret == -EAGAIN))
		ret = read_turn(&r, &e);
	CU_ASSERT_EQUAL(ret, want);
	CU_ASSERT_EQUAL(r.at, at);
	CU_ASSERT_EQUAL(memcmp(got, stream, at), 0);
	close_ends(&e);
}

static void test_receive_ends_anywhere(void)
{
	for (size_t at = 0; at < stream_bytes; at += at < 300 ? 1 : 37) {
		check_end(at, CUT_EOF, 1);
		check_end(at, ECONNRESET, -ECONNRESET);
	}
}

/* A large segment is received in its place, with little beyond it; an error
 * that comes when part of an answer is already there is told after that. */
static void test_receive_large(void)
{
	struct iovec v = {got, 20000}, rest = {got + 20000, 20000};
	struct wire *outer;
	size_t ahead;
	struct ends e;

	open_ends(&e);
	fill(&e);
	outer = wire_enter(e.wire);
	CU_ASSERT_EQUAL(readv(e.ours, &v, 1), 20000);
	ahead = cut_in.asked - 20000;
	CU_ASSERT_TRUE(ahead > 0 && ahead <= 2048);
	CU_ASSERT_EQUAL(wire_input(e.wire), ahead);
	cut_set(&cut_in, 0, ECONNRESET);
	CU_ASSERT_EQUAL(readv(e.ours, &rest, 1), (ssize_t)ahead);
	CU_ASSERT_EQUAL(readv(e.ours, &rest, 1), -1);
	CU_ASSERT_EQUAL(errno, ECONNRESET);
	wire_leave(outer);
	CU_ASSERT_EQUAL(memcmp(got, stream, 20000 + ahead), 0);
	close_ends(&e);
}

static void test_receive_from_the_dead(void)
{
	struct reader r = {0};
	struct ends e;

	open_ends(&e);
	fill(&e);
	close(e.theirs);
	e.theirs = -1;
	CU_ASSERT_EQUAL(read_turn(&r, &e), 0);
	CU_ASSERT_EQUAL(r.pdu, NR_PDUS);
	r.pdu = 0;
	CU_ASSERT_EQUAL(read_turn(&r, &e), 1);
	close_ends(&e);
}

/* --- as libiscsi writes --- */

struct writer {
	int pdu;
	size_t written; /* of this PDU */
	size_t at;	/* in stream[] */
};

static ssize_t send_copy(int fd, const char *from, size_t n)
{
	char *header = malloc(n);
	ssize_t ret;

	memcpy(header, from, n);
	ret = send(fd, header, n, MSG_NOSIGNAL);
	memset(header, 0xee, n); /* libiscsi frees it now */
	free(header);
	return ret;
}

/* iscsi_write_to_socket(): 0 when all is out, else -errno. */
static int write_pdus(struct writer *w, int fd)
{
	ssize_t n;

	while (w->pdu < NR_PDUS) {
		size_t data = segments[w->pdu], all = HEADER + padded(data);
		size_t at = w->written;

		if (at == all) {
			w->pdu++;
			w->written = 0;
			continue;
		}
		if (at < HEADER) {
			n = send_copy(fd, stream + w->at, HEADER - at);
		} else if (at < HEADER + data) {
			struct iovec v = {stream + w->at, HEADER + data - at};

			n = writev(fd, &v, 1);
		} else {
			n = send_copy(fd, stream + w->at, all - at);
		}
		if (n < 0)
			return -errno;
		w->written += n;
		w->at += n;
	}
	return 0;
}

/* As iscsi_link.c's flush_output(). */
static int write_turn(struct writer *w, struct ends *e)
{
	struct wire *outer = wire_enter(e->wire);
	int ret = write_pdus(w, e->ours);

	wire_leave(outer);
	if (ret && ret != -EAGAIN)
		return ret;
	return wire_flush(e->wire);
}

static size_t drain(struct ends *e, size_t at)
{
	ssize_t n;

	while ((n = read(e->theirs, got + at, sizeof(got) - at)) > 0)
		at += n;
	return at;
}

static void check_all_is_written(struct ends *e)
{
	struct writer w = {0};
	int turns = 0, ret = -EAGAIN;
	size_t at = 0;

	memset(got, 0, sizeof(got));
	while (at < stream_bytes && turns++ < 200000 &&
	       (!ret || ret == -EAGAIN)) {
		ret = write_turn(&w, e);
		at = drain(e, at);
	}
	CU_ASSERT_EQUAL_FATAL(ret, 0);
	CU_ASSERT_EQUAL_FATAL(at, stream_bytes);
	CU_ASSERT_EQUAL_FATAL(memcmp(got, stream, stream_bytes), 0);
	CU_ASSERT_FALSE(wire_has_output(e->wire));
	CU_ASSERT_FALSE(wire_holds(e->wire, stream, stream_bytes));
}

static void test_send_cut_everywhere(void)
{
	struct ends e;

	open_ends(&e);
	for (size_t at = 0; at <= stream_bytes; at++) {
		cut_set(&cut_out, at, at % 5 ? EAGAIN : EINTR);
		check_all_is_written(&e);
	}
	close_ends(&e);
}

static void test_send_in_crumbs(void)
{
	struct ends e;

	open_ends(&e);
	for (size_t most = 1; most < 130; most += most < 60 ? 1 : 23) {
		cut_set(&cut_out, 0, CUT_NOT);
		cut_out.most = most;
		check_all_is_written(&e);
	}
	close_ends(&e);
}

static void test_send_is_batched(void)
{
	struct ends e;

	open_ends(&e);
	check_all_is_written(&e);
	CU_ASSERT_EQUAL(cut_out.calls, 1);
	close_ends(&e);
}

static void test_send_fails_anywhere(void)
{
	struct ends e;

	for (size_t at = 0; at < stream_bytes; at += at < 300 ? 1 : 37) {
		struct writer w = {0};
		int turns = 0, ret = 0;

		open_ends(&e);
		cut_set(&cut_out, at, at % 2 ? ECONNRESET : EPIPE);
		do
			ret = write_turn(&w, &e);
		while ((!ret || ret == -EAGAIN) && turns++ < 100);
		CU_ASSERT_EQUAL(ret, at % 2 ? -ECONNRESET : -EPIPE);
		memset(got, 0, sizeof(got));
		CU_ASSERT_EQUAL(drain(&e, 0), at);
		CU_ASSERT_EQUAL(memcmp(got, stream, at), 0);
		close_ends(&e);
	}
}

/* A target that takes nothing: the queue fills, then libiscsi is told. */
static void test_send_to_the_deaf(void)
{
	size_t queued = 0, read_back = 0;
	ssize_t n;
	struct ends e;
	struct wire *outer;

	open_ends(&e);
	cut_out.most = 1;
	outer = wire_enter(e.wire);
	while ((n = send_copy(e.ours, stream + queued % 4096, HEADER)) > 0)
		queued += n;
	CU_ASSERT_EQUAL(errno, EAGAIN);
	CU_ASSERT_TRUE(queued >= 16384);
	CU_ASSERT_TRUE(queued <= 65536);
	wire_leave(outer);
	cut_out.most = 0;
	CU_ASSERT_EQUAL(wire_flush(e.wire), 0);
	read_back = drain(&e, 0);
	CU_ASSERT_EQUAL(read_back, queued);
	for (size_t i = 0; i + HEADER <= queued; i += HEADER)
		CU_ASSERT_EQUAL_FATAL(
			memcmp(got + i, stream + i % 4096, HEADER), 0);
	close_ends(&e);
}

/* A payload is borrowed until it has gone; a small one is copied. */
static void test_holds(void)
{
	static char payload[WIRE_REF_MIN * 4];
	struct iovec v = {payload + WIRE_REF_MIN, WIRE_REF_MIN};
	struct iovec small = {payload, WIRE_REF_MIN - 1};
	struct wire *outer;
	struct ends e;

	open_ends(&e);
	outer = wire_enter(e.wire);
	CU_ASSERT_EQUAL(writev(e.ours, &small, 1), WIRE_REF_MIN - 1);
	CU_ASSERT_FALSE(wire_holds(e.wire, payload, sizeof(payload)));
	CU_ASSERT_EQUAL(writev(e.ours, &v, 1), WIRE_REF_MIN);
	wire_leave(outer);
	CU_ASSERT_TRUE(wire_holds(e.wire, payload, sizeof(payload)));
	CU_ASSERT_TRUE(wire_holds(e.wire, payload, WIRE_REF_MIN + 1));
	CU_ASSERT_FALSE(wire_holds(e.wire, payload, WIRE_REF_MIN));
	CU_ASSERT_FALSE(wire_holds(e.wire, payload + 2 * WIRE_REF_MIN, 9));
	cut_set(&cut_out, WIRE_REF_MIN + 7, EAGAIN);
	CU_ASSERT_EQUAL(wire_flush(e.wire), -EAGAIN);
	CU_ASSERT_TRUE(wire_holds(e.wire, payload + 2 * WIRE_REF_MIN - 1, 1));
	CU_ASSERT_EQUAL(wire_flush(e.wire), -EAGAIN); /* the cut's */
	CU_ASSERT_EQUAL(wire_flush(e.wire), 0);
	CU_ASSERT_FALSE(wire_holds(e.wire, payload, sizeof(payload)));
	CU_ASSERT_FALSE(wire_holds(NULL, payload, sizeof(payload)));
	close_ends(&e);
}

/* --- others are left alone --- */

static void check_straight(int a, int b)
{
	char text[] = "straight", back[16];
	struct iovec v = {text, 8}, r = {back, 8};

	CU_ASSERT_EQUAL(send(a, text, 8, MSG_NOSIGNAL), 8);
	CU_ASSERT_EQUAL(writev(a, &v, 1), 8);
	CU_ASSERT_EQUAL(recv(b, back, 8, MSG_PEEK), 8);
	CU_ASSERT_EQUAL(recv(b, back, 8, 0), 8);
	CU_ASSERT_EQUAL(memcmp(back, text, 8), 0);
	CU_ASSERT_EQUAL(readv(b, &r, 1), 8);
	CU_ASSERT_EQUAL(memcmp(back, text, 8), 0);
	CU_ASSERT_EQUAL(recv(b, back, 8, MSG_DONTWAIT), -1);
	CU_ASSERT_EQUAL(errno, EAGAIN);
}

static void check_file(void)
{
	char path[] = "/tmp/lunbench-unit.XXXXXX", back[4];
	int fd = mkstemp(path);
	struct iovec v[2] = {{"ab", 2}, {"cd", 2}}, r = {back, 4};

	CU_ASSERT_EQUAL(writev(fd, v, 2), 4);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	CU_ASSERT_EQUAL(readv(fd, &r, 1), 4);
	CU_ASSERT_EQUAL(memcmp(back, "abcd", 4), 0);
	CU_ASSERT_EQUAL(send(fd, "x", 1, 0), -1);
	CU_ASSERT_EQUAL(errno, ENOTSOCK);
	close(fd);
	unlink(path);
	CU_ASSERT_EQUAL(writev(-1, v, 2), -1);
	CU_ASSERT_EQUAL(errno, EBADF);
	CU_ASSERT_EQUAL(recv(-1, back, 4, 0), -1);
	CU_ASSERT_EQUAL(errno, EBADF);
}

static void *foreign_thread(void *arg)
{
	struct ends *e = arg;

	/* even on the wire's own descriptor */
	check_straight(e->theirs, e->ours);
	check_straight(e->ours, e->theirs);
	check_file();
	return NULL;
}

static void test_others_are_untouched(void)
{
	struct ends e, other;
	struct wire *outer, *nested;
	pthread_t thread;

	open_ends(&other);
	open_ends(&e);
	outer = wire_enter(e.wire);
	CU_ASSERT_PTR_NULL(outer);
	check_straight(other.ours, other.theirs);
	check_straight(other.theirs, other.ours);
	check_file();
	pthread_create(&thread, NULL, foreign_thread, &e);
	pthread_join(thread, NULL);
	/* a plain session inside a batched one */
	nested = wire_enter(NULL);
	check_straight(e.ours, e.theirs);
	wire_leave(nested);
	/* and another batched one */
	nested = wire_enter(other.wire);
	check_straight(e.ours, e.theirs);
	wire_leave(nested);
	CU_ASSERT_EQUAL(send(e.ours, "queued", 6, 0), 6);
	CU_ASSERT_TRUE(wire_has_output(e.wire));
	CU_ASSERT_FALSE(wire_has_output(other.wire));
	wire_leave(outer);
	check_straight(e.ours, e.theirs);
	close_ends(&e);
	close_ends(&other);
}

/* A descriptor's number used again has nothing of the one before. */
static void test_number_used_again(void)
{
	struct reader r = {0};
	struct writer w = {0};
	struct ends e;
	int before;

	open_ends(&e);
	before = e.ours;
	fill(&e);
	cut_set(&cut_in, 60, EAGAIN);
	cut_set(&cut_out, 60, EAGAIN);
	CU_ASSERT_EQUAL(read_turn(&r, &e), 0);
	CU_ASSERT_EQUAL(write_turn(&w, &e), -EAGAIN);
	CU_ASSERT_TRUE(wire_has_output(e.wire));
	close_ends(&e);
	open_ends(&e);
	CU_ASSERT_EQUAL(e.ours, before);
	check_straight(e.ours, e.theirs);
	check_all_is_written(&e);
	fill(&e);
	check_all_is_read(&e);
	close_ends(&e);
}

/* One buffer serves many, and those that hold bytes have their own. */
static void test_many_wires(void)
{
	enum { N = 50 };
	struct reader r;
	struct ends e[N];
	char first[N];

	for (int i = 0; i < N; i++) {
		open_ends(&e[i]);
		CU_ASSERT_EQUAL(write(e[i].theirs, stream, 200), 200);
	}
	for (int i = 0; i < N; i++) {
		struct wire *outer = wire_enter(e[i].wire);

		CU_ASSERT_EQUAL(recv(e[i].ours, first + i, 1, 0), 1);
		wire_leave(outer);
		CU_ASSERT_EQUAL(wire_input(e[i].wire), 199);
	}
	for (int i = 0; i < N; i++) {
		r = (struct reader){.header = 1, .at = 1};
		got[0] = first[i];
		read_turn(&r, &e[i]);
		CU_ASSERT_EQUAL(r.at, 200);
		CU_ASSERT_EQUAL(memcmp(got, stream, 200), 0);
	}
	for (int i = 0; i < N; i++)
		close_ends(&e[i]);
}

UNIT_TESTS("wire", {"receive cut everywhere", test_receive_cut_everywhere},
	   {"receive in crumbs", test_receive_in_crumbs},
	   {"receive is batched", test_receive_is_batched},
	   {"receive ends anywhere", test_receive_ends_anywhere},
	   {"receive large", test_receive_large},
	   {"receive from the dead", test_receive_from_the_dead},
	   {"send cut everywhere", test_send_cut_everywhere},
	   {"send in crumbs", test_send_in_crumbs},
	   {"send is batched", test_send_is_batched},
	   {"send fails anywhere", test_send_fails_anywhere},
	   {"send to the deaf", test_send_to_the_deaf}, {"holds", test_holds},
	   {"others are untouched", test_others_are_untouched},
	   {"a number used again", test_number_used_again},
	   {"many wires", test_many_wires})
