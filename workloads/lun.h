#ifndef WORKLOADS_LUN_H
#define WORKLOADS_LUN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a probe learned of the thing under test: the shape that a plan must
 * fit, and the identity that a result must name. For a block device or a
 * simulated target only the shape is set. Sources: SBC-3 (READ CAPACITY(16),
 * VPD B0h/B2h), SPC-4 (INQUIRY, VPD 80h/83h, MODE SENSE).
 */
struct lun {
	/* shape */
	uint64_t blocks;	       /* number of logical blocks */
	uint32_t block_bytes;	       /* logical block length */
	uint32_t physical_block_bytes; /* 0 unknown */
	uint32_t max_transfer_blocks;  /* 0 no limit reported */
	uint32_t optimal_transfer_blocks;
	uint32_t max_unmap_blocks;	/* 0 no limit known; UINT32_MAX none */
	uint32_t max_unmap_descriptors; /* same */
	uint32_t unmap_granularity_blocks;
	uint32_t max_atomic_blocks; /* of WRITE ATOMIC (SBC-4); 0 none said */

	/* abilities */
	bool can_unmap;	   /* LBPU: UNMAP is supported */
	bool unmap_zeroes; /* LBPRZ: reads of unmapped blocks give zeros */
	bool is_thin;	   /* LBPME */
	bool is_read_only; /* WP in the mode parameter header */
	bool write_cache;  /* WCE; meaningless unless write_cache_known */
	bool write_cache_known;
	bool can_fua;	 /* DPOFUA: writes may be told to reach the medium */
	bool keeps_data; /* false: reads need not return what was written
			    (tgt's null store, the null and sim transports) */

	/* identity; "" where unknown. Printable ASCII, trimmed. */
	char vendor[9];
	char product[17];
	char revision[5];
	char serial[256];
	char naa[64]; /* VPD 83h designator of the LUN: "naa.6001405..." or
			 "eui.…" or "t10.…" */
};

static inline uint64_t lun_bytes(const struct lun *l)
{
	return l->blocks * l->block_bytes;
}

#endif
