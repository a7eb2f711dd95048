#ifndef INITIATOR_SESSION_H
#define INITIATOR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/live.h"
#include "initiator/loop.h"
#include "initiator/meter.h"
#include "initiator/run.h"
#include "initiator/transport.h"
#include "initiator/verify.h"
#include "workloads/pace.h"
#include "workloads/pattern.h"
#include "workloads/payload.h"
#include "workloads/plan.h"

/*
 * One client of the plan: fills its slots (queue depth) from pattern, pace and
 * payload, stamps and meters, and holds the policy: what is retried, when a
 * connection counts as lost, how it is opened again. One thread, its loop's.
 * Memory is allocated by init only.
 *
 *            open        start .. nothing more to submit
 *   IDLE --> OPENING --> READY ---------------> DRAINING
 *     |       |    ^       |                       |
 *     |       |    |       v  lost, or no answer   |
 *     |       |    |      LOST <-------------------+
 *     |       |    |       |  the old connection is closed
 *     |       +--> | <-----+
 *     |    failed WAITING  (back-off of the next attempt)
 *     v            v
 *   CLOSED <-- CLOSING <-- from any state: the end, or an error
 *
 * A failed attempt to open again passes through LOST, because its connection
 * has to be closed, too.
 */
enum session_state {
	SESSION_IDLE,
	SESSION_OPENING,
	SESSION_READY,
	SESSION_DRAINING,
	SESSION_LOST,
	SESSION_WAITING,
	SESSION_CLOSING,
	SESSION_CLOSED,
	SESSION_STATES
};

enum slot_state {
	SLOT_FREE,
	SLOT_FLYING, /* with the transport */
	SLOT_PAUSED, /* will be retried when its back-off is over */
	SLOT_PARKED, /* will be retried when there is a connection */
};

/* A place of the queue depth. One I/O and its stamps, kept over retries. */
struct slot {
	struct io io;
	struct session *session;
	struct slot *next_free;
	struct request request;
	enum slot_state state;
	bool counted;	       /* submitted in the measuring window */
	unsigned int attempts; /* retries so far */
	uint64_t intended_ns, submit_ns;
	uint64_t sent_ns; /* the last attempt, for the command time-out */
	uint64_t free_ns;
	uint64_t earlier_ns[WIRE_STAGES]; /* of answers that asked for a retry
					   */
	struct loop_timer pause;
	struct verify_io verify;
	void *read_buf, *write_buf; /* page aligned, in session->buffers. Apart,
				       because a read would destroy the payload
				       of later writes. */
};

enum error_scope {
	ERROR_ENDS_ROW, /* an I/O failed: fio's default */
	ERROR_ENDS_RUN, /* the target is gone, or not what it was */
};

/* Called from inside session functions: count, note, but call no session
 * function except session_stop(). */
struct session_events {
	void (*on_state)(void *user, struct session *s, enum session_state from,
			 enum session_state to);
	/* Once: nothing more to submit and nothing outstanding, or closed. */
	void (*on_finished)(void *user, struct session *s);
	void (*on_error)(void *user, struct session *s, const struct err *e,
			 enum error_scope scope);
	/* Lost, back again. */
	void (*on_note)(void *user, struct session *s, enum event_kind kind,
			const char *text);
	/* In WAITING: wants session_open(), later. */
	void (*on_wants_open)(void *user, struct session *s);
};

struct session_setup { /* all borrowed, all outlive the session */
	struct loop *loop;
	const struct plan *plan;
	const struct plan_client *client;
	const struct run_opts *opts;
	unsigned int number; /* of the session in this process */
	struct meter *meter; /* of its row, in this worker */
	struct live *live;   /* of this worker */
	const struct session_events *events;
	void *user;
};

struct session {
	struct session_setup setup;
	const struct job_opts *job;
	enum session_state state;
	struct conn *conn; /* owned until its on_closed */
	struct lun lun;	   /* as it was opened first */
	bool was_open, is_started, is_stopped, is_finished;
	bool wants_open; /* the worker's mark: in its queue */

	struct slot *slots; /* owned */
	size_t nr_slots;
	struct slot *free_first, *free_last; /* in the order of getting free */
	void *buffers;			     /* owned */
	uint32_t *lows;			     /* owned; of the slots' verify */

	/* What comes next; pulled once, then waits for its time. */
	struct pattern *pattern; /* owned */
	struct pace pace;
	struct payload payload;
	struct request next;
	uint64_t next_ns;
	bool has_next, is_flushing;

	unsigned int nr_outstanding; /* submitted and not done: flying, paused
					or parked */
	unsigned int nr_writing;     /* of them, writes and trims */
	uint64_t barrier_ns;	     /* end of the last flush */
	uint64_t last_done_ns;

	/* absolute; see session_start() */
	uint64_t start_ns, begin_ns, window_start_ns, submit_end_ns;
	/* The integral of the depth over the window: up to depth_since_ns, up
	 * to last_counted_ns, up to submit_end_ns. */
	uint64_t depth_since_ns;
	double depth_ns, depth_at_last_ns, depth_at_end_ns;
	bool ended_by_time;
	uint64_t last_counted_ns; /* completion; 0 none */
	uint64_t nr_given_up;	  /* outstanding when it was closed */

	uint64_t lost_ns;
	unsigned int attempts; /* to open again, since it last was steady */
	uint64_t opened_ns;    /* when it last became READY */
	uint64_t limit_ns;     /* of the last attempt */
	struct err last_error; /* of the last attempt */
	uint64_t next_scan_ns; /* no command can be overdue before */

	/* What had passed on the wire when it began to count, or was opened
	 * again after that. */
	struct wire_counts passed;
	bool has_counted; /* an I/O that counts was submitted */
	bool has_passed;  /* passed is the connection's */

	struct client_result result;
	struct loop_timer fill, end, open;
	struct loop_task kick;
};

int session_init(struct session *s, const struct session_setup *setup,
		 struct err *e);
void session_release(struct session *s); /* IDLE, CLOSED or zeroed */

/* In IDLE or WAITING. Ends in READY or an error within the connect time-out. */
void session_open(struct session *s);

/*
 * The group's clock starts at @start_ns (may lie ahead). The job's begin is
 * start + startdelay. Its measuring window is [begin + ramp, begin + ramp +
 * runtime): what is submitted in it counts, whenever it completes.
 */
void session_start(struct session *s, uint64_t start_ns);

/* Submits nothing more; what is outstanding may finish. */
void session_stop(struct session *s, uint64_t now_ns);

/* Gives up what is outstanding; ends in CLOSED. Any state; idempotent. */
void session_close(struct session *s);

/* A few times a second: looks for commands past their time-out. */
void session_check(struct session *s, uint64_t now_ns);

/* End of the measuring window, absolute, and the integral of the depth up to
 * it: see session.c. */
uint64_t session_window_end_ns(const struct session *s);
double session_depth_ns(const struct session *s);

#endif
