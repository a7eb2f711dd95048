#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/ledger.h"
#include "initiator/pdu.h"

/* Any headers, sent and received in any order: the input is records of a byte,
 * what happens, and a header; or, for data that is sent, its length. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SENT, RECEIVED, SENT_DATA, EVENTS };

static void check_complaint(const struct ledger *l)
{
	size_t n = strnlen(l->complaint, sizeof(l->complaint));

	if (!n || n == sizeof(l->complaint))
		abort();
	for (size_t i = 0; i < n; i++)
		if (l->complaint[i] < ' ' || l->complaint[i] > '~')
			abort();
}

static void happen(struct ledger *l, int event, const uint8_t *header)
{
	uint32_t itt = (uint32_t)header[16] << 24 | header[17] << 16 |
		       header[18] << 8 | header[19];
	int ret;

	switch (event) {
	case SENT:
		ledger_sent(l, header);
		break;
	case SENT_DATA:
		ledger_sent_data(l,
				 header[5] << 16 | header[6] << 8 | header[7]);
		break;
	default:
		ret = ledger_received(l, header);
		if (ret && ret != -EPROTO)
			abort();
		if (ret)
			check_complaint(l);
	}
	if (ledger_data_in(l, itt) < -1 || ledger_data_left(l, itt) < -1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger l;

	ledger_init(&l);
	for (; size >= 1 + PDU_HEADER; size -= 1 + PDU_HEADER) {
		uint8_t *header = malloc(PDU_HEADER);

		memcpy(header, data + 1, PDU_HEADER);
		happen(&l, data[0] % EVENTS, header);
		free(header);
		data += 1 + PDU_HEADER;
	}
	ledger_release(&l);
	return 0;
}
