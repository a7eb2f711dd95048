#ifndef WORKLOADS_PATTERN_H
#define WORKLOADS_PATTERN_H

#include "workloads/plan.h"

/*
 * Where: the stream of operations and addresses of one client. The same plan
 * gives the same stream, whatever the timing. One thread. pattern_next()
 * allocates nothing.
 */
struct request {
	enum io_op op;
	uint64_t offset_bytes; /* on the LUN, multiple of its block */
	uint32_t length_bytes; /* 0 for a flush */
};

struct pattern; /* opaque */

int pattern_new(struct pattern **p, const struct plan *plan,
		const struct plan_client *client, struct err *e);
void pattern_free(struct pattern *p);

/*
 * The next request; false when the client's amount is done (and stays false).
 * Flushes asked for by fsync/fdatasync (after every N writes) and end_fsync
 * are part of the stream. Random without norandommap: every block of the region
 * is visited once before any is visited again (a keyed permutation, no bitmap);
 * distributions other than uniform imply norandommap.
 */
bool pattern_next(struct pattern *p, struct request *r);

#endif
