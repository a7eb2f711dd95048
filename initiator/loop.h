#ifndef INITIATOR_LOOP_H
#define INITIATOR_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * One event loop, one thread: epoll, timers, and tasks for the end of a turn.
 * Nodes are embedded in their owners and must outlive their registration.
 *
 * A virtual loop has no descriptors to wait for: when nothing is ready, its
 * clock jumps to the next timer. The sim transport needs it; everything above
 * asks loop_now_ns() and cannot tell.
 */
struct loop;

struct loop_fd {
	int fd;
	void (*on_event)(struct loop_fd *f, uint32_t epoll_events);
};

struct loop_timer {
	void (*on_timer)(struct loop_timer *t);
	uint64_t at_ns;
	/* private: a pairing heap, so that arming never allocates */
	bool is_set;
	uint64_t order;
	struct loop_timer *child, *next, *prev;
};

struct loop_task { /* runs once, at the end of this turn */
	void (*on_task)(struct loop_task *t);
	struct loop_task *next; /* private */
	bool is_queued;
};

int loop_new(struct loop **l, bool is_virtual, struct err *e);
void loop_free(struct loop *l);
bool loop_is_virtual(const struct loop *l);

/* Real: reads CLOCK_MONOTONIC each time. Virtual: the simulated now. */
uint64_t loop_now_ns(const struct loop *l);

/* After a descriptor is closed and its number reused, the old registration is
 * gone: always loop_fd_del() before close(). */
int loop_fd_add(struct loop *l, struct loop_fd *f, uint32_t epoll_events,
		struct err *e);
int loop_fd_mod(struct loop *l, struct loop_fd *f, uint32_t epoll_events);
void loop_fd_del(struct loop *l, struct loop_fd *f);

/* Arms (or re-arms) @t; a time in the past fires in the next turn. Timers of
 * the same time fire in the order of arming. */
void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t at_ns);
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

void loop_defer(struct loop *l, struct loop_task *t);
void loop_defer_cancel(struct loop *l, struct loop_task *t);

/* What is sent at the end of a turn (initiator/sends.h). NULL: no memory. */
struct sends;
struct sends *loop_sends(struct loop *l);

/* One turn: waits at most @max_wait_ns for events or timers, handles them,
 * then the tasks (those queued by tasks, too: work that feeds itself must go
 * through a timer). 0 or -errno; -EINTR is not an error. */
int loop_turn(struct loop *l, uint64_t max_wait_ns);

#endif
