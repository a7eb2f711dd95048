#ifndef INITIATOR_STAGES_H
#define INITIATOR_STAGES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where a command's time goes, as seen on its wire (initiator/tap.h); what each
 * stage means is in docs/METHOD.md, "Where the time goes". Times are of the
 * monotonic clock, ns.
 */
enum wire_stage {
	STAGE_QUEUED_HERE, /* submitted .. first byte handed to the kernel */
	STAGE_R2T_WAIT,	   /* data is left, and none of it may be sent */
	STAGE_SENDING,	   /* data may be sent .. handed to the kernel */
	STAGE_TARGET,	   /* all is sent .. done */
	WIRE_STAGES
};
/* As in the result file: "queued_here", "r2t_wait", "sending", "target". */
const char *wire_stage_name(enum wire_stage s);

/* Of one command under way. */
struct wire_times {
	uint64_t first_ns; /* first byte handed to the kernel; 0: not yet, or
			      nobody looked */
	uint64_t since_ns; /* in the stage of now */
	uint64_t spent_ns[WIRE_STAGES]; /* in stages that it has left */
	enum wire_stage now;
};

static inline void wire_times_enter(struct wire_times *t, enum wire_stage s,
				    uint64_t now_ns)
{
	t->spent_ns[t->now] += now_ns - t->since_ns;
	t->since_ns = now_ns;
	t->now = s;
}

/* Of one connection, or summed. */
struct wire_counts {
	uint64_t pdus_out, pdus_in;
	uint64_t data_outs; /* of pdus_out */
	uint64_t r2ts;
	uint64_t nops;		/* both ways */
	uint64_t digest_errors; /* found here, or told by the target */
	uint64_t window_stalls; /* the target's command window got shut
				   while commands waited here, and for how
				   long it was, in all */
	uint64_t window_shut_ns;
	uint64_t window_commands; /* the largest window, in commands */
};

/* @now less @before, of the same connection; the largest window is now's. */
void wire_counts_add(struct wire_counts *to, const struct wire_counts *now,
		     const struct wire_counts *before);

#endif
