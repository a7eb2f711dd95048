#ifndef TESTS_TARGET_CORRUPT_H
#define TESTS_TARGET_CORRUPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "tests/target/script.h"

/*
 * A store that does not do what it says. One thread.
 *
 *   flip       one bit of the data is another
 *   lost       nothing is written
 *   swap       two blocks of it change places
 *   tear       the first half of its blocks is written
 *   misdirect  it is written somewhere else
 *   duplicate  so it is, and at its place
 *   zero       zeros are written
 *   stale      it is written, and the next read gives what was there before
 */
struct corrupt {
	struct rng rng;
	uint8_t *stale; /* owned */
	uint64_t stale_offset;
	uint32_t stale_bytes; /* 0: none */
};

/* Puts @bytes of @data at @offset of @store as @act says. A write that is too
 * short for it is done as it should be. */
void corrupt_write(struct corrupt *c, enum act act, uint8_t *store,
		   const struct script *s, uint64_t offset, uint8_t *data,
		   uint32_t bytes);

/* What a read gets instead of the store's own, or NULL: the store's. The caller
 * frees it. */
uint8_t *corrupt_read(struct corrupt *c, const uint8_t *store, uint64_t offset,
		      uint32_t bytes);

#endif
