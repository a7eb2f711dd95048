#ifndef TESTS_UNIT_PDU_HEADER_H
#define TESTS_UNIT_PDU_HEADER_H

#include <string.h>

#include "initiator/pdu.h"

/* The header that a test tells of next. */
static uint8_t header[PDU_HEADER];

static void put32(size_t at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		header[at + i] = v >> (24 - 8 * i);
}

static void fill(uint8_t opcode, uint8_t flags, uint32_t itt, uint32_t segment)
{
	memset(header, 0, sizeof(header));
	put32(4, segment);
	header[0] = opcode;
	header[1] = flags;
	put32(16, itt);
}

#endif
