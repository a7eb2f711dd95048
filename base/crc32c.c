#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

/* 0x1edc6f41, bits reversed. */
#define POLYNOMIAL 0x82f63b78u

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	uint32_t crc;
	int i, bit;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
		table[i] = crc;
	}
}

uint32_t crc32c_from_table(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&table_once, make_table);
	crc = ~crc;
	while (len--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t by_cpu(uint32_t crc,
							 const void *data,
							 size_t len)
{
	const uint8_t *p = data;
	uint64_t wide = ~crc, word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = wide;
	while (len--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return ~crc;
}
#endif

uint32_t crc32c_more(uint32_t crc, const void *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_cpu(crc, data, len);
#endif
	return crc32c_from_table(crc, data, len);
}

uint32_t crc32c(const void *data, size_t len)
{
	return crc32c_more(0, data, len);
}
