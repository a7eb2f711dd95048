#ifndef INITIATOR_PDU_H
#define INITIATOR_PDU_H

#include <stdint.h>

#include "base/be.h"

/* The basic header segment of an iSCSI PDU, RFC 7143 section 11.2. */

enum { PDU_HEADER = 48 }; /* bytes */

/* Section 11.2.1.2, without the bit of immediate delivery. */
enum pdu_opcode {
	PDU_NOP_OUT = 0x00,
	PDU_SCSI_COMMAND = 0x01,
	PDU_LOGIN_REQUEST = 0x03,
	PDU_DATA_OUT = 0x05,
	PDU_NOP_IN = 0x20,
	PDU_SCSI_RESPONSE = 0x21,
	PDU_LOGIN_RESPONSE = 0x23,
	PDU_DATA_IN = 0x25,
	PDU_R2T = 0x31,
	PDU_REJECT = 0x3f,
};

static inline int pdu_opcode(const uint8_t *header)
{
	return header[0] & 0x3f;
}

/* Of additional header segments. */
static inline uint32_t pdu_ahs_bytes(const uint8_t *header)
{
	return 4u * header[4];
}

/* Of the data segment, and with its padding. */
static inline uint32_t pdu_data_bytes(const uint8_t *header)
{
	return be_get24(header + 5);
}

static inline uint32_t pdu_padded_bytes(const uint8_t *header)
{
	return (pdu_data_bytes(header) + 3) & ~3u;
}

static inline uint32_t pdu_itt(const uint8_t *header)
{
	return be_get32(header + 16);
}

#endif
