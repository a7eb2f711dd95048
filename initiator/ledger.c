#include "initiator/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/pdu.h"

enum { UNASKED = 0xffffffff };		     /* target transfer tag */
enum { IS_READ = 0x40, IS_WRITE = 0x20 };    /* of a command, 11.3.1 */
enum { HAS_STATUS = 0x01, RESIDUAL = 0x06 }; /* of answers, 11.4.1, 11.7.3 */

/* The lowest bits of a tag say in which set its entry is: libiscsi counts tags
 * up. Sets have room for commands that take long while the others go on. */
enum { WAYS = 8, FIRST_SETS = 16, MOST_SETS = 1 << 17 };

void ledger_init(struct ledger *l)
{
	memset(l, 0, sizeof(*l));
}

void ledger_release(struct ledger *l)
{
	free(l->entries);
	memset(l, 0, sizeof(*l));
}

/* WAYS entries; NULL: there are none yet. */
static struct ledger_entry *set_of(const struct ledger *l, uint32_t itt)
{
	if (!l->nr_entries)
		return NULL;
	return l->entries + (itt & (l->nr_entries / WAYS - 1)) * WAYS;
}

struct ledger_entry *ledger_find(const struct ledger *l, uint32_t itt)
{
	struct ledger_entry *e = set_of(l, itt);

	for (int i = 0; e && i < WAYS; i++, e++)
		if (e->is_known && e->itt == itt)
			return e;
	return NULL;
}

/* A tag that was used before takes the same place, or one before it: find()
 * has the new one. */
static struct ledger_entry *find_free(const struct ledger *l, uint32_t itt)
{
	struct ledger_entry *e = set_of(l, itt);

	for (int i = 0; e && i < WAYS; i++, e++)
		if (!e->is_known || e->is_over)
			return e;
	return NULL;
}

/* Twice the sets: each becomes two, so all fit. Those that are over are
 * forgotten. */
static int grow(struct ledger *l)
{
	struct ledger old = *l;
	size_t n = old.nr_entries ? 2 * old.nr_entries : FIRST_SETS * WAYS;

	l->entries =
		n <= MOST_SETS * WAYS ? calloc(n, sizeof(*l->entries)) : NULL;
	if (!l->entries) {
		l->entries = old.entries;
		return -ENOMEM;
	}
	l->nr_entries = n;
	for (size_t i = 0; i < old.nr_entries; i++) {
		const struct ledger_entry *e = &old.entries[i];

		if (e->is_known && !e->is_over)
			*find_free(l, e->itt) = *e;
	}
	free(old.entries);
	return 0;
}

static struct ledger_entry *add(struct ledger *l, uint32_t itt)
{
	struct ledger_entry *e;

	while (!l->is_blind) {
		e = find_free(l, itt);
		if (e)
			return e;
		if (grow(l))
			l->is_blind = true;
	}
	return NULL;
}

void ledger_sent(struct ledger *l, const uint8_t *header)
{
	uint32_t itt = pdu_itt(header);
	struct ledger_entry *e;

	l->sending = NULL;
	switch (pdu_opcode(header)) {
	case PDU_SCSI_COMMAND:
		e = add(l, itt);
		if (!e)
			return;
		*e = (struct ledger_entry){.itt = itt,
					   .expected = be_get32(header + 20),
					   .flags = header[1],
					   .is_known = true};
		l->sending = e;
		l->is_asked = false;
		break;
	case PDU_DATA_OUT:
		l->sending = ledger_find(l, itt);
		l->is_asked = be_get32(header + 20) != UNASKED;
		break;
	}
}

void ledger_sent_data(struct ledger *l, size_t bytes)
{
	if (!l->sending)
		return;
	l->sending->out += bytes;
	if (l->is_asked)
		l->sending->given += bytes;
}

static int refuse(struct ledger *l, const char *what, const uint8_t *header,
		  const char *why)
{
	snprintf(l->complaint, sizeof(l->complaint),
		 "the target sent %s for task 0x%08x, %s", what,
		 pdu_itt(header), why);
	return -EPROTO;
}

/* 11.7: data of a read, within what was asked for. */
static int check_data_in(struct ledger *l, struct ledger_entry *e,
			 const uint8_t *header)
{
	uint32_t n = pdu_data_bytes(header), at = be_get32(header + 40);

	if (!e || e->is_over || !(e->flags & IS_READ))
		return refuse(l, "Data-In", header,
			      "which is no read that is under way");
	if (n > e->expected || at > e->expected - n)
		return refuse(l, "Data-In", header,
			      "beyond the bytes that were asked for");
	e->in += n;
	e->is_over = header[1] & HAS_STATUS;
	return 0;
}

/* 11.8: a write's data, within what it has. */
static int check_r2t(struct ledger *l, struct ledger_entry *e,
		     const uint8_t *header)
{
	uint32_t at = be_get32(header + 40), n = be_get32(header + 44);

	if (!e || e->is_over || !(e->flags & IS_WRITE))
		return refuse(l, "R2T", header,
			      "which is no write that is under way");
	if (n > e->expected || at > e->expected - n)
		return refuse(l, "R2T", header, "beyond the end of its data");
	if (n > e->expected - e->asked)
		return refuse(l, "R2T", header, "more than its data in all");
	e->asked += n;
	return 0;
}

/* That libiscsi has not sent. What R2Ts ask for is last in its queue. */
static uint32_t data_left(const struct ledger_entry *e)
{
	uint32_t all = e->out < e->expected ? e->expected - e->out : 0;
	uint32_t asked = e->asked - e->given;

	if (!(e->flags & IS_WRITE))
		return 0;
	return all > asked ? all : asked;
}

bool ledger_is_all_sent(const struct ledger_entry *e)
{
	return !data_left(e);
}

/* 11.4: GOOD and no residual, or one of nothing, means that all data was
 * transferred. */
static int check_response(struct ledger *l, struct ledger_entry *e,
			  const uint8_t *header)
{
	bool is_good = !header[2] && !header[3];
	bool is_all = !(header[1] & RESIDUAL) || !be_get32(header + 44);

	if (!e || e->is_over)
		return 0; /* libiscsi leaves it alone */
	e->is_over = true;
	if (is_good && is_all && data_left(e))
		return refuse(l, "GOOD", header,
			      "a write of which it has not had all data");
	return 0;
}

int ledger_received(struct ledger *l, const uint8_t *header)
{
	struct ledger_entry *e;

	if (l->is_blind)
		return 0;
	e = ledger_find(l, pdu_itt(header));
	switch (pdu_opcode(header)) {
	case PDU_DATA_IN:
		return check_data_in(l, e, header);
	case PDU_R2T:
		return check_r2t(l, e, header);
	case PDU_SCSI_RESPONSE:
		return check_response(l, e, header);
	}
	return 0;
}

int64_t ledger_data_in(const struct ledger *l, uint32_t itt)
{
	const struct ledger_entry *e = l->is_blind ? NULL : ledger_find(l, itt);

	return e ? (int64_t)e->in : -1;
}

int64_t ledger_data_left(const struct ledger *l, uint32_t itt)
{
	const struct ledger_entry *e = l->is_blind ? NULL : ledger_find(l, itt);

	return e ? (int64_t)data_left(e) : -1;
}
