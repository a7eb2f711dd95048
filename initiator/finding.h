#ifndef INITIATOR_FINDING_H
#define INITIATOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/stamp.h"

/* A block that broke a promise (verify.h), for people and for files. */
struct finding {
	enum stamp_kind kind;
	uint64_t lba;
	uint32_t low, high; /* generations that it may have had */
	struct stamp_found found;
	bool is_transient;   /* the second read was right */
	bool is_overwritten; /* written again before a second read */
	bool has_pair;	     /* lost: its data is at pair_lba; */
	uint64_t pair_lba;   /* misdirected: the same from there */
	char file[64];	     /* in the folder; "" not kept */
};

/* "LBA 4711: lost write: generation 12 is there, 30 was acknowledged" */
char *finding_describe(const struct finding *f, char *text, size_t size);

/* Writes FOLDER/LBA-KIND.found, which is @block, and .expected beside it, if
 * anything was; makes the folder. Fills f->file. */
int finding_save(struct finding *f, const char *folder, uint64_t run,
		 const void *block, uint32_t block_bytes);

/* A lost write whose data is at another LBA went astray: marks both. */
void finding_pair(struct finding *misdirected, struct finding *lost);

#endif
