#ifndef TESTS_TARGET_SCSI_H
#define TESTS_TARGET_SCSI_H

#include <stddef.h>
#include <stdint.h>

#include "tests/target/script.h"

/* What a command of the instant target's LUNs means (SPC-4, SBC-3): either an
 * answer at once, or a transfer between the initiator and the blocks. */

struct answer {
	enum { ANSWER, ANSWER_READ, ANSWER_WRITE } kind;
	enum what what;
	uint8_t status;
	uint8_t key, asc, ascq; /* with status 0x02 */
	uint64_t offset_bytes;	/* of a transfer */
	uint32_t bytes;		/* of a transfer, or of @data */
	uint8_t data[512];
};

void scsi_check(struct answer *a, uint8_t key, uint8_t asc, uint8_t ascq);

/* @lun: the field of the PDU, 8 bytes. */
void scsi_command(struct answer *a, const struct script *s, const uint8_t *lun,
		  const uint8_t *cdb);

#endif
