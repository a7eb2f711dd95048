#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/pages.h"
#include "initiator/sense.h"

/* Any bytes as a target's reply, to every parser in turn; in memory of just
 * that size, so that reads past the end show. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	if (n == size)
		abort();
	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			abort();
}

static void check(const struct lun *l)
{
	check_text(l->vendor, sizeof(l->vendor));
	check_text(l->product, sizeof(l->product));
	check_text(l->revision, sizeof(l->revision));
	check_text(l->serial, sizeof(l->serial));
	check_text(l->naa, sizeof(l->naa));
	if (l->blocks && lun_bytes(l) / l->blocks != l->block_bytes)
		abort(); /* wrapped */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int qualifier, type;
	struct io_detail d = {.scsi_status = 2};
	struct lun l = {0};
	char text[256];
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	pages_inquiry(copy, size, &qualifier, &type, &l);
	pages_capacity10(copy, size, &l);
	check(&l);
	pages_capacity16(copy, size, &l);
	check(&l);
	pages_has(copy, size, 0xb0);
	pages_serial(copy, size, &l);
	pages_identity(copy, size, &l);
	pages_limits(copy, size, &l);
	pages_provisioning(copy, size, &l);
	pages_mode(copy, size, &l);
	check(&l);
	if (size >= 8 && pages_lun_number(copy) > 16383)
		abort();
	pages_luns_bytes(copy, size);
	sense_parse(copy, size, &d);
	sense_describe(&d, text, sizeof(text));
	sense_result(&d);
	free(copy);
	return 0;
}
