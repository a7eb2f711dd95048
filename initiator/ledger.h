#ifndef INITIATOR_LEDGER_H
#define INITIATOR_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/stages.h"

/*
 * The SCSI commands of one session, from the PDU headers that pass on the wire
 * (RFC 7143 section 11): which are under way, and how much data each has had.
 * libiscsi 1.19 believes whatever a target sends, and some of that ends the
 * program: so what fits no command is refused before it gets there.
 */
struct ledger_entry {
	uint32_t itt, expected, in, out;
	uint32_t asked, given; /* by R2Ts, and of that sent: also in @out */
	uint8_t flags;
	bool is_known, is_over;
	/* initiator/tap.c's: sequences of data that may be sent now, and the
	 * times. */
	uint16_t bursts;
	struct wire_times times;
};

struct ledger {
	struct ledger_entry *entries; /* owned; sets of them, see ledger.c */
	size_t nr_entries;
	struct ledger_entry *sending; /* whose data is passed now, or NULL */
	bool is_asked;		      /* by an R2T, that data */
	bool is_blind;		      /* no memory once: everything passes */
	char complaint[160];	      /* why a PDU was refused */
};

void ledger_init(struct ledger *l);
void ledger_release(struct ledger *l);

/* A header goes out; then @bytes of its data segment do. */
void ledger_sent(struct ledger *l, const uint8_t *header);
void ledger_sent_data(struct ledger *l, size_t bytes);

/* A header has come. 0, or -EPROTO and the complaint. */
int ledger_received(struct ledger *l, const uint8_t *header);

/* Of the command with that initiator task tag, under way or just over: the
 * bytes of Data-In that came, and those of a write that have not been sent;
 * -1: unknown. */
int64_t ledger_data_in(const struct ledger *l, uint32_t itt);
int64_t ledger_data_left(const struct ledger *l, uint32_t itt);

/* Of a command under way or just over; NULL: unknown. It moves with the next
 * command that is sent. */
struct ledger_entry *ledger_find(const struct ledger *l, uint32_t itt);
/* Was all of its data passed to ledger_sent_data()? */
bool ledger_is_all_sent(const struct ledger_entry *e);

#endif
