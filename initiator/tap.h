#ifndef INITIATOR_TAP_H
#define INITIATOR_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/ledger.h"
#include "initiator/negotiation.h"
#include "initiator/stages.h"

/*
 * What one connection's PDU headers (RFC 7143 section 11) tell about time: when
 * each command's bytes went to the kernel, when R2Ts came, how long the command
 * window was shut. The times of a command are kept in its ledger entry.
 *
 * A header is told when it is queued, bytes when the kernel has taken them; the
 * clock is read once for each lot of these that ends a stage, and once at most
 * for what one receive brought. All on the wire's thread.
 */
struct tap {
	struct ledger *ledger; /* borrowed: the wire's */
	/* PDUs that are queued and not wholly sent: first..end. NULL: no
	 * memory, no times. */
	struct tap_mark *marks; /* owned */
	size_t first, end, most;
	uint64_t queued_bytes, sent_bytes; /* of the stream, ever */
	uint64_t received_ns; /* of the last receive; 0: not asked yet */
	uint64_t shut_ns;     /* since then the window is; 0: it is not */
	uint32_t max_cmdsn;
	struct wire_counts counts;
	struct negotiation *negotiation; /* owned; NULL: no memory */
};

/* @most_pdus: that can be queued at once. */
void tap_init(struct tap *t, struct ledger *l, size_t most_pdus);
void tap_release(struct tap *t);

/* What libiscsi sends is queued: @n bytes that begin with a header, or @n
 * others. The ledger knows the header already. */
void tap_queued_header(struct tap *t, const uint8_t *pdu, size_t n);
void tap_queued_data(struct tap *t, size_t n);
/* The kernel took the next @n bytes of what is queued. */
void tap_sent(struct tap *t, size_t n);

/* A receive brought bytes. Then each header in them, which the ledger knows
 * already; what came of the data segment of the last one. */
void tap_received(struct tap *t);
void tap_received_header(struct tap *t, const uint8_t *header);
void tap_received_text(struct tap *t, const uint8_t *header, const void *text,
		       size_t n);

/* All that may be sent is sent; commands that the window keeps back are left,
 * or none. */
void tap_settled(struct tap *t, bool are_held);

/* Up to now. */
void tap_counts(const struct tap *t, struct wire_counts *c);

#endif
