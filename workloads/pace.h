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
 *
 * Linear: each op has a schedule of its own, its first request at the start,
 * each next one when the rate's worth of the last is over. Poisson: gaps are
 * exponential with that as their mean; rated ops share one clock, so
 * that both are Poisson at their rates in the order in which the pattern mixes
 * them. rate counts before rate_iops, as in fio. An op without a rate next
 * to one with a rate is due when its slot is free.
 *
 * Think time (fio: thinktime, thinktime_blocks): after N requests were started
 * nothing is started until all N are done and the time has passed, so N caps
 * the depth. With a rate the schedule runs on meanwhile and is caught up
 * with; the pause itself is not counted as response time.
 */
struct pace {
	const struct job_opts *opts; /* borrowed */
	struct rng rng;
	bool is_open_loop;
	uint64_t start_ns;
	double scale;			 /* 1 / share */
	double part[OP_DATA_COUNT];	 /* Poisson: of the common clock */
	uint64_t units[OP_DATA_COUNT];	 /* linear: scheduled: I/Os or bytes */
	double clock_ns;		 /* Poisson: since the start */
	uint64_t hold_until_ns;		 /* think time */
	unsigned int started, completed; /* since the last think time */
};

/* ns that a request of @length bytes takes of its op's whole rate; 0: no rate
 * (or a flush). */
double pace_cost_ns(const struct job_opts *o, enum io_op op, double length);

/* The mean length of an op's requests: bs, or bssplit's mean. */
double pace_mean_bytes(const struct job_opts *o, enum io_op op);

/* @share: this client's share of the job's rate (1/clients; fio gives each
 * clone the full rate). Clients that share a linear rate all come at the same
 * instants unless their @start_ns differ: start them 1 / rate apart. */
void pace_init(struct pace *p, const struct job_opts *o, double share,
	       uint64_t seed, uint64_t start_ns);

/* True: start nothing (do not ask pattern or pace) until a request has
 * completed. Never without think time. */
bool pace_must_wait(const struct pace *p);

/* The intended start of @r, whose slot was free at @free_ns. Monotonic per
 * op. Advances the schedule: call once per request. A flush is due at once. */
uint64_t pace_next(struct pace *p, const struct request *r, uint64_t free_ns);

/* A request ended at @now_ns, well or badly (starts think time when due). Call
 * it once for every pace_next(), or pace_must_wait() waits for ever. */
void pace_completed(struct pace *p, const struct request *r, uint64_t now_ns);

#endif
