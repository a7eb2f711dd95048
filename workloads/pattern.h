#ifndef WORKLOADS_PATTERN_H
#define WORKLOADS_PATTERN_H

#include "workloads/plan.h"

/*
 * Where: the stream of operations and addresses of one client. The same plan
 * gives the same stream, whatever the timing. One thread. pattern_next()
 * allocates nothing. No request leaves the client's region; all are multiples
 * of the LUN's block.
 *
 * As fio 3.33 does it (HOWTO "I/O type" and its iologs), where the names do not
 * say it:
 * - Mixed sequential I/O keeps one position for each direction.
 * - Mixed I/O follows rwmixread; where both directions have a rate, the rates
 *   make the mix.
 * - rw=randread:8 counts over both directions; between draws each goes on
 *   behind its own last request, and draws anew at the region's end.
 * - Random I/O covers the region once in each pass (a keyed permutation, no
 *   bitmap), unless norandommap, a blockalign other than bs or a distribution
 *   other than random is given. With bssplit each place is the start of
 *   one request in each pass.
 * - Where bssplit draws a size that does not fit, the largest that does is
 *   taken.
 *
 * Not as fio: the last request of the amount, and of the region when read in
 * sequence, is cut to what is left (fio goes beyond it); sequential I/O wraps
 * round at the region's end; rw=read:-8k starts at the end and goes down;
 * the flush after N writes follows the very last write, too.
 */
struct request {
	enum io_op op;
	uint64_t offset_bytes; /* on the LUN, multiple of its block */
	uint32_t length_bytes; /* 0 for a flush */
	bool drain_first;      /* submit when nothing is outstanding: the flush
				  of end_fsync, which must cover every write */
};

/* Seeds of a client's streams: rng_derive(client->seed, STREAM_...). */
enum client_stream { STREAM_PATTERN, STREAM_PACE, STREAM_PAYLOAD };

struct pattern; /* opaque */

/* @plan outlives the pattern. -ENOMEM, or -EINVAL with the key's name for what
 * is not a multiple of the LUN's block. */
int pattern_new(struct pattern **p, const struct plan *plan,
		const struct plan_client *client, struct err *e);
void pattern_free(struct pattern *p);

/*
 * The next request; false when the client's amount is done (and stays false).
 * Flushes asked for by fsync/fdatasync (after every N writes) and end_fsync
 * are part of the stream.
 */
bool pattern_next(struct pattern *p, struct request *r);

/* The time is over before the amount: what still has to be sent, that is the
 * flush of end_fsync, or false. pattern_next() is false from then on. */
bool pattern_finish(struct pattern *p, struct request *r);

#endif
