#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "initiator/loop.h"
#include "tests/unit/unit.h"

static struct loop *loop;
static int order[64], nr_order;

struct numbered {
	struct loop_timer timer;
	struct loop_task task;
	struct loop_fd fd;
	int number;
	int again; /* times to re-arm for the past */
	uint64_t at_ns;
};

static struct loop *new_loop(bool is_virtual)
{
	struct err e;

	nr_order = 0;
	CU_ASSERT_EQUAL_FATAL(loop_new(&loop, is_virtual, &e), 0);
	return loop;
}

static void note(struct numbered *n)
{
	if (nr_order < 64)
		order[nr_order++] = n->number;
	n->at_ns = loop_now_ns(loop);
}

static void on_timer(struct loop_timer *t)
{
	struct numbered *n = (struct numbered *)t;

	note(n);
	if (n->again > 0) {
		n->again--;
		loop_timer_set(loop, t, 0);
	}
}

static void on_task(struct loop_task *t)
{
	struct numbered *n =
		(void *)((char *)t - offsetof(struct numbered, task));

	note(n);
	if (n->again > 0) {
		n->again--;
		loop_defer(loop, t);
	}
}

static void test_virtual_jumps(void)
{
	struct numbered a = {.timer.on_timer = on_timer, .number = 1};
	struct numbered b = {.timer.on_timer = on_timer, .number = 2};
	uint64_t start;

	new_loop(true);
	start = loop_now_ns(loop);
	loop_timer_set(loop, &a.timer, start + 3600 * NS_PER_SEC);
	loop_timer_set(loop, &b.timer, start + 7);
	CU_ASSERT_EQUAL(loop_turn(loop, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(b.at_ns, start + 7);
	CU_ASSERT_EQUAL(nr_order, 1);
	/* A bounded wait moves the clock by that much and fires nothing. */
	loop_turn(loop, 10);
	CU_ASSERT_EQUAL(loop_now_ns(loop), start + 17);
	CU_ASSERT_EQUAL(nr_order, 1);
	while (nr_order < 2)
		loop_turn(loop, UINT64_MAX);
	CU_ASSERT_EQUAL(a.at_ns, start + 3600 * NS_PER_SEC);
	loop_free(loop);
}

static void test_timer_order(void)
{
	enum { N = 500 };
	struct numbered *t = calloc(N, sizeof(*t));
	uint64_t start, last = 0;
	struct rng rng;
	int i;

	rng_init(&rng, 1);
	new_loop(true);
	start = loop_now_ns(loop);
	for (i = 0; i < N; i++) {
		t[i].timer.on_timer = on_timer;
		t[i].number = i;
		loop_timer_set(loop, &t[i].timer,
			       start + 1 + rng_below(&rng, 100));
	}
	/* Re-arm some, cancel some: the heap's middle and its root. */
	for (i = 0; i < N; i += 3)
		loop_timer_set(loop, &t[i].timer,
			       start + 1 + rng_below(&rng, 100));
	for (i = 1; i < N; i += 3)
		loop_timer_cancel(loop, &t[i].timer);
	for (i = 0; i < 200; i++) {
		nr_order = 0;
		loop_turn(loop, 1);
	}
	for (i = 0; i < N; i++) {
		if (i % 3 == 1)
			CU_ASSERT_EQUAL(t[i].at_ns, 0)
		else
			CU_ASSERT_EQUAL(t[i].at_ns, t[i].timer.at_ns);
		if (t[i].at_ns > last)
			last = t[i].at_ns;
	}
	CU_ASSERT_TRUE(last <= start + 100);
	loop_free(loop);
	free(t);
}

static void test_same_time_is_fifo(void)
{
	struct numbered t[8] = {0};
	uint64_t start;
	int i;

	new_loop(true);
	start = loop_now_ns(loop);
	for (i = 0; i < 8; i++) {
		t[i].timer.on_timer = on_timer;
		t[i].number = i;
		loop_timer_set(loop, &t[i].timer, start + 5);
	}
	loop_turn(loop, UINT64_MAX);
	CU_ASSERT_EQUAL(nr_order, 8);
	for (i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(order[i], i);
	loop_free(loop);
}

/* One that is always due must not starve the others, nor fire twice a turn. */
static void starve(bool is_virtual)
{
	struct numbered greedy = {
		.timer.on_timer = on_timer, .number = 1, .again = 1000};
	struct numbered other = {.timer.on_timer = on_timer, .number = 2};

	new_loop(is_virtual);
	loop_timer_set(loop, &greedy.timer, 0);
	loop_timer_set(loop, &other.timer, loop_now_ns(loop));
	loop_turn(loop, UINT64_MAX);
	loop_turn(loop, UINT64_MAX);
	CU_ASSERT_EQUAL(nr_order, 3);
	CU_ASSERT_TRUE(other.at_ns > 0);
	loop_free(loop);
}

static void test_no_starvation(void)
{
	starve(true);
	starve(false);
}

static void test_tasks(void)
{
	struct numbered a = {.task.on_task = on_task, .number = 1, .again = 1};
	struct numbered b = {.task.on_task = on_task, .number = 2};
	struct numbered c = {.task.on_task = on_task, .number = 3};

	new_loop(false);
	loop_defer(loop, &a.task);
	loop_defer(loop, &a.task); /* once all the same */
	loop_defer(loop, &b.task);
	loop_defer(loop, &c.task);
	loop_defer_cancel(loop, &c.task);
	loop_defer_cancel(loop, &c.task);
	loop_turn(loop, UINT64_MAX); /* does not wait: there are tasks */
	CU_ASSERT_EQUAL(nr_order, 3);
	CU_ASSERT_EQUAL(order[0], 1);
	CU_ASSERT_EQUAL(order[1], 2);
	CU_ASSERT_EQUAL(order[2], 1);
	loop_defer(loop, &c.task); /* the tail survived the cancel */
	loop_turn(loop, 0);
	CU_ASSERT_EQUAL(nr_order, 4);
	loop_free(loop);
}

static struct numbered *victim;

static void on_fd(struct loop_fd *f, uint32_t events)
{
	struct numbered *n =
		(void *)((char *)f - offsetof(struct numbered, fd));
	char byte;

	CU_ASSERT_TRUE(events & EPOLLIN);
	CU_ASSERT_EQUAL(read(f->fd, &byte, 1), 1);
	note(n);
	if (victim && victim != n) {
		loop_fd_del(loop, &victim->fd);
		victim = NULL;
	} else if (victim) {
		victim = NULL;
	}
}

static void test_descriptors(void)
{
	struct numbered n[2] = {0};
	int p[2][2], i;
	struct err e;

	new_loop(false);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(pipe(p[i]), 0);
		n[i].fd.fd = p[i][0];
		n[i].fd.on_event = on_fd;
		n[i].number = i;
		CU_ASSERT_EQUAL(loop_fd_add(loop, &n[i].fd, EPOLLIN, &e), 0);
		CU_ASSERT_EQUAL(write(p[i][1], "xy", 2), 2);
	}
	CU_ASSERT_EQUAL(loop_fd_add(loop, &n[0].fd, EPOLLIN, &e), -EEXIST);
	CU_ASSERT_EQUAL(loop_fd_mod(loop, &n[0].fd, 0), 0);
	loop_turn(loop, NS_PER_SEC);
	CU_ASSERT_EQUAL(nr_order, 1);
	CU_ASSERT_EQUAL(order[0], 1);
	CU_ASSERT_EQUAL(loop_fd_mod(loop, &n[0].fd, EPOLLIN), 0);
	/* Both are ready; the first to run removes the other, whose event of
	 * the same turn must not come any more. */
	victim = &n[1];
	loop_turn(loop, NS_PER_SEC);
	if (nr_order == 3) /* the victim ran first: nothing was removed */
		loop_fd_del(loop, &n[1].fd);
	loop_fd_del(loop, &n[0].fd);
	CU_ASSERT_TRUE(nr_order == 2 || order[1] == 1);
	for (i = 0; i < 2; i++) {
		close(p[i][0]);
		close(p[i][1]);
	}
	loop_free(loop);
}

/* A descriptor number that is reused after close() works again. */
static void test_descriptor_reused(void)
{
	struct numbered n = {.fd.on_event = on_fd, .number = 1};
	int p[2], q[2];
	struct err e;

	new_loop(false);
	CU_ASSERT_EQUAL_FATAL(pipe(p), 0);
	n.fd.fd = p[0];
	CU_ASSERT_EQUAL(loop_fd_add(loop, &n.fd, EPOLLIN, &e), 0);
	CU_ASSERT_EQUAL_FATAL(pipe(q), 0);
	loop_fd_del(loop, &n.fd);
	CU_ASSERT_EQUAL(dup2(q[0], p[0]), p[0]);
	CU_ASSERT_EQUAL(loop_fd_add(loop, &n.fd, EPOLLIN, &e), 0);
	CU_ASSERT_EQUAL(write(q[1], "x", 1), 1);
	loop_turn(loop, NS_PER_SEC);
	CU_ASSERT_EQUAL(nr_order, 1);
	loop_fd_del(loop, &n.fd);
	close(p[0]);
	close(p[1]);
	close(q[0]);
	close(q[1]);
	loop_free(loop);
}

static void test_waits(void)
{
	struct numbered a = {.timer.on_timer = on_timer, .number = 1};
	uint64_t start;

	new_loop(false);
	start = loop_now_ns(loop);
	loop_turn(loop, 3 * NS_PER_MSEC);
	CU_ASSERT_TRUE(loop_now_ns(loop) - start >= 3 * NS_PER_MSEC);
	loop_timer_set(loop, &a.timer, loop_now_ns(loop) + 2 * NS_PER_MSEC);
	while (!nr_order)
		loop_turn(loop, UINT64_MAX);
	CU_ASSERT_TRUE(a.at_ns >= a.timer.at_ns);
	loop_free(loop);
}

static void test_virtual_has_no_descriptors(void)
{
	struct loop_fd f = {.fd = 0};
	struct err e;

	new_loop(true);
	CU_ASSERT_TRUE(loop_is_virtual(loop));
	CU_ASSERT_EQUAL(loop_fd_add(loop, &f, EPOLLIN, &e), -EOPNOTSUPP);
	loop_free(loop);
	loop_free(NULL);
}

UNIT_TESTS("loop", {"a virtual clock jumps", test_virtual_jumps},
	   {"timers fire at their time", test_timer_order},
	   {"timers of one time fire in order", test_same_time_is_fifo},
	   {"a busy timer starves none", test_no_starvation},
	   {"tasks", test_tasks}, {"descriptors", test_descriptors},
	   {"a reused descriptor", test_descriptor_reused},
	   {"real waits", test_waits},
	   {"no descriptors on a virtual loop",
	    test_virtual_has_no_descriptors})
