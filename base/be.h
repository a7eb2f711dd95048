#ifndef BASE_BE_H
#define BASE_BE_H

#include <stdint.h>

/* Big-endian numbers at any address: of PDUs, CDBs and pages. */

static inline uint16_t be_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be_get24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | be_get16(p + 1);
}

static inline uint32_t be_get32(const uint8_t *p)
{
	return (uint32_t)be_get16(p) << 16 | be_get16(p + 2);
}

static inline uint64_t be_get64(const uint8_t *p)
{
	return (uint64_t)be_get32(p) << 32 | be_get32(p + 4);
}

#endif
