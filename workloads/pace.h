#ifndef WORKLOADS_PACE_H
#define WORKLOADS_PACE_H

#include "base/rng.h"
#include "workloads/pattern.h"

/*
 * When: the intended start of each request of one client. Knows no clock: all
 * times are ns on the caller's.
 *
 * Closed loop (no rate): the intended start is when a slot became free, plus
 * think time. Open loop (rate, rate_iops): a schedule from the start on,
 * linear or Poisson, that does not wait for completions: after a stall the
 * late requests keep their intended times, so that response time shows the
 * stall (no coordinated omission), and they are sent as fast as the depth
 * allows until the schedule is met again (catch-up).
 */
struct pace {
	const struct job_opts *opts; /* borrowed */
	struct rng rng;
	bool is_open_loop;
	uint64_t next_ns[OP_DATA_COUNT]; /* schedule of each op */
	uint64_t hold_until_ns;		 /* think time */
	unsigned int since_think;
};

/* @share: this client's share of the job's rate (1/clients; fio gives each
 * clone the full rate). */
void pace_init(struct pace *p, const struct job_opts *o, double share,
	       uint64_t seed, uint64_t start_ns);

/* The intended start of @r, whose slot was free at @free_ns. Monotonic per
 * op. Advances the schedule: call once per request. A flush is due at once. */
uint64_t pace_next(struct pace *p, const struct request *r, uint64_t free_ns);

/* A request completed at @now_ns (starts think time when due). */
void pace_completed(struct pace *p, const struct request *r, uint64_t now_ns);

#endif
