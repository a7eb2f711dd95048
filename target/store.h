#ifndef TARGET_STORE_H
#define TARGET_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "target/array.h"
#include "base/journal.h"
#include "target/state.h"
#include "target/tgt.h"

/*
 * What the LUN keeps its blocks in: an image of ours, made at its full size so
 * that a full disk shows now and not in the middle of a measurement; a file
 * or device that the user named; an array (array.h); or nothing (tgt's null
 * store).
 *
 * Journal: "image PATH" before an image of ours is made, removed with the
 * target; "made-file PATH" before a file that the user named is made, removed
 * only if the target never came up; "backing PATH" in all cases.
 */
struct store {
	char path[1024]; /* as tgtd gets it */
	uint64_t size_bytes;
	bool is_ours; /* an image of ours */
	/* A device: past the page cache (O_DIRECT), or its memory would be what
	 * is measured, and the end of tgtd would wait for all of it. */
	bool is_direct;
	struct disk more[DISKS_MAX - 1]; /* LUNs 2 and on, of a jbod */
	size_t nr_more;
};

#define STORE_DEFAULT_BYTES (1ULL << 30)
#define STORE_NULL_MAX_BYTES (1ULL << 40) /* tgt's null LUN, always */

const char *store_name(enum tgt_store kind); /* "rdwr", ... */

/* Checks what was asked and makes it. @note (256 bytes) is added to when the
 * image had to go to another folder than the state's, or members are of
 * different size. *end_ns is put off by an array's first sync. */
int store_prepare(struct store *st, const struct tgt_opts *o,
		  const struct state *s, struct journal *j, uint64_t *end_ns,
		  char *note, struct err *e);

/* Removes what the journal says is ours. */
int store_remove(const struct journal_text *t, bool came_up, struct err *e);

#endif
