#ifndef INITIATOR_WATCH_H
#define INITIATOR_WATCH_H

#include "initiator/run.h"
#include "initiator/worker.h"

/* What on_progress shows: from the views that workers publish, on the thread
 * of run_plan(). Never from live state. */
struct watch {
	const struct plan *plan;
	/* Of the groups behind this: what is certain, and what a rate must
	 * tell. */
	uint64_t next_ns, next_bytes;
	/* Of groups without a time limit that have ended. */
	uint64_t past_ns, past_bytes;
	uint64_t group_ns;	    /* in this group, when last looked at */
	struct worker_view *before; /* owned; one a worker */
	struct worker_view *now;    /* owned; one a worker */
	unsigned int nr_workers;
	struct run_progress shown; /* rates stay until there are new ones */
	char name[160];		   /* shown.row_name */
};

int watch_init(struct watch *p, const struct plan *plan,
	       unsigned int nr_workers, struct err *e);
void watch_release(struct watch *p);

/* A group begins, or has ended. */
void watch_begin(struct watch *p, size_t group, unsigned int nr_workers);
void watch_end(struct watch *p, const struct worker *workers);

/* @elapsed_ns: of the run. Takes the views under the group's lock. */
const struct run_progress *watch_make(struct watch *p, struct group_run *g,
				      const struct worker *workers,
				      uint64_t elapsed_ns);

#endif
