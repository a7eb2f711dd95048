#ifndef INITIATOR_FLOOR_H
#define INITIATOR_FLOOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What two TCP sockets of this host can pass to each other over loopback, with
 * nothing behind them: messages of a 48-byte header (RFC 7143 section 11.2) and
 * a block, as many at once as the depth allows, each answered by the other
 * side's thread. Below that no target on this host can come.
 */
struct floor_opts {
	uint32_t block_bytes;
	unsigned int depth; /* messages on the way at once, >= 1 */
	bool reads, writes; /* the block is in the answer, in the message; both:
			       in turn */
	uint64_t runtime_ns; /* after a tenth of it that does not count */
	const volatile sig_atomic_t *stop; /* != 0: end at once; or NULL */
};

struct floor_result {
	uint64_t messages; /* answered */
	uint64_t elapsed_ns;
	uint64_t cpu_ns; /* of the asking side's thread */
};

/* -EINTR: stopped. Ends by itself, whatever the sockets do: at most 5 s after
 * its time. */
int floor_measure(const struct floor_opts *o, struct floor_result *r,
		  struct err *e);

#endif
