#include "tests/target/corrupt.h"

#include <stdlib.h>
#include <string.h>

static void swap(struct corrupt *c, uint8_t *data, uint32_t bytes,
		 uint32_t block)
{
	uint32_t blocks = bytes / block, i;
	uint32_t a = rng_below(&c->rng, blocks);
	uint32_t b = (a + 1 + rng_below(&c->rng, blocks - 1)) % blocks;
	uint8_t *p = data + (size_t)a * block, *q = data + (size_t)b * block;

	for (i = 0; i < block; i++) {
		uint8_t was = p[i];

		p[i] = q[i];
		q[i] = was;
	}
}

static uint64_t elsewhere(struct corrupt *c, const struct script *s,
			  uint64_t offset, uint32_t bytes)
{
	uint64_t room = (s->store_bytes - bytes) / s->block_bytes + 1, other;

	do
		other = rng_below(&c->rng, room) * s->block_bytes;
	while (other < offset + bytes && offset < other + bytes);
	return other;
}

static void keep_stale(struct corrupt *c, const uint8_t *store, uint64_t offset,
		       uint32_t bytes)
{
	free(c->stale);
	c->stale = malloc(bytes);
	if (!c->stale)
		abort();
	memcpy(c->stale, store + offset, bytes);
	c->stale_offset = offset;
	c->stale_bytes = bytes;
}

static bool fits(enum act act, const struct script *s, uint32_t bytes)
{
	if (act == ACT_SWAP || act == ACT_TEAR)
		return bytes >= 2 * s->block_bytes;
	if (act == ACT_MISDIRECT || act == ACT_DUPLICATE)
		return bytes <= s->store_bytes / 4;
	return true;
}

void corrupt_write(struct corrupt *c, enum act act, uint8_t *store,
		   const struct script *s, uint64_t offset, uint8_t *data,
		   uint32_t bytes)
{
	uint32_t block = s->block_bytes, bit;

	switch (fits(act, s, bytes) ? act : ACT_NONE) {
	case ACT_FLIP:
		bit = rng_below(&c->rng, 8ULL * bytes);
		data[bit / 8] ^= 1u << bit % 8;
		break;
	case ACT_LOST:
		return;
	case ACT_SWAP:
		swap(c, data, bytes, block);
		break;
	case ACT_TEAR:
		bytes = bytes / block / 2 * block;
		break;
	case ACT_MISDIRECT:
		offset = elsewhere(c, s, offset, bytes);
		break;
	case ACT_DUPLICATE:
		memcpy(store + elsewhere(c, s, offset, bytes), data, bytes);
		break;
	case ACT_ZERO:
		memset(data, 0, bytes);
		break;
	case ACT_STALE:
		keep_stale(c, store, offset, bytes);
		break;
	default:
		break;
	}
	memcpy(store + offset, data, bytes);
}

uint8_t *corrupt_read(struct corrupt *c, const uint8_t *store, uint64_t offset,
		      uint32_t bytes)
{
	uint64_t from = offset, to = offset + bytes;
	uint8_t *copy;

	if (from < c->stale_offset)
		from = c->stale_offset;
	if (to > c->stale_offset + c->stale_bytes)
		to = c->stale_offset + c->stale_bytes;
	if (!c->stale_bytes || from >= to)
		return NULL;
	copy = malloc(bytes);
	if (!copy)
		abort();
	memcpy(copy, store + offset, bytes);
	memcpy(copy + (from - offset), c->stale + (from - c->stale_offset),
	       to - from);
	c->stale_bytes = 0;
	return copy;
}
