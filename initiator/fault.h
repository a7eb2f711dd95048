#ifndef INITIATOR_FAULT_H
#define INITIATOR_FAULT_H

#include <stdbool.h>

#include "initiator/spec.h"
#include "initiator/url.h"

enum fault_kind {
	FAULT_ERROR,	 /* medium error */
	FAULT_BUSY,	 /* BUSY */
	FAULT_FULL,	 /* TASK SET FULL */
	FAULT_ATTENTION, /* unit attention */
	FAULT_NOT_READY,
	FAULT_DROP, /* no answer, ever */

	/* Writes that go wrong without a word (fault_data.h). */
	FAULT_FLIP,	 /* one bit is another */
	FAULT_LOST,	 /* acknowledged, not done */
	FAULT_SWAP,	 /* two blocks of it change places */
	FAULT_TEAR,	 /* the first half of its blocks alone */
	FAULT_MISDIRECT, /* done at another address */
	FAULT_DUPLICATE, /* done, and done at another address, too */
	FAULT_ZERO,	 /* zeros instead */
	FAULT_STALE,	 /* done, but the next read gives what was there */
	FAULT_KINDS
};

static inline bool fault_is_of_data(enum fault_kind k)
{
	return k >= FAULT_FLIP && k < FAULT_KINDS;
}

struct fault_spec {
	struct spec_chance chance[FAULT_KINDS];
	uint64_t delay_ns;	/* each answer comes that much later */
	uint64_t open_delay_ns; /* and so does the opening */
	uint64_t after;	     /* I/Os of a connection before the first fault */
	uint64_t times;	     /* faults of a connection at most; 0 no limit */
	uint64_t lose_after; /* I/Os of a connection; 0 never */
	uint64_t seed;
};

/* "SPEC,...:URL" of @url->rest. @spec may be NULL. The caller wipes @inner. */
int fault_parse(const struct url *url, struct fault_spec *spec,
		struct url *inner, struct err *e);

#endif
