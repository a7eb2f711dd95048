#ifndef INITIATOR_PAGES_H
#define INITIATOR_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workloads/lun.h"

/*
 * What a LUN tells of itself: parsers from the bytes of a reply to struct lun.
 * Pure; replies may be cut short anywhere and hold anything. A field that did
 * not arrive keeps its value.
 */

/* Standard INQUIRY data (SPC-4 6.6.2). -EPROTO when shorter than 5 bytes. */
int pages_inquiry(const uint8_t *d, size_t n, unsigned int *qualifier,
		  unsigned int *device_type, struct lun *l);

/* READ CAPACITY (10) and (16) (SBC-3 5.15, 5.16). pages_capacity10 returns
 * -EOVERFLOW when the LUN is too big for its 32 bits. Both: -EPROTO when short
 * or without a block length, -ENODATA when the LUN has no blocks (tgt's empty
 * file: a last LBA of all ones). */
int pages_capacity10(const uint8_t *d, size_t n, struct lun *l);
int pages_capacity16(const uint8_t *d, size_t n, struct lun *l);

/* Is VPD page @code in the list of page 00h? */
bool pages_has(const uint8_t *d, size_t n, uint8_t code);

void pages_serial(const uint8_t *d, size_t n, struct lun *l);	    /* 80h */
void pages_identity(const uint8_t *d, size_t n, struct lun *l);	    /* 83h */
void pages_limits(const uint8_t *d, size_t n, struct lun *l);	    /* B0h */
void pages_provisioning(const uint8_t *d, size_t n, struct lun *l); /* B2h */

/* MODE SENSE (6) data: WP of the header, WCE of page 08h if it is there. */
void pages_mode(const uint8_t *d, size_t n, struct lun *l);

/* One entry of REPORT LUNS data (SAM-5 4.7): the number, or -1 when it is of
 * an addressing method that has none. */
int pages_lun_number(const uint8_t entry[8]);

/* How many bytes REPORT LUNS has in all, header included; 0 when short. */
size_t pages_luns_bytes(const uint8_t *d, size_t n);

#endif
