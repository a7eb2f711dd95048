#include "initiator/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "initiator/sends.h"

enum { EVENTS_A_TURN = 128 };

struct loop {
	int epoll_fd; /* owned; -1 for a virtual loop */
	size_t nr_fds;
	bool is_virtual;
	uint64_t virtual_ns;
	/* The newest time that timers were compared with: a timer armed for
	 * the past is put here, behind those that are due already. Without
	 * that, one that re-arms itself for "now" would starve the others. */
	uint64_t turn_ns;

	struct loop_timer *timers; /* root of the heap: the next to fire */
	uint64_t next_order;
	struct loop_task *tasks, **tasks_end;
	struct sends *sends; /* owned; NULL until asked for */

	/* Events of this turn; loop_fd_del() blanks what must not be called. */
	struct epoll_event events[EVENTS_A_TURN];
	int nr_events;
};

int loop_new(struct loop **out, bool is_virtual, struct err *e)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		return err_set(e, -ENOMEM, "no memory for an event loop");
	l->tasks_end = &l->tasks;
	l->is_virtual = is_virtual;
	l->virtual_ns = NS_PER_SEC; /* like CLOCK_MONOTONIC, never 0 */
	l->epoll_fd = -1;
	if (!is_virtual) {
		l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		if (l->epoll_fd < 0) {
			int code = -errno;

			free(l);
			return err_set(e, code, "epoll_create1: %s",
				       strerror(-code));
		}
	}
	*out = l;
	return 0;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	sends_free(l->sends);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l);
}

bool loop_is_virtual(const struct loop *l)
{
	return l->is_virtual;
}

uint64_t loop_now_ns(const struct loop *l)
{
	return l->is_virtual ? l->virtual_ns : clock_now_ns();
}

/* --- descriptors --- */

int loop_fd_add(struct loop *l, struct loop_fd *f, uint32_t epoll_events,
		struct err *e)
{
	struct epoll_event ev = {.events = epoll_events, .data.ptr = f};

	if (l->is_virtual)
		return err_set(e, -EOPNOTSUPP,
			       "a virtual clock cannot wait for descriptors");
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, f->fd, &ev)) {
		int code = -errno;

		return err_set(e, code, "epoll_ctl: %s", strerror(-code));
	}
	l->nr_fds++;
	return 0;
}

int loop_fd_mod(struct loop *l, struct loop_fd *f, uint32_t epoll_events)
{
	struct epoll_event ev = {.events = epoll_events, .data.ptr = f};

	return epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, f->fd, &ev) ? -errno : 0;
}

void loop_fd_del(struct loop *l, struct loop_fd *f)
{
	int i;

	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
	l->nr_fds--;
	for (i = 0; i < l->nr_events; i++)
		if (l->events[i].data.ptr == f)
			l->events[i].data.ptr = NULL;
}

/* --- timers --- */

static bool is_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->at_ns < b->at_ns ||
	       (a->at_ns == b->at_ns && a->order < b->order);
}

/* Both are roots without siblings, or NULL. */
static struct loop_timer *meld(struct loop_timer *a, struct loop_timer *b)
{
	struct loop_timer *t;

	if (!a || !b)
		return a ? a : b;
	if (is_before(b, a)) {
		t = a;
		a = b;
		b = t;
	}
	b->prev = a;
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	a->child = b;
	return a;
}

/* Melds a list of siblings into one root: in pairs, then from the last pair
 * to the first, which is what makes the heap logarithmic. */
static struct loop_timer *meld_siblings(struct loop_timer *t)
{
	struct loop_timer *pairs = NULL, *root = NULL, *a, *b;

	while (t) {
		a = t;
		b = a->next;
		t = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		a = pairs;
		pairs = a->next;
		a->next = NULL;
		root = meld(root, a);
	}
	return root;
}

void loop_timer_cancel(struct loop *l, struct loop_timer *t)
{
	struct loop_timer *orphans;

	if (!t->is_set)
		return;
	orphans = meld_siblings(t->child);
	if (t == l->timers) {
		l->timers = orphans;
	} else {
		if (t->prev->child == t)
			t->prev->child = t->next;
		else
			t->prev->next = t->next;
		if (t->next)
			t->next->prev = t->prev;
		l->timers = meld(l->timers, orphans);
	}
	t->child = t->next = t->prev = NULL;
	t->is_set = false;
}

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t at_ns)
{
	loop_timer_cancel(l, t);
	t->at_ns = at_ns > l->turn_ns ? at_ns : l->turn_ns;
	t->order = l->next_order++;
	t->is_set = true;
	l->timers = meld(l->timers, t);
}

/* Those due at @now_ns that were armed before this call. */
static void fire_timers(struct loop *l, uint64_t now_ns)
{
	uint64_t limit = l->next_order;
	struct loop_timer *t;

	l->turn_ns = now_ns;
	while ((t = l->timers) && t->at_ns <= now_ns && t->order < limit) {
		loop_timer_cancel(l, t);
		t->on_timer(t);
	}
}

/* --- tasks --- */

void loop_defer(struct loop *l, struct loop_task *t)
{
	if (t->is_queued)
		return;
	t->is_queued = true;
	t->next = NULL;
	*l->tasks_end = t;
	l->tasks_end = &t->next;
}

void loop_defer_cancel(struct loop *l, struct loop_task *t)
{
	struct loop_task **p = &l->tasks;

	if (!t->is_queued)
		return;
	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	if (l->tasks_end == &t->next)
		l->tasks_end = p;
	t->is_queued = false;
}

static void run_tasks(struct loop *l)
{
	struct loop_task *t;

	while ((t = l->tasks)) {
		loop_defer_cancel(l, t);
		t->on_task(t);
	}
}

struct sends *loop_sends(struct loop *l)
{
	if (!l->sends)
		l->sends = sends_new(l);
	return l->sends;
}

/* --- the turn --- */

/* Since Linux 5.11 and glibc 2.35; without it (valgrind, too) a wait is
 * rounded up to milliseconds. */
static int wait_events(struct loop *l, uint64_t wait_ns)
{
	struct timespec ts = {.tv_sec = wait_ns / NS_PER_SEC,
			      .tv_nsec = wait_ns % NS_PER_SEC};
	uint64_t wait_ms = (wait_ns + NS_PER_MSEC - 1) / NS_PER_MSEC;
	static _Atomic bool only_ms;
	int n;

	if (!only_ms) {
		n = epoll_pwait2(l->epoll_fd, l->events, EVENTS_A_TURN, &ts,
				 NULL);
		if (n >= 0 || errno != ENOSYS)
			return n < 0 ? -errno : n;
		only_ms = true;
	}
	n = epoll_wait(l->epoll_fd, l->events, EVENTS_A_TURN, wait_ms);
	return n < 0 ? -errno : n;
}

static void handle_events(struct loop *l, int n)
{
	struct loop_fd *f;
	int i;

	l->nr_events = n;
	for (i = 0; i < l->nr_events; i++) {
		f = l->events[i].data.ptr;
		if (f)
			f->on_event(f, l->events[i].events);
	}
	l->nr_events = 0;
}

/* How long the loop may sleep. An hour at most keeps the sums far from
 * overflow; a turn that ends early is harmless. */
static uint64_t time_to_wait(const struct loop *l, uint64_t now_ns,
			     uint64_t max_wait_ns)
{
	uint64_t wait_ns = 3600 * NS_PER_SEC;

	if (max_wait_ns < wait_ns)
		wait_ns = max_wait_ns;
	if (l->tasks)
		return 0;
	if (!l->timers)
		return wait_ns;
	if (l->timers->at_ns <= now_ns)
		return 0;
	if (l->timers->at_ns - now_ns < wait_ns)
		wait_ns = l->timers->at_ns - now_ns;
	return wait_ns;
}

int loop_turn(struct loop *l, uint64_t max_wait_ns)
{
	uint64_t now_ns = loop_now_ns(l);
	uint64_t wait_ns = time_to_wait(l, now_ns, max_wait_ns);
	int n = 0;

	if (l->is_virtual) {
		l->virtual_ns += wait_ns;
		now_ns = l->virtual_ns;
	} else if (wait_ns || l->nr_fds) {
		n = wait_events(l, wait_ns);
		if (n < 0 && n != -EINTR)
			return n;
		if (n > 0)
			handle_events(l, n);
		now_ns = clock_now_ns();
	}
	fire_timers(l, now_ns);
	run_tasks(l);
	return 0;
}
