#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What held a row's throughput where it is, from its figures alone: a pure
 * function, without clock, files or guesses. Rules, limits and their reasons:
 * docs/METHOD.md, "Bottleneck".
 */

enum bottleneck {
	BOTTLENECK_UNKNOWN,
	BOTTLENECK_PACE,      /* the job's own: rate, thinktime */
	BOTTLENECK_INITIATOR, /* CPU */
	BOTTLENECK_TARGET_CPU,
	BOTTLENECK_HOST_CPU, /* all in use, most of it by others */
	BOTTLENECK_DISKS,
	BOTTLENECK_WINDOW,
	BOTTLENECK_R2T,
	BOTTLENECK_WIRE,
	BOTTLENECK_DEPTH, /* nothing is at its limit */
	BOTTLENECK_TARGET,
	BOTTLENECKS
};

/* As in the result: "initiator cpu", "target cpu", ...; NULL for unknown. */
const char *bottleneck_name(enum bottleneck b);

/* A throughput that was measured beside it, of the same blocks, operation and
 * depth. */
struct ceiling {
	bool is_known;
	double bytes_per_s;
};

/* Shares are 0..1; what is not known has its flag false. */
struct evidence {
	double bytes_per_s, ios_per_s,
		service_ns; /* mean; 0: nothing counted */
	double in_flight;   /* mean */
	double depth;	    /* as asked for */
	bool is_paced;	    /* rate or thinktime */

	bool has_workers; /* 1 is one core */
	unsigned int workers;
	double worker_busiest, worker_starved, workers_all;
	double worker_waits; /* of the busiest, a second */

	bool has_host; /* of all CPUs */
	unsigned int cpus;
	double host_used, host_steal;

	bool has_target; /* the bundled one, seen from here */
	double thread_busiest, thread_starved, threads_all;

	bool has_disks; /* all that lie below are seen; there may be none */
	unsigned int disks;
	double disk_busy, disk_queue; /* of the busiest */
	double disks_busy_mean;
	const char *disk_name;

	bool has_servers; /* the sim transport's */
	double servers, servers_busy;

	bool has_window;	  /* the target's MaxCmdSN */
	double held_sends;	  /* of the sends */
	double held, outstanding; /* commands, mean */

	bool has_stages; /* the tap's: of the commands' time */
	double queued_here, r2t_wait, sending, at_target;

	bool is_network; /* a socket lies between */
	bool is_loopback;
	struct ceiling sockets, null_lun, device;
};

struct verdict_of_row {
	enum bottleneck what;
	char why[512]; /* a sentence without its full stop */
};

void verdict_make(struct verdict_of_row *v, const struct evidence *e);

#endif
