#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "initiator/sends.h"
#include "tests/unit/unit.h"

enum { MANY = 300 }; /* more than go at once */

static struct loop *loop;

struct sender {
	struct send send;
	struct iovec v;
	int peer;
	bool has_nothing;
	int nr_told;
	ssize_t told;
	struct sender *cancels; /* when it is told */
	bool adds_again;
};

static struct sender senders[MANY];

static bool on_turn(struct send *s, struct msghdr *m)
{
	struct sender *one = (struct sender *)s;

	m->msg_iov = &one->v;
	m->msg_iovlen = 1;
	return !one->has_nothing;
}

static void on_sent(struct send *s, ssize_t result)
{
	struct sender *one = (struct sender *)s;

	one->nr_told++;
	one->told = result;
	if (one->cancels)
		sends_cancel(loop_sends(loop), &one->cancels->send);
	if (one->adds_again) {
		one->adds_again = false;
		sends_add(loop_sends(loop), s);
	}
}

static void setup(int nr)
{
	struct err e;
	int fd[2];

	CU_ASSERT_EQUAL_FATAL(loop_new(&loop, false, &e), 0);
	memset(senders, 0, sizeof(senders));
	for (int i = 0; i < nr; i++) {
		struct sender *one = &senders[i];

		CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fd),
				      0);
		one->send = (struct send){
			.fd = fd[0], .on_turn = on_turn, .on_sent = on_sent};
		one->v = (struct iovec){"hello", 5};
		one->peer = fd[1];
	}
}

static void teardown(int nr)
{
	for (int i = 0; i < nr; i++) {
		close(senders[i].send.fd);
		close(senders[i].peer);
	}
	loop_free(loop);
}

static void add(int nr)
{
	for (int i = 0; i < nr; i++)
		sends_add(loop_sends(loop), &senders[i].send);
}

static int received(const struct sender *one)
{
	char buf[64];

	return recv(one->peer, buf, sizeof(buf), MSG_DONTWAIT);
}

/* @nr at once, each twice in the turn: all arrive, once. */
static void send_many(int nr)
{
	int right = 0;

	setup(nr);
	add(nr);
	add(nr);
	CU_ASSERT_EQUAL(senders[0].nr_told, 0);
	CU_ASSERT_EQUAL(loop_turn(loop, 0), 0);
	for (int i = 0; i < nr; i++)
		right += senders[i].nr_told == 1 && senders[i].told == 5 &&
			 received(&senders[i]) == 5;
	CU_ASSERT_EQUAL(right, nr);
	loop_turn(loop, 0);
	CU_ASSERT_EQUAL(senders[0].nr_told, 1);
	teardown(nr);
}

static void test_many(void)
{
	static const int nrs[] = {1, 2, 3, 17, MANY};

	for (size_t i = 0; i < sizeof(nrs) / sizeof(*nrs); i++)
		send_many(nrs[i]);
}

/* No descriptor is left for a ring: as a kernel without one. */
static void test_without_ring(void)
{
	struct rlimit old, low;
	int right = 0;

	setup(10);
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = dup(0);
	close(low.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &low);
	add(10);
	loop_turn(loop, 0);
	setrlimit(RLIMIT_NOFILE, &old);
	for (int i = 0; i < 10; i++)
		right += senders[i].told == 5 && received(&senders[i]) == 5;
	CU_ASSERT_EQUAL(right, 10);
	teardown(10);
}

/* One has no room, one is closed, one takes a part, one has nothing: each is
 * told its own, and the others are not held up. */
static void test_each_its_own(void)
{
	static char large[4 << 20], fill[4096];

	setup(8);
	while (send(senders[1].send.fd, fill, sizeof(fill), MSG_DONTWAIT) > 0)
		;
	close(senders[3].peer);
	senders[3].peer = dup(0);
	senders[5].v = (struct iovec){large, sizeof(large)};
	senders[6].has_nothing = true;
	add(8);
	loop_turn(loop, 0);
	CU_ASSERT_EQUAL(senders[0].told, 5);
	CU_ASSERT_EQUAL(senders[1].told, -EAGAIN);
	CU_ASSERT_EQUAL(senders[3].told, -EPIPE);
	CU_ASSERT_TRUE(senders[5].told > 0);
	CU_ASSERT_TRUE(senders[5].told < (ssize_t)sizeof(large));
	CU_ASSERT_EQUAL(senders[6].nr_told, 0);
	CU_ASSERT_EQUAL(senders[7].told, 5);
	teardown(8);
}

/* From on_sent: another's answer is cancelled, and one's own is added anew. */
static void test_inside(void)
{
	setup(6);
	senders[0].cancels = &senders[4];
	senders[2].adds_again = true;
	add(6);
	loop_turn(loop, 0);
	CU_ASSERT_EQUAL(senders[4].nr_told, 0);
	CU_ASSERT_EQUAL(senders[5].nr_told, 1);
	CU_ASSERT_EQUAL(senders[2].nr_told, 2);
	CU_ASSERT_EQUAL(received(&senders[2]), 10);
	/* Before the turn ends, it is not sent either. */
	sends_add(loop_sends(loop), &senders[1].send);
	sends_cancel(loop_sends(loop), &senders[1].send);
	sends_cancel(loop_sends(loop), &senders[1].send);
	loop_turn(loop, 0);
	CU_ASSERT_EQUAL(received(&senders[1]), 5);
	teardown(6);
}

UNIT_TESTS("sends", {"all of a turn, once", test_many},
	   {"without io_uring", test_without_ring},
	   {"each is told its own", test_each_its_own},
	   {"cancelled and added inside", test_inside})
