#ifndef INITIATOR_WINDOWS_H
#define INITIATOR_WINDOWS_H

#include "initiator/run.h"
#include "initiator/worker.h"

/* Tells run_opts.on_window when rows begin and end to be measured. On the
 * thread of run_plan(). */
struct windows {
	const struct plan *plan;     /* borrowed */
	const struct run_opts *opts; /* borrowed */
	struct row_window *row;	     /* owned; as the plan's */
	size_t group;
};

int windows_init(struct windows *w, const struct plan *plan,
		 const struct run_opts *opts, struct err *e);
void windows_release(struct windows *w);

/* A group begins. */
void windows_begin(struct windows *w, size_t group);

/* Tells what has come since the last call. With the group's lock, which it
 * gives up while it tells. Returns when the next window opens, on the clock of
 * clock_now_ns(); UINT64_MAX: none, or not known yet. */
uint64_t windows_tell(struct windows *w, struct group_run *g);

#endif
