#ifndef INITIATOR_PCAP_PDU_H
#define INITIATOR_PCAP_PDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/pdu.h"

/*
 * Where the bytes of one direction of a session are in its PDUs (RFC 7143
 * section 11.2), for a capture: what may be left out of it, and what must be
 * blanked. A capture is given away, so the values of CHAP are never in it: of
 * challenge and response together, a weak password can be guessed.
 *
 * Believes the lengths that it sees, whatever they are; any split will do.
 */
enum pcap_part { PCAP_HEADER, PCAP_DATA, PCAP_TAIL /* padding, digest */ };

/* Of both directions. */
struct pcap_login {
	bool is_over; /* the session is in its full feature phase */
	bool has_header_digest, has_data_digest; /* from then on */
};

struct pcap_pdu {
	struct pcap_login *login;   /* borrowed */
	uint8_t header[PDU_HEADER]; /* valid from has >= PDU_HEADER on */
	uint32_t has;		    /* bytes of it that have passed */
	uint32_t header_bytes;	    /* with additional segments and digest */
	uint32_t data_bytes, all_bytes;

	/* Login text, which may go on in the next PDU. */
	char key[32], value[8]; /* their first bytes */
	size_t nr_key, nr_value;
	bool in_value, is_secret;
};

void pcap_pdu_init(struct pcap_pdu *p, struct pcap_login *login);

/* The next of @n > 0 bytes that are of one part of one PDU: how many, and
 * which. After it the PDU may be over: pcap_pdu_is_over(). */
size_t pcap_pdu_next(struct pcap_pdu *p, const uint8_t *bytes, size_t n,
		     enum pcap_part *part);
bool pcap_pdu_is_over(const struct pcap_pdu *p);

/* Once it is: what follows is the next. */
void pcap_pdu_end(struct pcap_pdu *p);

/* Carries data of SCSI commands: what a capture may leave out. */
bool pcap_pdu_is_scsi_data(const struct pcap_pdu *p);

/* Blanks, in a copy of just those bytes that pcap_pdu_next() said are data,
 * what nobody may see: each byte becomes an 'x'. */
void pcap_pdu_blank(struct pcap_pdu *p, uint8_t *copy, size_t n);
/* Data passed that it was not given: what follows may be the rest of a value,
 * and is blanked until that must be over. */
void pcap_pdu_skip_text(struct pcap_pdu *p);

#endif
