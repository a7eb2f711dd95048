#ifndef WORKLOADS_PAYLOAD_H
#define WORKLOADS_PAYLOAD_H

#include "base/rng.h"
#include "workloads/options.h"

/*
 * With what: the data of writes. Which one counts, as in fio: compress before
 * pattern before zero before random.
 *
 *   random (default)  filled once; each write changes the first 16 bytes of
 *                     every 512 (offset and a counter), so that targets cannot
 *                     deduplicate
 *   buffer_pattern    repeated from the buffer's start, never stamped
 *   zero_buffers      zeros, never stamped
 *   buffer_compress_percentage=N
 *                     the last N percent of each cell are zero (or
 *                     buffer_pattern), the rest random and stamped; a cell is
 *                     4 KiB, or the smallest write if that is less
 *   refill_buffers    random bytes anew for each write
 *
 * A read that lands in a buffer destroys its content: fill it again before it
 * is written from, or give reads a buffer of their own.
 */
struct payload {
	const struct job_opts *opts; /* borrowed */
	struct rng rng;
	uint64_t counter;
	size_t cell_bytes, random_bytes; /* of each cell */
};

void payload_init(struct payload *p, const struct job_opts *o, uint64_t seed);

/* First content of a slot's buffer. */
void payload_fill(struct payload *p, void *buf, size_t len);

/* Before each write of @len bytes at @offset_bytes, from the buffer's start. */
void payload_stamp(struct payload *p, void *buf, size_t len,
		   uint64_t offset_bytes);

#endif
