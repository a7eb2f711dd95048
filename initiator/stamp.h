#ifndef INITIATOR_STAMP_H
#define INITIATOR_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a logical block says of itself, so that a block that comes back wrong
 * tells how. Little-endian, 512 bytes and more:
 *
 *	 0  magic "lunstamp"
 *	 8  run         a random number of the run that wrote it
 *	16  LBA         where it was meant for
 *	24  generation  of the run's writes, from 1: all blocks of one command
 *			have the same, and later commands larger ones
 *	28  client      the session that wrote it, from 0
 *	32  checksum    CRC-32C over the block, this field being 0
 *	36  block length in bytes
 *	40  words of 8 bytes, each made of run, LBA, generation and its own
 *	    place: any of them alone tells the generation that it is of, which
 *	    shows two halves of one block that were written at different times
 *
 * Pure: no I/O, no state, any thread.
 */
enum { STAMP_HEADER_BYTES = 40, STAMP_BLOCK_BYTES_MIN = 512 };

struct stamp {
	uint64_t run, lba;
	uint32_t generation, client;
};

void stamp_write(void *block, uint32_t block_bytes, const struct stamp *s);

enum stamp_kind {
	STAMP_OK,
	STAMP_UNWRITTEN, /* nothing was promised: not written yet */
	STAMP_TRIMMED,	 /* nor here: trimmed, or may be */

	/* From here on the LUN broke its promise. */
	STAMP_ROTTEN,	   /* the right block, with other bits in it */
	STAMP_LOST,	   /* an older generation: a write did not happen */
	STAMP_STALE,	   /* the same, but a second read gave the right one */
	STAMP_MISDIRECTED, /* the block of another LBA */
	STAMP_TORN,	   /* a part of one command (or of the block) is there
			    */
	STAMP_ZEROED,
	STAMP_FOREIGN, /* nothing that this run wrote */
	STAMP_KINDS
};

/* "bit rot", "lost write", "stale read", "misdirected write", ... */
const char *stamp_kind_name(enum stamp_kind k);
/* One word for keys and file names: "bit_rot", "lost_write", ... */
const char *stamp_kind_key(enum stamp_kind k);
/* What a LUN promises, and this kind breaks. */
const char *stamp_kind_promise(enum stamp_kind k);

static inline bool stamp_is_broken(enum stamp_kind k)
{
	return k >= STAMP_ROTTEN;
}

/* What may be at an LBA. Generations from @low (the last one acknowledged) to
 * @high (the last one sent: equal to @low unless writes are under way or
 * failed). @low 0: what was there before the run may still be. */
struct stamp_want {
	uint64_t run, lba;
	uint32_t low, high;
	bool may_be_trimmed;
};

struct stamp_found {
	enum stamp_kind kind;
	bool has_stamp;	    /* a whole one, in @stamp */
	struct stamp stamp; /* with a damaged one, what can be read of it */
	bool is_of_other_run;
	uint32_t other; /* STAMP_TORN inside the block: the other generation;
			   0: zeros */
	bool is_torn_inside;
	uint32_t first_wrong; /* the first byte that differs from the block of
				 @want->high (STAMP_ROTTEN: of the generation
				 that it is of); block_bytes: none */
};

/* What the block is, as far as it alone can tell: an older generation is
 * STAMP_LOST here; a second read and its neighbours may make it STAMP_STALE or
 * STAMP_TORN (verify.c). @block_bytes: a multiple of 8. */
void stamp_classify(struct stamp_found *f, const struct stamp_want *want,
		    const void *block, uint32_t block_bytes);

#endif
