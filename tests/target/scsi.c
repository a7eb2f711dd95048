#include "tests/target/scsi.h"

#include <stdio.h>
#include <string.h>

#include "tests/target/bytes.h"

void scsi_check(struct answer *a, uint8_t key, uint8_t asc, uint8_t ascq)
{
	a->kind = ANSWER;
	a->status = 0x02;
	a->key = key;
	a->asc = asc;
	a->ascq = ascq;
	a->bytes = 0;
}

/* SPC-4 7.8: a page's header and length around what is in @a->data from 4. */
static void vpd_page(struct answer *a, uint8_t page, size_t body_bytes)
{
	a->data[1] = page;
	put16(a->data + 2, body_bytes);
	a->bytes = 4 + body_bytes;
}

static void inquiry_page(struct answer *a, const struct script *s, uint8_t page,
			 unsigned int lun)
{
	uint8_t *d = a->data + 4;

	switch (page) {
	case 0x00:
		memcpy(d, "\x00\x80\x83\xb0\xb1\xb2", 6);
		return vpd_page(a, page, 6);
	case 0x80:
		return vpd_page(a, page,
				sprintf((char *)d, "INSTANT%03u", lun));
	case 0x83: /* one designator, NAA 3h, locally assigned */
		memcpy(d, "\x01\x03\x00\x08\x3a\xcd\xe5\x00\x00\x00\x00", 11);
		d[11] = lun;
		return vpd_page(a, page, 12);
	case 0xb0:		 /* SBC-3 6.5.3 */
		put32(d + 4, 0); /* no limit to a transfer */
		put32(d + 16, UINT32_MAX);
		put32(d + 20, 256);
		return vpd_page(a, page, 60);
	case 0xb1: /* not rotating */
		put16(d, 1);
		return vpd_page(a, page, 60);
	case 0xb2: /* LBPU, thin */
		d[1] = 0x80;
		d[2] = 0x02;
		return vpd_page(a, page, 4);
	}
	(void)s;
	scsi_check(a, 5, 0x24, 0);
}

/* SPC-4 6.4. @is_there: 0x7f is what a number without a LUN answers. */
static void inquiry(struct answer *a, const struct script *s,
		    const uint8_t *cdb, unsigned int lun, bool is_there)
{
	if (cdb[1] & 1) {
		inquiry_page(a, s, cdb[2], lun);
	} else {
		a->data[0] = is_there ? 0x00 : 0x7f;
		a->data[2] = 5;
		a->data[3] = 2;
		a->data[4] = 31;
		a->data[7] = 2;
		memcpy(a->data + 8, "LUNBENCHINSTANT TARGET  1   ", 28);
		a->bytes = 36;
	}
	if (a->bytes > get16(cdb + 3))
		a->bytes = get16(cdb + 3);
}

static void report_luns(struct answer *a, const struct script *s)
{
	unsigned int n = s->luns < 63 ? s->luns : 63;

	put32(a->data, n * 8);
	for (unsigned int i = 0; i < n; i++)
		a->data[8 + i * 8 + 1] = i + 1;
	a->bytes = 8 + n * 8;
}

/* SPC-4 6.13, without block descriptors: the caching page, write cache on. */
static void mode_sense(struct answer *a, const uint8_t *cdb)
{
	uint8_t page = cdb[2] & 0x3f;

	if (page != 0x08 && page != 0x3f)
		return scsi_check(a, 5, 0x24, 0);
	a->bytes = 4 + 20;
	a->data[0] = a->bytes - 1;
	a->data[2] = 0x10; /* DPOFUA */
	a->data[4] = 0x08;
	a->data[5] = 18;
	a->data[6] = 0x04; /* WCE */
	if (a->bytes > cdb[4])
		a->bytes = cdb[4];
}

static void transfer(struct answer *a, const struct script *s, uint64_t lba,
		     uint32_t blocks, bool is_write)
{
	uint64_t all = s->size_bytes / s->block_bytes;

	a->what = is_write ? WHAT_WRITE : WHAT_READ;
	if (lba > all || blocks > all - lba)
		return scsi_check(a, 5, 0x21, 0);
	a->kind = is_write ? ANSWER_WRITE : ANSWER_READ;
	a->offset_bytes = lba * s->block_bytes;
	a->bytes = blocks * s->block_bytes;
	if (blocks > s->store_bytes / s->block_bytes)
		scsi_check(a, 5, 0x24, 0);
}

static void capacity(struct answer *a, const struct script *s, bool is_16)
{
	uint64_t last = s->size_bytes / s->block_bytes - 1;

	if (is_16) {
		put64(a->data, last);
		put32(a->data + 8, s->block_bytes);
		a->data[14] = 0x80; /* LBPME */
		a->bytes = 32;
	} else {
		put32(a->data, last > UINT32_MAX ? UINT32_MAX : last);
		put32(a->data + 4, s->block_bytes);
		a->bytes = 8;
	}
}

void scsi_command(struct answer *a, const struct script *s, const uint8_t *lun,
		  const uint8_t *cdb)
{
	unsigned int number = (lun[0] & 0x3f) << 8 | lun[1];
	bool is_there = number >= 1 && number <= s->luns;

	memset(a, 0, sizeof(*a));
	a->what = WHAT_OTHER;
	if (cdb[0] == 0x12)
		return inquiry(a, s, cdb, number, is_there);
	if (cdb[0] == 0xa0)
		return report_luns(a, s);
	if (!is_there)
		return scsi_check(a, 5, 0x25, 0);
	switch (cdb[0]) {
	case 0x00: /* TEST UNIT READY */
		return;
	case 0x1a:
		return mode_sense(a, cdb);
	case 0x25:
		return capacity(a, s, false);
	case 0x9e:
		return capacity(a, s, true);
	case 0x28:
	case 0x2a:
		return transfer(a, s, get32(cdb + 2), get16(cdb + 7),
				cdb[0] == 0x2a);
	case 0x88:
	case 0x8a:
		return transfer(a, s, get64(cdb + 2), get32(cdb + 10),
				cdb[0] == 0x8a);
	case 0x35:
	case 0x91: /* SYNCHRONIZE CACHE (10), (16) */
		a->what = WHAT_FLUSH;
		return;
	case 0x42: /* UNMAP: its list is taken and forgotten */
		a->what = WHAT_UNMAP;
		return;
	}
	scsi_check(a, 5, 0x20, 0);
}
