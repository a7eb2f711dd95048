#ifndef WORKLOADS_PAYLOAD_H
#define WORKLOADS_PAYLOAD_H

#include "base/rng.h"
#include "workloads/options.h"

/*
 * With what: the data of writes. By default a buffer is filled with random
 * bytes once and each write changes 16 bytes in every 512 (offset and a
 * counter), so that targets cannot deduplicate; refill_buffers fills anew,
 * zero_buffers and buffer_pattern are what they say, and
 * buffer_compress_percentage=N makes N percent of each 4 KiB zero.
 */
struct payload {
	const struct job_opts *opts; /* borrowed */
	struct rng rng;
	uint64_t counter;
};

void payload_init(struct payload *p, const struct job_opts *o, uint64_t seed);

/* First content of a slot's buffer. */
void payload_fill(struct payload *p, void *buf, size_t len);

/* Before each write of @len bytes at @offset_bytes. */
void payload_stamp(struct payload *p, void *buf, size_t len,
		   uint64_t offset_bytes);

#endif
