#include "initiator/pcap_pdu.h"

#include <string.h>

enum { DIGEST = 4 };

void pcap_pdu_init(struct pcap_pdu *p, struct pcap_login *login)
{
	memset(p, 0, sizeof(*p));
	p->login = login;
}

static bool is_login(const struct pcap_pdu *p)
{
	return pdu_opcode(p->header) == PDU_LOGIN_REQUEST ||
	       pdu_opcode(p->header) == PDU_LOGIN_RESPONSE;
}

bool pcap_pdu_is_scsi_data(const struct pcap_pdu *p)
{
	return pdu_opcode(p->header) == PDU_SCSI_COMMAND ||
	       pdu_opcode(p->header) == PDU_DATA_OUT ||
	       pdu_opcode(p->header) == PDU_DATA_IN;
}

/* The header is in: how long the rest is. */
static void measure(struct pcap_pdu *p)
{
	const uint8_t *h = p->header;
	bool digests = p->login->is_over;
	uint32_t padded;

	p->data_bytes = pdu_data_bytes(h);
	padded = pdu_padded_bytes(h);
	p->header_bytes = PDU_HEADER + pdu_ahs_bytes(h);
	if (digests && p->login->has_header_digest)
		p->header_bytes += DIGEST;
	p->all_bytes = p->header_bytes + padded;
	if (digests && p->login->has_data_digest && p->data_bytes)
		p->all_bytes += DIGEST;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t pcap_pdu_next(struct pcap_pdu *p, const uint8_t *bytes, size_t n,
		     enum pcap_part *part)
{
	uint32_t data_end = p->header_bytes + p->data_bytes;

	if (p->has < PDU_HEADER) {
		*part = PCAP_HEADER;
		n = smaller(n, PDU_HEADER - p->has);
		memcpy(p->header + p->has, bytes, n);
		if (p->has + n == PDU_HEADER)
			measure(p);
	} else if (p->has < p->header_bytes) {
		*part = PCAP_HEADER;
		n = smaller(n, p->header_bytes - p->has);
	} else if (p->has < data_end) {
		*part = PCAP_DATA;
		n = smaller(n, data_end - p->has);
	} else {
		*part = PCAP_TAIL;
		n = smaller(n, p->all_bytes - p->has);
	}
	p->has += n;
	return n;
}

bool pcap_pdu_is_over(const struct pcap_pdu *p)
{
	return p->has >= PDU_HEADER && p->has == p->all_bytes;
}

/* --- login text: KEY=VALUE NUL KEY=VALUE NUL --- */

/* All values of CHAP but the algorithm's, which says what was agreed on. */
static bool is_secret(const struct pcap_pdu *p)
{
	return p->nr_key >= 5 && !strncasecmp(p->key, "CHAP_", 5) &&
	       strcasecmp(p->key, "CHAP_A");
}

static void end_pair(struct pcap_pdu *p)
{
	bool is_crc = p->nr_value == 6 && !memcmp(p->value, "CRC32C", 6);

	if (pdu_opcode(p->header) == PDU_LOGIN_RESPONSE && p->in_value) {
		if (!strcmp(p->key, "HeaderDigest"))
			p->login->has_header_digest = is_crc;
		else if (!strcmp(p->key, "DataDigest"))
			p->login->has_data_digest = is_crc;
	}
	p->key[0] = '\0';
	p->nr_key = p->nr_value = 0;
	p->in_value = p->is_secret = false;
}

/* What is longer than its place is counted and not kept: no key that is looked
 * for has that length. */
static void add(char *text, size_t size, size_t *n, uint8_t byte)
{
	if (*n + 1 < size) {
		text[*n] = byte;
		text[*n + 1] = '\0';
	}
	++*n;
}

void pcap_pdu_blank(struct pcap_pdu *p, uint8_t *copy, size_t n)
{
	if (!is_login(p))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!copy[i]) {
			end_pair(p);
		} else if (p->in_value) {
			add(p->value, sizeof(p->value), &p->nr_value, copy[i]);
			if (p->is_secret)
				copy[i] = 'x';
		} else if (copy[i] == '=') {
			p->in_value = true;
			p->is_secret = is_secret(p);
		} else {
			add(p->key, sizeof(p->key), &p->nr_key, copy[i]);
		}
	}
}

void pcap_pdu_skip_text(struct pcap_pdu *p)
{
	if (is_login(p))
		p->in_value = p->is_secret = true;
}

void pcap_pdu_end(struct pcap_pdu *p)
{
	const uint8_t *h = p->header;
	bool goes_on = h[1] & 0x40; /* section 11.12.2: its text does */

	if (is_login(p) && !goes_on)
		end_pair(p);
	/* T, NSG = 3, and a status of success (section 11.13) */
	if (pdu_opcode(p->header) == PDU_LOGIN_RESPONSE &&
	    (h[1] & 0x83) == 0x83 && !h[36])
		p->login->is_over = true;
	p->has = 0;
	p->header_bytes = p->data_bytes = p->all_bytes = 0;
}
