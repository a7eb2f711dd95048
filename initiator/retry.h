#ifndef INITIATOR_RETRY_H
#define INITIATOR_RETRY_H

#include <stdint.h>

#include "initiator/meter.h"
#include "initiator/transport.h"

/* Which answers are asked again, and when. */

/* Why @io, which has failed, is to be sent again; RETRY_CAUSES: it is not. */
enum retry_cause retry_cause_of(const struct io *io);

/* How long after the answer; @attempts: retries before this one. */
uint64_t retry_delay_ns(enum retry_cause cause, unsigned int attempts);

#endif
