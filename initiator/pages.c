#include "initiator/pages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/be.h"

/* Printable ASCII, blanks trimmed on both sides. */
static void copy_text(char *dst, size_t size, const uint8_t *from, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n && out + 1 < size; i++) {
		bool printable = from[i] > ' ' && from[i] < 0x7f;

		if (printable || out)
			dst[out++] = printable ? from[i] : ' ';
	}
	while (out && dst[out - 1] == ' ')
		out--;
	dst[out] = '\0';
}

int pages_inquiry(const uint8_t *d, size_t n, unsigned int *qualifier,
		  unsigned int *device_type, struct lun *l)
{
	if (n < 5)
		return -EPROTO;
	*qualifier = d[0] >> 5;
	*device_type = d[0] & 0x1f;
	if (n >= 16)
		copy_text(l->vendor, sizeof(l->vendor), d + 8, 8);
	if (n >= 32)
		copy_text(l->product, sizeof(l->product), d + 16, 16);
	if (n >= 36)
		copy_text(l->revision, sizeof(l->revision), d + 32, 4);
	return 0;
}

int pages_capacity10(const uint8_t *d, size_t n, struct lun *l)
{
	if (n < 8 || !be_get32(d + 4))
		return -EPROTO;
	if (be_get32(d) == UINT32_MAX)
		return -EOVERFLOW;
	l->blocks = (uint64_t)be_get32(d) + 1;
	l->block_bytes = be_get32(d + 4);
	return 0;
}

int pages_capacity16(const uint8_t *d, size_t n, struct lun *l)
{
	uint64_t last;

	if (n < 12 || !be_get32(d + 8))
		return -EPROTO;
	last = be_get64(d);
	if (last == UINT64_MAX)
		return -ENODATA;
	if (last >= UINT64_MAX / be_get32(d + 8))
		return -EPROTO; /* over 2^64 bytes */
	l->blocks = last + 1;
	l->block_bytes = be_get32(d + 8);
	if (n >= 14 && (d[13] & 0x0f))
		l->physical_block_bytes = l->block_bytes << (d[13] & 0x0f);
	else
		l->physical_block_bytes = l->block_bytes;
	if (n >= 15) {
		l->is_thin = d[14] & 0x80;
		l->unmap_zeroes = d[14] & 0x40;
	}
	return 0;
}

/* The payload of a VPD page: what follows its 4 bytes of header, no longer
 * than it says, no longer than what arrived. */
static size_t vpd_length(const uint8_t *d, size_t n, uint8_t code)
{
	size_t length;

	if (n < 4 || d[1] != code)
		return 0;
	length = be_get16(d + 2);
	return length < n - 4 ? length : n - 4;
}

bool pages_has(const uint8_t *d, size_t n, uint8_t code)
{
	size_t length = vpd_length(d, n, 0x00);

	return length && memchr(d + 4, code, length);
}

void pages_serial(const uint8_t *d, size_t n, struct lun *l)
{
	copy_text(l->serial, sizeof(l->serial), d + 4, vpd_length(d, n, 0x80));
}

enum { DESIGNATOR_T10 = 1, DESIGNATOR_EUI = 2, DESIGNATOR_NAA = 3 };

static void copy_designator(struct lun *l, unsigned int type, const uint8_t *id,
			    size_t n)
{
	size_t out;

	if (type == DESIGNATOR_T10) {
		memcpy(l->naa, "t10.", 5);
		copy_text(l->naa + 4, sizeof(l->naa) - 4, id, n);
		return;
	}
	out = snprintf(l->naa, sizeof(l->naa), "%s.",
		       type == DESIGNATOR_NAA ? "naa" : "eui");
	for (size_t i = 0; i < n && out + 2 < sizeof(l->naa); i++)
		out += snprintf(l->naa + out, sizeof(l->naa) - out, "%02x",
				id[i]);
}

/* NAA is better than EUI-64 is better than T10 vendor: the order of their
 * numbers. Only what names the LUN itself (association 0) counts. */
void pages_identity(const uint8_t *d, size_t n, struct lun *l)
{
	const uint8_t *p = d + 4;
	size_t left = vpd_length(d, n, 0x83);
	unsigned int best = 0;

	while (left >= 4) {
		unsigned int type = p[1] & 0x0f;
		size_t length = p[3];

		if (length > left - 4)
			return;
		if ((p[1] >> 4 & 3) == 0 && type > best &&
		    type <= DESIGNATOR_NAA && length) {
			best = type;
			copy_designator(l, type, p + 4, length);
		}
		p += 4 + length;
		left -= 4 + length;
	}
}

void pages_limits(const uint8_t *d, size_t n, struct lun *l)
{
	size_t length = vpd_length(d, n, 0xb0);

	if (length >= 12) {
		l->max_transfer_blocks = be_get32(d + 8);
		l->optimal_transfer_blocks = be_get32(d + 12);
	}
	if (length >= 28) {
		l->max_unmap_blocks = be_get32(d + 20);
		l->max_unmap_descriptors = be_get32(d + 24);
		l->unmap_granularity_blocks = be_get32(d + 28);
	}
	if (length >= 44)
		l->max_atomic_blocks = be_get32(d + 44);
}

void pages_provisioning(const uint8_t *d, size_t n, struct lun *l)
{
	size_t length = vpd_length(d, n, 0xb2);

	if (length < 2)
		return;
	l->can_unmap = d[5] & 0x80;
	l->unmap_zeroes |= (d[5] >> 2 & 7) == 1;
}

void pages_mode(const uint8_t *d, size_t n, struct lun *l)
{
	size_t end, at;

	if (n < 4)
		return;
	l->is_read_only = d[2] & 0x80;
	l->can_fua = d[2] & 0x10; /* DPOFUA: SBC-3 6.4.1 */
	end = (size_t)d[0] + 1 < n ? (size_t)d[0] + 1 : n;
	for (at = 4 + d[3]; at + 3 <= end;
	     at += d[at] & 0x40 ? (size_t)4 + be_get16(d + at + 2)
				: (size_t)2 + d[at + 1]) {
		if ((d[at] & 0x7f) == 0x08) {
			l->write_cache = d[at + 2] & 0x04;
			l->write_cache_known = true;
			return;
		}
		if (at + 4 > end)
			return;
	}
}

int pages_lun_number(const uint8_t entry[8])
{
	switch (entry[0] >> 6) {
	case 0: /* peripheral: bus number, then the LUN */
		return entry[0] & 0x3f ? -1 : entry[1];
	case 1: /* flat */
		return (entry[0] & 0x3f) << 8 | entry[1];
	}
	return -1;
}

size_t pages_luns_bytes(const uint8_t *d, size_t n)
{
	return n < 8 ? 0 : (size_t)be_get32(d) + 8;
}
