#ifndef INITIATOR_GENMAP_H
#define INITIATOR_GENMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workloads/lun.h"

/*
 * What each block of a part of a LUN may hold: for each, the generation of the
 * last write that was acknowledged and of the last that was sent. 8 bytes a
 * block in a file that is mapped into memory, so that it is its own journal:
 * what is set before a write is sent is in the file when this process is
 * killed a moment later (not when this host loses its power: the pages are
 * written back by the kernel, and by genmap_sync()).
 *
 * Two writes are never under way to one block at once: whoever writes asks
 * genmap_is_free() first. One thread.
 */

struct genmap_shape { /* what a map is of; kept in its file */
	uint64_t run;
	uint64_t first_lba, blocks;
	uint32_t block_bytes;
	uint64_t lun_blocks;
	char identity[320]; /* of the LUN: serial number and NAA name; "" */
};

struct genmap; /* opaque */

/* @path NULL: in memory alone. The file must not be there yet (-EEXIST), or
 * @replace; it gets all its room at once (-ENOSPC). */
int genmap_create(struct genmap **m, const char *path, bool replace,
		  const struct genmap_shape *shape, struct err *e);
/* One that is there. -EINVAL: it is none, or cut off; -EBUSY: another lunbench
 * has it open. */
int genmap_open(struct genmap **m, const char *path, struct err *e);
/* NULL is fine. */
void genmap_close(struct genmap *m);

const struct genmap_shape *genmap_shape(const struct genmap *m);
int genmap_sync(struct genmap *m);

/* Bytes of the file of a map of @blocks. */
uint64_t genmap_bytes(uint64_t blocks);

/* All of the range is in the map. */
bool genmap_covers(const struct genmap *m, uint64_t lba, uint64_t blocks);

/* No write or trim is under way to any block of the range. */
bool genmap_is_free(const struct genmap *m, uint64_t lba, uint64_t blocks);

/* A write or trim is about to be sent: its generation; 0: there are no more
 * (2^31 commands a map). */
uint32_t genmap_begin(struct genmap *m, uint64_t lba, uint64_t blocks,
		      bool is_trim);
/* It was acknowledged, or failed: then old or new may be there. */
void genmap_end(struct genmap *m, uint64_t lba, uint64_t blocks,
		uint32_t generation, bool is_trim, bool is_done);

struct genmap_block {
	uint32_t low, high; /* see struct stamp_want */
	bool may_be_trimmed;
	bool is_busy; /* a write or trim is under way */
	bool is_bad;  /* see genmap_mark_bad() */
};
struct genmap_block genmap_get(const struct genmap *m, uint64_t lba);

/* A block that was found wrong and told of, until it is written again. */
void genmap_mark_bad(struct genmap *m, uint64_t lba);

struct genmap_counts {
	uint64_t written;   /* blocks with an acknowledged write */
	uint64_t unknown;   /* old or new: a write failed or had no answer */
	uint64_t trimmed;   /* that are, or may be */
	uint64_t unwritten; /* nothing was sent to them */
};
void genmap_count(const struct genmap *m, struct genmap_counts *c);

#endif
