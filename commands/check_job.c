#include "commands/check_job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST_BYTES = 256 << 10, HOT_BYTES_MAX = 64 << 20 };

bool check_shape_fit(struct check_shape *s, const struct lun *lun,
		     uint64_t size_bytes, uint64_t most_bytes)
{
	uint64_t all = lun_bytes(lun), left, largest = LARGEST_BYTES;
	uint32_t block = lun->block_bytes;

	s->block_bytes = block;
	if (s->offset_bytes % block || s->offset_bytes >= all)
		return false;
	left = all - s->offset_bytes;
	if (!size_bytes)
		size_bytes = left < most_bytes ? left : most_bytes;
	if (size_bytes > left)
		return false;
	if (lun->max_transfer_blocks &&
	    (uint64_t)lun->max_transfer_blocks * block < largest)
		largest = (uint64_t)lun->max_transfer_blocks * block;
	/* So that small LUNs have room for several. */
	if (largest > size_bytes / 16)
		largest = size_bytes / 16;
	largest -= largest % block;
	if (!largest)
		largest = block;
	s->largest_bytes = largest;
	s->size_bytes = size_bytes - size_bytes % largest;
	return s->size_bytes >= 16 * largest;
}

static size_t add(char *text, size_t at, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t at, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text + at, size - at, fmt, ap);
	va_end(ap);
	return at + n;
}

static size_t add_region(const struct check_shape *s, char *text, size_t at,
			 size_t size)
{
	return add(text, at, size, "offset=%" PRIu64 "\nsize=%" PRIu64 "\n",
		   s->offset_bytes, s->size_bytes);
}

/* Sizes that do not fit each other: I/Os begin and end inside others. */
static size_t add_sizes(const struct check_shape *s, char *text, size_t at,
			size_t size)
{
	static const struct {
		unsigned int blocks, percent;
	} shares[] = {{1, 25}, {3, 15}, {8, 25}, {21, 15}, {64, 15}};
	uint64_t bytes;
	size_t i;

	at = add(text, at, size, "blockalign=%u\nbssplit=", s->block_bytes);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		bytes = (uint64_t)shares[i].blocks * s->block_bytes;
		if (bytes < s->largest_bytes)
			at = add(text, at, size, "%" PRIu64 "/%u:", bytes,
				 shares[i].percent);
	}
	return add(text, at, size, "%u/\n", s->largest_bytes);
}

static size_t add_mixed(const struct check_shape *s, char *text, size_t at,
			size_t size)
{
	at = add(text, at, size,
		 "rw=randrw\nrwmixread=50\nnorandommap\nfsync=64\n"
		 "iodepth=%u\ntime_based\nruntime=%" PRIu64 "ns\n"
		 "group_reporting\n",
		 s->iodepth, s->runtime_ns);
	return add_sizes(s, text, at, size);
}

static size_t add_read(const struct check_shape *s, char *text, size_t at,
		       size_t size)
{
	at = add(text, at, size,
		 "[read_back]\nstonewall\nrw=read\nbs=%u\niodepth=8\n",
		 s->largest_bytes);
	return add_region(s, text, at, size);
}

static size_t begin(char *text, size_t size)
{
	return add(text, 0, size,
		   "[global]\ncontinue_on_error=all\nrandrepeat=0\n");
}

void check_job_try(const struct check_shape *s, char *text, size_t size)
{
	size_t at = begin(text, size);

	at = add(text, at, size, "[try]\nrw=write\nbs=%u\niodepth=4\n",
		 s->largest_bytes);
	at = add(text, at, size, "offset=%" PRIu64 "\nsize=%u\n",
		 s->offset_bytes, 4 * s->largest_bytes);
	at = add(text, at, size,
		 "[try_back]\nstonewall\nrw=read\nbs=%u\niodepth=4\n",
		 s->largest_bytes);
	add(text, at, size, "offset=%" PRIu64 "\nsize=%u\n", s->offset_bytes,
	    4 * s->largest_bytes);
}

void check_job_load(const struct check_shape *s, char *text, size_t size)
{
	unsigned int together = s->clients / 2, apart = s->clients - together;
	uint64_t slices = s->size_bytes / s->largest_bytes;
	uint64_t hot = s->size_bytes / 8;
	size_t at = begin(text, size);

	if (hot > HOT_BYTES_MAX)
		hot = HOT_BYTES_MAX;
	hot -= hot % s->largest_bytes;
	if (apart > slices)
		apart = slices;
	at = add(text, at, size,
		 "[fill]\nrw=write\nbs=%u\niodepth=8\nend_fsync=1\n",
		 s->largest_bytes);
	at = add_region(s, text, at, size);
	at = add(text, at, size, "[apart]\nstonewall\nclients=%u\n", apart);
	at = add_mixed(s, text, at, size);
	at = add_region(s, text, at, size);
	if (together) {
		at = add(text, at, size,
			 "[together]\nnew_group\nnumjobs=%u\noffset=%" PRIu64
			 "\nsize=%" PRIu64 "\n",
			 together,
			 s->offset_bytes + s->size_bytes / 2 /
						   s->largest_bytes *
						   s->largest_bytes,
			 hot);
		at = add_mixed(s, text, at, size);
	}
	add_read(s, text, at, size);
}

void check_job_read(const struct check_shape *s, char *text, size_t size)
{
	add_read(s, text, begin(text, size), size);
}
