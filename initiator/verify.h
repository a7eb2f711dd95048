#ifndef INITIATOR_VERIFY_H
#define INITIATOR_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/finding.h"
#include "initiator/genmap.h"
#include "initiator/transport.h"

/*
 * Whether a LUN gives back what was written to it: the part of a session's data
 * path that stamps each write (stamp.h), remembers it (genmap.h), and looks at
 * each read. session_io calls it where run_opts has a verify; without one, the
 * path is as if this were not there.
 *
 * What a read may give is what was acknowledged before it was sent, or
 * anything that was sent since. A block that is wrong is read once more,
 * together with the blocks of the same command, before it counts: then a stale
 * read, a torn write and a lost one can be told apart, and what only passed a
 * write on its way is nothing.
 *
 * One for all sessions of a run, which then has one worker: one thread.
 */
struct verify; /* opaque */

struct verify_setup {
	struct genmap *map; /* borrowed, outlives it */
	const char *folder; /* borrowed; for blocks that are wrong, made with
			       the first of them; NULL: they are not kept */
	size_t keep;	    /* findings that are kept in full */
	uint32_t fua_every; /* each Nth write is sent with FUA; 0: none */
};

/* What a slot of the queue depth keeps for it. */
struct verify_io {
	uint32_t *lows;	     /* owned by the session: of max_blocks */
	uint32_t max_blocks; /* that fit the slot's read buffer */
	uint32_t client;

	uint32_t generation;	 /* private, from here on */
	struct pending *pending; /* owned while a read is outstanding */
	uint64_t offset_bytes;	 /* the read that was asked for */
	uint32_t length_bytes;
	bool is_second;
};

int verify_new(struct verify **v, const struct verify_setup *s, struct err *e);
void verify_free(struct verify *v);

/* May this write or trim go out now? Not while another to the same blocks is
 * under way: what two at once leave is not defined. */
bool verify_may_send(const struct verify *v, enum io_op op,
		     uint64_t offset_bytes, uint32_t length_bytes);

/* A new I/O is about to be sent: stamps its buffer. */
void verify_begin(struct verify *v, struct verify_io *vio, struct io *io);

/* It was answered well. True: send @io again, it was changed to be a second
 * read. False: it is over, and @io is as verify_begin() had it. */
bool verify_end(struct verify *v, struct verify_io *vio, struct io *io);

/* It failed or was given up. */
void verify_failed(struct verify *v, struct verify_io *vio, struct io *io);

/* A sentence for people about what verify_end() found, once; or NULL. */
const char *verify_take_note(struct verify *v);

struct verify_totals {
	uint64_t blocks[STAMP_KINDS]; /* wrong ones once, until written again;
					 the others each time */
	uint64_t seen_again;	      /* blocks that were known to be wrong */
	uint64_t raced; /* reads of a block that met a write, and were
			   right the second time */
	uint64_t second_reads, writes, trims, reads, fua_writes, failed_writes;
	uint64_t nr_saved;
};

void verify_totals(const struct verify *v, struct verify_totals *t);
/* Blocks that broke a promise, of all kinds. */
uint64_t verify_broken(const struct verify_totals *t);

/* The first findings, in order; sorts out pairs first. */
const struct finding *verify_findings(struct verify *v, size_t *nr);

#endif
