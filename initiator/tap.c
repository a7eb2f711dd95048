#include "initiator/tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "initiator/pdu.h"

enum { IS_FINAL = 0x80 };	   /* byte 1 of commands and Data-Out */
enum { DATA_DIGEST_ERROR = 0x02 }; /* byte 2 of a Reject, 11.17.1 */

/* A command or Data-Out in the stream of bytes. */
struct tap_mark {
	uint64_t start, end;
	uint32_t itt;
	bool is_command, is_final, is_begun;
};

void tap_init(struct tap *t, struct ledger *l, size_t most_pdus)
{
	memset(t, 0, sizeof(*t));
	t->ledger = l;
	t->most = most_pdus;
	t->marks = malloc(most_pdus * sizeof(*t->marks));
	t->negotiation = calloc(1, sizeof(*t->negotiation));
}

void tap_release(struct tap *t)
{
	free(t->marks);
	free(t->negotiation);
	memset(t, 0, sizeof(*t));
}

/* --- out --- */

/* What is passed makes room at the front. */
static bool has_room(struct tap *t)
{
	if (t->end == t->most) {
		memmove(t->marks, t->marks + t->first,
			(t->end - t->first) * sizeof(*t->marks));
		t->end -= t->first;
		t->first = 0;
	}
	return t->end < t->most;
}

static void add_mark(struct tap *t, const uint8_t *header, size_t n)
{
	/* The ledger has just been told: no need to look for it. */
	struct ledger_entry *e = t->ledger->sending;
	bool is_command = pdu_opcode(header) == PDU_SCSI_COMMAND;

	if (!t->marks || !e || e->itt != pdu_itt(header) || !has_room(t))
		return;
	/* Whatever may be sent without an R2T is one burst, from the command
	 * to its final PDU. */
	if (is_command)
		e->bursts = 1;
	t->marks[t->end++] = (struct tap_mark){
		.start = t->queued_bytes,
		.end = t->queued_bytes + n + pdu_padded_bytes(header),
		.itt = e->itt,
		.is_command = is_command,
		.is_final = header[1] & IS_FINAL,
	};
}

void tap_queued_header(struct tap *t, const uint8_t *pdu, size_t n)
{
	t->counts.pdus_out++;
	switch (pdu_opcode(pdu)) {
	case PDU_DATA_OUT:
		t->counts.data_outs++;
		add_mark(t, pdu, n);
		break;
	case PDU_SCSI_COMMAND:
		add_mark(t, pdu, n);
		break;
	case PDU_NOP_OUT:
		t->counts.nops++;
		break;
	case PDU_LOGIN_REQUEST:
		if (t->negotiation)
			negotiation_add(t->negotiation, SIDE_INITIATOR,
					pdu + PDU_HEADER, n - PDU_HEADER);
		break;
	}
	t->queued_bytes += n;
}

void tap_queued_data(struct tap *t, size_t n)
{
	t->queued_bytes += n;
}

/* Some of the PDU is sent. True when all is. */
static bool pass(const struct tap *t, struct tap_mark *m, uint64_t now_ns)
{
	struct ledger_entry *e = ledger_find(t->ledger, m->itt);
	bool is_whole = m->end <= t->sent_bytes;

	if (!e)
		return is_whole; /* forgotten: it was over long ago */
	if (m->is_command && !m->is_begun) {
		e->times = (struct wire_times){.first_ns = now_ns,
					       .since_ns = now_ns,
					       .now = STAGE_SENDING};
		m->is_begun = true;
	}
	if (is_whole && m->is_final && e->bursts && !--e->bursts)
		wire_times_enter(&e->times,
				 ledger_is_all_sent(e) ? STAGE_TARGET
						       : STAGE_R2T_WAIT,
				 now_ns);
	return is_whole;
}

void tap_sent(struct tap *t, size_t n)
{
	uint64_t now_ns;

	t->sent_bytes += n;
	if (t->first == t->end || t->marks[t->first].start >= t->sent_bytes)
		return;
	now_ns = clock_now_ns();
	while (t->first < t->end && t->marks[t->first].start < t->sent_bytes &&
	       pass(t, &t->marks[t->first], now_ns))
		t->first++;
	if (t->first == t->end)
		t->first = t->end = 0;
}

/* --- in --- */

void tap_received(struct tap *t)
{
	t->received_ns = 0;
}

/* Read when it is needed first: most answers need none. */
static uint64_t received_ns(struct tap *t)
{
	if (!t->received_ns)
		t->received_ns = clock_now_ns();
	return t->received_ns;
}

static void take_r2t(struct tap *t, uint32_t itt)
{
	struct ledger_entry *e = ledger_find(t->ledger, itt);

	t->counts.r2ts++;
	if (!e || !e->times.first_ns)
		return;
	e->bursts++;
	wire_times_enter(&e->times, STAGE_SENDING, received_ns(t));
}

/* 11.4.10: each PDU of the target has ExpCmdSN and MaxCmdSN, which never goes
 * back. */
static void take_window(struct tap *t, const uint8_t *header)
{
	uint32_t max = be_get32(header + 32), exp = be_get32(header + 28);
	int32_t commands = max - exp + 1;

	if (commands > 0 && (uint32_t)commands > t->counts.window_commands)
		t->counts.window_commands = commands;
	if (t->shut_ns && (int32_t)(max - t->max_cmdsn) > 0) {
		t->counts.window_shut_ns += received_ns(t) - t->shut_ns;
		t->shut_ns = 0;
	}
	if ((int32_t)(max - t->max_cmdsn) > 0 || !t->counts.pdus_in)
		t->max_cmdsn = max;
}

void tap_received_header(struct tap *t, const uint8_t *header)
{
	take_window(t, header);
	t->counts.pdus_in++;
	switch (pdu_opcode(header)) {
	case PDU_R2T:
		take_r2t(t, pdu_itt(header));
		break;
	case PDU_NOP_IN:
		t->counts.nops++;
		break;
	case PDU_REJECT:
		t->counts.digest_errors += header[2] == DATA_DIGEST_ERROR;
		break;
	}
}

void tap_received_text(struct tap *t, const uint8_t *header, const void *text,
		       size_t n)
{
	if (t->negotiation && pdu_opcode(header) == PDU_LOGIN_RESPONSE)
		negotiation_add(t->negotiation, SIDE_TARGET, text, n);
}

/* --- the window --- */

void tap_settled(struct tap *t, bool are_held)
{
	if (!are_held || t->shut_ns)
		return;
	t->counts.window_stalls++;
	t->shut_ns = clock_now_ns();
}

void tap_counts(const struct tap *t, struct wire_counts *c)
{
	*c = t->counts;
	if (t->shut_ns)
		c->window_shut_ns += clock_now_ns() - t->shut_ns;
}
