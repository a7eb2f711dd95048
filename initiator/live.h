#ifndef INITIATOR_LIVE_H
#define INITIATOR_LIVE_H

#include <stdint.h>
#include <string.h>

/*
 * What a worker counts for the live line, beside the meters: everything that
 * completed, since the group's start. Coarse on purpose, so that it can be
 * copied a few times a second: each power of two in 8 parts (12 % wide).
 * Never used for a result.
 */
enum { LIVE_BUCKETS = 64 * 8 };

struct live {
	uint64_t ios, bytes, errors;
	uint64_t service_sum_ns;
	uint32_t bucket[LIVE_BUCKETS];
};

static inline void live_record(struct live *l, uint32_t bytes, uint64_t ns)
{
	unsigned int power = 63 - __builtin_clzll(ns | 8);

	l->ios++;
	l->bytes += bytes;
	l->service_sum_ns += ns;
	l->bucket[power * 8 + ((ns >> (power - 3)) & 7)]++;
}

/* to += now - before, all of one worker. */
static inline void live_add_delta(struct live *to, const struct live *now,
				  const struct live *before)
{
	size_t i;

	to->ios += now->ios - before->ios;
	to->bytes += now->bytes - before->bytes;
	to->errors += now->errors - before->errors;
	to->service_sum_ns += now->service_sum_ns - before->service_sum_ns;
	for (i = 0; i < LIVE_BUCKETS; i++)
		to->bucket[i] += now->bucket[i] - before->bucket[i];
}

/* The middle of the bucket of that rank; 0 when empty. */
static inline double live_percentile_ns(const struct live *l, double percent)
{
	double want = l->ios * percent / 100, seen = 0;
	size_t i;

	if (!l->ios)
		return 0;
	for (i = 0; i < LIVE_BUCKETS - 1; i++) {
		seen += l->bucket[i];
		if (seen >= want)
			break;
	}
	return (8 + i % 8 + 0.5) * (double)(1ULL << (i / 8)) / 8;
}

#endif
