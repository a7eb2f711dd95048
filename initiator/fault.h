#ifndef INITIATOR_FAULT_H
#define INITIATOR_FAULT_H

#include "initiator/spec.h"
#include "initiator/url.h"

enum fault_kind {
	FAULT_ERROR,	 /* medium error */
	FAULT_BUSY,	 /* BUSY */
	FAULT_FULL,	 /* TASK SET FULL */
	FAULT_ATTENTION, /* unit attention */
	FAULT_NOT_READY,
	FAULT_DROP, /* no answer, ever */
	FAULT_KINDS
};

struct fault_spec {
	struct spec_chance chance[FAULT_KINDS];
	uint64_t delay_ns;	/* each answer comes that much later */
	uint64_t open_delay_ns; /* and so does the opening */
	uint64_t lose_after;	/* I/Os of a connection; 0 never */
	uint64_t seed;
};

/* "SPEC,...:URL" of @url->rest. @spec may be NULL. The caller wipes @inner. */
int fault_parse(const struct url *url, struct fault_spec *spec,
		struct url *inner, struct err *e);

#endif
