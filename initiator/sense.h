#ifndef INITIATOR_SENSE_H
#define INITIATOR_SENSE_H

#include <stddef.h>
#include <stdint.h>

#include "initiator/transport.h"

/*
 * What a target says when it does not do what it was asked: SCSI status
 * (SAM-5 5.3.1), sense data (SPC-4 4.5) and their meaning for us. libiscsi's
 * own tables have holes (MEDIUM ERROR is "(null)"), so these are ours.
 */

/* Fixed (70h, 71h) and descriptor (72h, 73h) format; what is too short or in
 * another format leaves the sense at 0/00/00. */
void sense_parse(const uint8_t *sense, size_t len, struct io_detail *d);

/* The -errno for d->scsi_status and the sense, as struct io's result says; 0
 * for GOOD, CONDITION MET and RECOVERED ERROR. Beside those of transport.h,
 * -ENOSPC when a thin pool is full (7/27/07). Residuals are the caller's. */
int sense_result(const struct io_detail *d);

/* "MEDIUM ERROR, unrecovered read error (3/11/00)" behind the status; for
 * GOOD only that. Writes and returns @buf. */
char *sense_describe(const struct io_detail *d, char *buf, size_t size);

/* "disk", "storage array controller", ... (SPC-4 table 142). */
const char *sense_device_type(unsigned int type);

#endif
