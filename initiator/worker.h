#ifndef INITIATOR_WORKER_H
#define INITIATOR_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/live.h"
#include "initiator/loop.h"
#include "initiator/meter.h"
#include "initiator/run.h"
#include "initiator/session.h"

/*
 * A thread, its loop, and the sessions that it owns for one group of the plan.
 * Workers share one struct group_run and nothing else: no lock or atomic is
 * touched per I/O, only in ticks and when something happens that a person
 * should hear of.
 */

enum stop_level {
	STOP_NOT,
	STOP_DRAIN, /* submit nothing more; wait for the rest, for a while */
	STOP_NOW,   /* do not wait */
};

/* Where a worker stands, copied a few times a second. */
struct worker_view {
	uint64_t at_ns; /* the loop's clock */
	struct live live;
	unsigned int sessions_up, sessions_down;
	bool is_draining;
};

struct group_run {
	const struct plan *plan;     /* borrowed */
	const struct run_opts *opts; /* borrowed */
	size_t index;		     /* of the group in the plan */
	unsigned int nr_workers;
	/* The run's time is a loop's time minus this; events are stamped so. */
	uint64_t origin_ns;

	_Atomic int stop;	       /* enum stop_level */
	_Atomic uint64_t start_ns;     /* loop time; 0: not all are open yet */
	_Atomic(bool) *row_is_stopped; /* owned; of each row of the plan */

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed;
	unsigned int nr_ready, nr_ended;
	struct err error; /* the first that ends the run; code 0: none */
	int *row_error;	  /* owned; -errno that ended each row of the plan */
	size_t *row_left; /* owned; of each row: sessions not finished */
	struct run_event *events; /* owned */
	size_t nr_events, cap_events;
	bool events_are_lost; /* no memory for one */
};

/* Notes something that happened at @at_ns of the loop's clock. Any thread. */
void group_note(struct group_run *g, enum event_kind kind, uint64_t at_ns,
		const char *text);

/* The first error is kept. @row: SIZE_MAX, or the row that it ends. */
void group_fail(struct group_run *g, const struct err *e, size_t row,
		uint64_t at_ns);

struct worker_usage {	/* a reading of getrusage and of the I/Os so far */
	uint64_t at_ns; /* the loop's clock */
	uint64_t user_ns, system_ns, switches, starved_ns;
	uint64_t waits; /* the switches that the thread wanted */
	uint64_t worker_ios, row_ios;
};

/* The part of a row that is this worker's. */
struct worker_row {
	struct meter meter; /* owned; zero if no session is in the row */
	size_t nr_sessions, nr_unfinished;
	uint64_t window_start_ns; /* absolute; the earliest of its sessions */
	struct worker *worker;
	struct loop_timer window; /* reads first_usage */
	struct worker_usage first_usage, last_usage;
	bool has_usage;
};

struct worker {
	struct group_run *group; /* borrowed */
	unsigned int number;
	pthread_t thread;
	bool has_thread, is_stuck; /* stuck: something did not close */
	struct loop *loop;	   /* owned */
	struct session *sessions;  /* owned */
	size_t nr_sessions;
	struct worker_row *rows; /* owned; as the plan's */
	struct live live;
	struct worker_view view; /* under the group's lock */

	/* Openings wait in a ring, so that only a few log in at a time. */
	struct session **wants_open; /* owned */
	size_t first_wanting, nr_wanting;
	unsigned int nr_opening, max_opening;
	struct loop_task gate;

	unsigned int nr_up, nr_ready;
	size_t nr_unfinished, nr_submitting, nr_closed;
	struct loop_timer tick;
	uint64_t published_ns, drain_until_ns;
	int stop_seen;
	uint64_t end_ns; /* when the last session was finished */
};

/* Takes every nr_workers-th client of the group, from @number on. */
int worker_init(struct worker *w, struct group_run *g, unsigned int number,
		struct err *e);
int worker_start(struct worker *w, struct err *e);
void worker_join(struct worker *w);    /* if it was started */
void worker_release(struct worker *w); /* joined, or zeroed */

#endif
