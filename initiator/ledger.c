#include "initiator/ledger.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opcodes, RFC 7143 section 11.2.1.2. */
enum {
	SCSI_COMMAND = 0x01,
	DATA_OUT = 0x05,
	SCSI_RESPONSE = 0x21,
	DATA_IN = 0x25,
	R2T = 0x31,
};

enum { IS_READ = 0x40, IS_WRITE = 0x20 };     /* of a command, 11.3.1 */
enum { HAS_STATUS = 0x01, RESIDUALS = 0x1e }; /* of answers, 11.4.1, 11.7.3 */

enum { FIRST_ENTRIES = 64, MOST_ENTRIES = 1 << 20 };

/* In its place by the lowest bits of its tag: libiscsi counts tags up. */
struct ledger_entry {
	uint32_t itt, expected, in, out;
	uint8_t flags;
	bool is_known, is_over;
};

void ledger_init(struct ledger *l)
{
	memset(l, 0, sizeof(*l));
}

void ledger_release(struct ledger *l)
{
	free(l->entries);
	memset(l, 0, sizeof(*l));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint32_t data_bytes(const uint8_t *header)
{
	return get32(header + 4) & 0xffffff;
}

static struct ledger_entry *find(const struct ledger *l, uint32_t itt)
{
	struct ledger_entry *e;

	if (!l->nr_entries)
		return NULL;
	e = &l->entries[itt & (l->nr_entries - 1)];
	return e->is_known && e->itt == itt ? e : NULL;
}

/* Twice the entries. Those that are over are forgotten. */
static int grow(struct ledger *l)
{
	size_t n = l->nr_entries ? 2 * l->nr_entries : FIRST_ENTRIES;
	struct ledger_entry *new = NULL;

	if (n <= MOST_ENTRIES)
		new = calloc(n, sizeof(*new));
	if (!new)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr_entries; i++)
		if (l->entries[i].is_known && !l->entries[i].is_over)
			new[l->entries[i].itt & (n - 1)] = l->entries[i];
	free(l->entries);
	l->entries = new;
	l->nr_entries = n;
	return 0;
}

static struct ledger_entry *add(struct ledger *l, uint32_t itt)
{
	struct ledger_entry *e = NULL;

	while (!l->is_blind) {
		if (l->nr_entries) {
			e = &l->entries[itt & (l->nr_entries - 1)];
			if (!e->is_known || e->is_over)
				return e;
		}
		if (grow(l))
			l->is_blind = true;
	}
	return NULL;
}

void ledger_sent(struct ledger *l, const uint8_t *header)
{
	uint32_t itt = get32(header + 16);
	struct ledger_entry *e;

	l->sending = NULL;
	switch (header[0] & 0x3f) {
	case SCSI_COMMAND:
		e = add(l, itt);
		if (!e)
			return;
		*e = (struct ledger_entry){.itt = itt,
					   .expected = get32(header + 20),
					   .flags = header[1],
					   .is_known = true};
		l->sending = e;
		break;
	case DATA_OUT:
		l->sending = find(l, itt);
		break;
	}
}

void ledger_sent_data(struct ledger *l, size_t bytes)
{
	if (l->sending)
		l->sending->out += bytes;
}

static int refuse(struct ledger *l, const char *what, const uint8_t *header,
		  const char *why)
{
	snprintf(l->complaint, sizeof(l->complaint),
		 "the target sent %s for task 0x%08x, %s", what,
		 get32(header + 16), why);
	return -EPROTO;
}

/* 11.7: data of a read, within what was asked for. */
static int check_data_in(struct ledger *l, struct ledger_entry *e,
			 const uint8_t *header)
{
	uint32_t n = data_bytes(header), at = get32(header + 40);

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
static int check_r2t(struct ledger *l, const struct ledger_entry *e,
		     const uint8_t *header)
{
	uint32_t at = get32(header + 40), n = get32(header + 44);

	if (!e || e->is_over || !(e->flags & IS_WRITE))
		return refuse(l, "R2T", header,
			      "which is no write that is under way");
	if (n > e->expected || at > e->expected - n)
		return refuse(l, "R2T", header, "beyond the end of its data");
	return 0;
}

/* 11.4: GOOD and no residual means that all data was transferred. Of a write,
 * libiscsi may still have some of it to send: from a task that the answer
 * ends. */
static int check_response(struct ledger *l, struct ledger_entry *e,
			  const uint8_t *header)
{
	bool is_good = !header[2] && !header[3];

	if (!e || e->is_over)
		return 0; /* libiscsi leaves it alone */
	e->is_over = true;
	if ((e->flags & IS_WRITE) && is_good && !(header[1] & RESIDUALS) &&
	    e->out < e->expected)
		return refuse(l, "GOOD", header,
			      "a write of which it has not had all data");
	return 0;
}

int ledger_received(struct ledger *l, const uint8_t *header)
{
	struct ledger_entry *e;

	if (l->is_blind)
		return 0;
	e = find(l, get32(header + 16));
	switch (header[0] & 0x3f) {
	case DATA_IN:
		return check_data_in(l, e, header);
	case R2T:
		return check_r2t(l, e, header);
	case SCSI_RESPONSE:
		return check_response(l, e, header);
	}
	return 0;
}

int64_t ledger_data_in(const struct ledger *l, uint32_t itt)
{
	const struct ledger_entry *e = l->is_blind ? NULL : find(l, itt);

	return e ? (int64_t)e->in : -1;
}
