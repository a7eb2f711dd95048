#ifndef INITIATOR_NEGOTIATION_H
#define INITIATOR_NEGOTIATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a login settled, from its text (RFC 7143 section 6.2 and 13): of each
 * known key what the initiator offered, what the target answered, and what
 * holds. Keys that are not in the table of negotiation.c are not kept, and so
 * no CHAP name or response ever is.
 */
enum side { SIDE_INITIATOR, SIDE_TARGET, SIDES };

enum { NEGOTIATED_KEYS = 17, NEGOTIATED_VALUE = 48 };

/* "" where that side said nothing. @result: what holds; of what each side
 * declares for itself (MaxRecvDataSegmentLength) the target's, which is what
 * limits our writes. */
struct negotiated {
	const char *key, *offered, *answered, *result;
};

struct negotiation {
	char value[NEGOTIATED_KEYS][SIDES][NEGOTIATED_VALUE];
	/* A key=value that is not whole yet; wiped as soon as it is. */
	char part[SIDES][256];
	size_t part_bytes[SIDES];
};

/* Zeroed first. The next @n bytes of that side's text, of any length. */
void negotiation_add(struct negotiation *n, enum side side, const void *text,
		     size_t bytes);

/* Each key that some side named, in the order of the table. */
void negotiation_tell(const struct negotiation *n,
		      void (*on_key)(void *user, const struct negotiated *key),
		      void *user);

#endif
