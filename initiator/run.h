#ifndef INITIATOR_RUN_H
#define INITIATOR_RUN_H

#include <signal.h>

#include "base/err.h"
#include "initiator/meter.h"
#include "initiator/transport.h"
#include "workloads/plan.h"

/*
 * Runs a plan: group after group; in each, workers (threads) that own their
 * sessions. Sessions connect before the group's clock starts and close after
 * its drain. Every wait has a deadline.
 */

struct verify;

enum on_disconnect { DISCONNECT_REOPEN, DISCONNECT_FAIL };

struct run_progress { /* of the group that runs now */
	size_t group, nr_groups;
	const char *phase;    /* "connecting", "ramp", "running", "draining" */
	const char *row_name; /* of the group's first row, with its step and
				 repeat where there are several */
	double fraction;      /* 0..1 of the whole run; < 0 unknown */
	uint64_t elapsed_ns, left_ns; /* whole run; left UINT64_MAX unknown */
	bool left_is_most;	      /* until may end it before */
	/* over the last interval */
	double bytes_per_s, ios_per_s;
	double mean_service_ns, p99_service_ns;
	unsigned int sessions_up, sessions_down;
	uint64_t errors;
};

struct run_aside {
	uint64_t at_ns;		 /* since the first group's clock started */
	struct group_run *group; /* private */
};

struct run_opts {
	const struct url *url;		   /* borrowed */
	const struct transport *transport; /* of that url */
	struct initiator_opts initiator;
	unsigned int workers; /* threads, >= 1 */
	enum on_disconnect on_disconnect;
	uint64_t reopen_timeout_ns; /* a session may be away that long */
	uint64_t interval_ns;	    /* of the series; 1 s */
	uint64_t progress_ns;	    /* how often on_progress; 0 never */
	/* On the thread that called run_plan. */
	void (*on_progress)(void *user, const struct run_progress *p);
	void (*on_event)(void *user, const struct run_event *ev);
	void *user;
	/* After each pass but the last, on the same thread: true leaves the
	 * others out, and the run is complete. NULL: never. */
	bool (*on_pass)(void *user, const struct run_result *r,
			unsigned int pass);
	void *pass_user;
	/* Beside the load: what happens in the target meanwhile, or is made to
	 * happen. Called on the thread that called run_plan(), while a group
	 * runs, from the start of the first one's clock on; returns when it
	 * wants to be called next, on the clock of a->at_ns (it may be called
	 * before). No I/O waits for it; the live line and Ctrl-C do. Never on a
	 * virtual loop. */
	uint64_t (*on_aside)(void *aside_user, struct run_aside *a);
	void *aside_user;
	/* On the same thread, as soon as it can: a row's window opens; its last
	 * I/O is done. Nothing of a row that ended before its window, which
	 * never opens. Never on a virtual loop. */
	void (*on_window)(void *window_user, size_t row, bool opens);
	void *window_user;
	/* Stamps what is written and looks at what is read; borrowed. Then
	 * there is one worker. NULL: data is not looked at. */
	struct verify *verify;
	/* != 0: stop now, drain, keep what was measured; >= 2: do not drain. */
	const volatile sig_atomic_t *stop;
};

void run_opts_init(struct run_opts *o);

/* Notes an event, now. Inside on_aside only. */
void run_note(struct run_aside *a, enum event_kind kind, const char *text);

/* 0 when a result exists, even a partial one (r->end and r->error tell);
 * -errno when nothing could start. The caller releases r in both cases. */
int run_plan(const struct plan *p, const struct run_opts *o,
	     struct run_result *r, struct err *e);

#endif
