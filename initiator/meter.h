#ifndef INITIATOR_METER_H
#define INITIATOR_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "initiator/stages.h"
#include "workloads/options.h"

/*
 * What was measured. A meter belongs to one worker and one row of the plan;
 * meters of a row are added after the workers have joined, exactly. This is
 * the only header of the initiator that report/ sees.
 *
 * Three times of each I/O, all in ns:
 *   wait      submit - intended: it should have started but had no slot
 *   service   done - submit: in libiscsi, on the wire, in the target
 *   response  done - intended
 * In the result file they are fio's slat_ns, clat_ns, lat_ns.
 */

enum retry_cause {
	RETRY_BUSY,
	RETRY_TASK_SET_FULL,
	RETRY_UNIT_ATTENTION,
	RETRY_NOT_READY,
	RETRY_CONNECTION_LOST,
	RETRY_CAUSES
};
/* As in the result file: "busy", "task_set_full", "unit_attention",
 * "not_ready", "connection_lost". */
const char *retry_cause_name(enum retry_cause c);

struct meter_op {
	uint64_t ios, bytes;	  /* submitted in the window, completed well */
	uint64_t first_submit_ns; /* UINT64_MAX when none; absolute */
	uint64_t last_done_ns;
	uint64_t errors;      /* completed badly, in the window */
	uint64_t outside_ios; /* ramp or drain: done, not counted */
	/* owned; NULL for ops the row cannot have */
	struct hist *wait, *service, *response;
};

/* One interval of the series, by completion time; everything that completed,
 * ramp and drain included. */
struct series_point {
	uint64_t ios[OP_COUNT], bytes[OP_COUNT];
	uint64_t errors;
	double service_sum_ns;
	uint64_t service_max_ns;
};

/* Errors of one kind (same op, result and text), for the report. Time and place
 * are the first one's. */
struct error_sample {
	uint64_t at_ns; /* since the group's start */
	enum io_op op;
	uint64_t offset_bytes;
	uint32_t length_bytes;
	int result;
	uint64_t count; /* how many of this kind, ramp and drain included */
	char text[160];
};

enum { ERROR_SAMPLES = 16 }; /* kinds kept; more are only counted */

/* Depths of 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more: fio's. */
enum { DEPTH_LEVELS = 7 };

struct meter {
	struct meter_op op[OP_COUNT];
	uint64_t retries[RETRY_CAUSES];
	struct series_point *series; /* owned */
	size_t nr_series, cap_series;
	uint64_t interval_ns;	 /* 0: no series */
	uint64_t series_dropped; /* completions that no point could hold, for
				    want of memory: say so in the result */
	struct error_sample error[ERROR_SAMPLES];
	size_t nr_errors;
	/* Of a session's outstanding I/Os at each counted submission of a read,
	 * write or trim, itself included. */
	uint64_t depth_level[DEPTH_LEVELS];
	/* Each time that a session sent what it had: how often its transport
	 * kept some back (transport->held), how many of how many, summed. */
	uint64_t sends, held_sends, held_sum, sent_depth_sum;
	/* Service time by stages, of all ops; owned; NULL without a tap. */
	struct hist *stage[WIRE_STAGES];
	/* What passed on the wires while it was measured. */
	struct wire_counts wire;
	/* time-weighted outstanding I/O in the window, for Little's law */
	double outstanding_ns; /* sum over sessions of integral of depth dt */
};

/* @ops: OP_BIT mask that gets histograms; the row's only ops. */
int meter_init(struct meter *m, unsigned int ops, uint64_t interval_ns,
	       struct err *e);
void meter_release(struct meter *m);
/* Gives it the stages. -ENOMEM: none. */
int meter_add_stages(struct meter *m, struct err *e);

/* @counted: submitted inside the measuring window. @since_start_ns: of the
 * completion, for the series, whose growth (by doubling, at the start of an
 * interval) is the one allocation of the hot path and may fail harmlessly. */
void meter_record(struct meter *m, enum io_op op, uint32_t bytes, bool counted,
		  uint64_t intended_ns, uint64_t submit_ns, uint64_t done_ns,
		  uint64_t since_start_ns);
/* Of a counted I/O whose stages are known, after meter_add_stages(): they add
 * up to its service time. */
void meter_record_stages(struct meter *m, const uint64_t ns[WIRE_STAGES]);
/* A counted submission makes it @depth. */
void meter_record_depth(struct meter *m, unsigned int depth);
/* Of @depth outstanding I/Os @held were kept back. */
void meter_record_send(struct meter *m, unsigned int depth, unsigned int held);
/* One error; s->count is ignored. */
void meter_record_error(struct meter *m, const struct error_sample *s,
			bool counted);
/* The series goes on to @since_start_ns, with nothing in it: an end in which
 * nothing was done is not a missing one. -ENOMEM: it ends where it did. */
int meter_extend_series(struct meter *m, uint64_t since_start_ns,
			struct err *e);
/* -ENOMEM, or -EINVAL for unlike intervals: @to is then unchanged. */
int meter_add(struct meter *to, const struct meter *from, struct err *e);

/* --- the whole run --- */

struct client_result {	     /* one session */
	size_t client;	     /* index in the plan */
	uint64_t ios, bytes; /* counted, all ops */
	uint64_t disconnects;
	uint64_t outage_ns; /* lost until open again, in all */
};

/* What a worker did while a row was measured, for this row and for others
 * beside it. */
struct worker_share {
	unsigned int number;
	uint64_t
		span_ns; /* from the window's start to its last session's end */
	uint64_t cpu_ns;
	uint64_t starved_ns; /* ready to run, but without a CPU */
	uint64_t waits; /* how often it slept: for the target, or for a time */
};

struct row_result {
	struct meter meter; /* owned */
	/* Measuring window, ns since the group's start. Without ramp it ends
	 * with the last counted completion; with ramp at the end of the submit
	 * window. */
	uint64_t window_start_ns, window_end_ns;
	struct client_result *clients; /* owned */
	size_t nr_clients;
	uint64_t user_cpu_ns, system_cpu_ns; /* of the workers while this row
						ran, shared out by I/Os */
	uint64_t context_switches;
	struct worker_share *workers; /* owned; those with a session in it */
	size_t nr_workers;
	int error; /* 0 or the -errno that ended the row */
};

enum event_kind {
	EVENT_PHASE,	  /* a group started or ended */
	EVENT_DISCONNECT, /* a session was lost */
	EVENT_RECONNECT,
	EVENT_ERROR,
	EVENT_NOTICE,
	EVENT_ARRAY, /* a member failed, a rebuild started or ended */
};

struct run_event {
	uint64_t at_ns; /* since the run's start */
	enum event_kind kind;
	size_t group;
	char text[256];
};

enum run_end {
	RUN_COMPLETE,
	RUN_INTERRUPTED, /* asked to stop; what is there is valid */
	RUN_FAILED,	 /* target or I/O; what is there is valid up to then */
};

struct run_result {
	struct row_result *rows; /* owned; as plan->rows; rows of groups that
				    never started have nr_clients 0 */
	size_t nr_rows;
	struct run_event *events; /* owned, in time order */
	size_t nr_events;
	uint64_t start_wall_ns, duration_ns;
	uint64_t *group_start_ns,
		*group_end_ns; /* owned; since the run's start; UINT64_MAX: did
				  not start */
	size_t nr_groups;
	unsigned int nr_passes; /* that began */
	unsigned int nr_workers;
	bool is_virtual_time;
	enum run_end end;
	struct err error; /* why, for RUN_FAILED */
};

void run_result_release(struct run_result *r);

/* As plan_end_early(): only the first rows and groups are left. */
void run_result_cut(struct run_result *r, size_t nr_rows, size_t nr_groups);

/* Jain's fairness index over @x: (sum x)^2 / (n * sum x^2); 1 for n <= 1. */
double meter_jain(const uint64_t *x, size_t n);

#endif
