#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4: 32 bytes of zeros give
 * 0x8a9136aa): with the CPU's instruction (SSE 4.2) where it has one, from a
 * table elsewhere. Pure, any thread.
 */
uint32_t crc32c(const void *data, size_t len);

/* The next part of the same: crc32c(ab) is crc32c_more(crc32c(a), b). */
uint32_t crc32c_more(uint32_t crc, const void *data, size_t len);

/* From the table, whatever the CPU has; for the test of both. */
uint32_t crc32c_from_table(uint32_t crc, const void *data, size_t len);

#endif
