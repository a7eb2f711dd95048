#include "initiator/sends.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

enum {
	RING = 256,
	/* Below, the calls that are saved are not worth the ring's own. */
	WORTH_IT = 3,
};

#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT)

struct list {
	struct send *first, **end;
};

struct sends {
	struct loop *loop;
	struct loop_task task;
	struct list waiting; /* for the end of the turn */
	struct list done;    /* with a result that is not told yet */
	struct io_uring ring;
	bool has_ring, has_no_ring; /* neither: not tried yet */
};

static void list_init(struct list *l)
{
	l->first = NULL;
	l->end = &l->first;
}

static void list_add(struct list *l, struct send *one)
{
	one->next = NULL;
	*l->end = one;
	l->end = &one->next;
}

static struct send *list_pop(struct list *l)
{
	struct send *one = l->first;

	if (!one)
		return NULL;
	l->first = one->next;
	if (!l->first)
		l->end = &l->first;
	return one;
}

static bool list_remove(struct list *l, const struct send *one)
{
	struct send **p = &l->first;

	while (*p && *p != one)
		p = &(*p)->next;
	if (!*p)
		return false;
	*p = one->next;
	if (l->end == &one->next)
		l->end = p;
	return true;
}

/* --- sending --- */

static void send_alone(struct send *one)
{
	ssize_t n;

	do
		n = sendmsg(one->fd, &one->message, SEND_FLAGS);
	while (n < 0 && errno == EINTR);
	one->result = n < 0 ? -errno : n;
}

/* A kernel without io_uring, or a container that forbids it: asked once. */
static bool has_ring(struct sends *s)
{
	if (!s->has_ring && !s->has_no_ring) {
		s->has_ring = !io_uring_queue_init(RING, &s->ring, 0);
		s->has_no_ring = !s->has_ring;
	}
	return s->has_ring;
}

static void give_up_ring(struct sends *s)
{
	io_uring_queue_exit(&s->ring);
	s->has_ring = false;
	s->has_no_ring = true;
}

/* Carries out the @nr sends that are in the ring. Should the kernel not take
 * all of them, the ring goes, with what it had not taken: that is sent alone.
 */
static void run_ring(struct sends *s, unsigned int nr)
{
	struct io_uring_cqe *cqe;
	struct send *one;
	int ret;

	do
		ret = io_uring_submit_and_wait(&s->ring, nr);
	while (ret == -EINTR);
	while (nr && !io_uring_peek_cqe(&s->ring, &cqe)) {
		one = io_uring_cqe_get_data(cqe);
		one->result = cqe->res;
		io_uring_cqe_seen(&s->ring, cqe);
		nr--;
	}
	if (nr)
		give_up_ring(s);
}

/* Those of @from on, as many as go at once; where the next is. */
static struct send *send_some(struct sends *s, struct send *from)
{
	struct io_uring_sqe *sqe;
	struct send *one;
	unsigned int nr = 0;

	for (one = from; one && (sqe = io_uring_get_sqe(&s->ring));
	     one = one->next) {
		io_uring_prep_sendmsg(sqe, one->fd, &one->message, SEND_FLAGS);
		io_uring_sqe_set_data(sqe, one);
		one->result = -EINPROGRESS;
		nr++;
	}
	run_ring(s, nr);
	for (; from != one; from = from->next)
		if (from->result == -EINPROGRESS)
			send_alone(from);
	return one;
}

static void send_all(struct sends *s, size_t nr)
{
	struct send *one = s->done.first;

	while (one && nr >= WORTH_IT && has_ring(s))
		one = send_some(s, one);
	for (; one; one = one->next)
		send_alone(one);
}

/* All are sent before the first is told: it may cancel others. */
static void on_turn_end(struct loop_task *t)
{
	struct sends *s = (void *)((char *)t - offsetof(struct sends, task));
	struct send *one;
	size_t nr = 0;

	while ((one = list_pop(&s->waiting))) {
		one->is_queued = false;
		memset(&one->message, 0, sizeof(one->message));
		if (!one->on_turn(one, &one->message))
			continue;
		one->is_queued = true;
		list_add(&s->done, one);
		nr++;
	}
	send_all(s, nr);
	while ((one = list_pop(&s->done))) {
		one->is_queued = false;
		one->on_sent(one, one->result);
	}
}

/* --- life --- */

struct sends *sends_new(struct loop *l)
{
	struct sends *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->loop = l;
	s->task.on_task = on_turn_end;
	list_init(&s->waiting);
	list_init(&s->done);
	return s;
}

void sends_free(struct sends *s)
{
	if (!s)
		return;
	loop_defer_cancel(s->loop, &s->task);
	if (s->has_ring)
		io_uring_queue_exit(&s->ring);
	free(s);
}

void sends_add(struct sends *s, struct send *one)
{
	if (one->is_queued)
		return;
	one->is_queued = true;
	list_add(&s->waiting, one);
	loop_defer(s->loop, &s->task);
}

void sends_cancel(struct sends *s, struct send *one)
{
	if (!one->is_queued)
		return;
	if (!list_remove(&s->waiting, one))
		list_remove(&s->done, one);
	one->is_queued = false;
}
