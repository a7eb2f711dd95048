#ifndef TARGET_DISK_H
#define TARGET_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/journal.h"
#include "target/state.h"

/*
 * The members of an array:
 *
 *	/dev/sdb,/dev/sdc	block devices that the user gives
 *	4x1G			image files of ours, behind loop devices
 *	4x256M@hdd		RAM disks (null_blk) that behave like a model
 *
 * Journal, each before the step: "null-blk NAME", "loop IMAGE" (and "image
 * IMAGE", which store_remove() removes), "member PATH" once it is there.
 */
enum { DISKS_MAX = 24 };

struct disk {
	char path[128]; /* /dev/... */
	uint64_t size_bytes;
	bool is_given; /* the user's: never removed */
	bool is_zero;  /* reads as zeros from end to end */
};

struct disks {
	struct disk disk[DISKS_MAX];
	size_t nr;
};

/* How a RAM disk answers. A fixed time for each request, whatever its place:
 * docs/METHOD.md says what that leaves out. */
struct disk_model {
	const char *name, *summary;
	unsigned int service_ns; /* 0: at once */
	unsigned int rate_mb;	 /* 10^6 bytes a second; 0: as fast as RAM */
	unsigned int requests;	 /* served at a time */
};

/* Ends with a NULL name. */
const struct disk_model *disk_models(void);

/* Of all members together; 0 where @spec names devices, or is none. */
uint64_t disks_bytes(const char *spec);

/* How many members @spec names and how large each is (UINT64_MAX: devices, at
 * which this does not look). -EINVAL for what nobody could make. */
int disks_parse(const char *spec, size_t *nr, uint64_t *size_bytes,
		struct err *e);

/* Makes or opens what @spec names, but only the first @most of it. Refused
 * before anything is made: given devices that given_check() does not let pass,
 * more than memory or the disk has room for (-ENOMEM, -ENOSPC). */
int disks_prepare(struct disks *d, const char *spec, size_t most,
		  bool overwrite, const struct state *s, struct journal *j,
		  uint64_t end_ns, struct err *e);

/* Asks the device for its size. */
int disk_measure(struct disk *d, struct err *e);

/* Undoes it, as the journal tells. The arrays over them are gone. */
int disks_remove(const struct journal_text *t, struct err *e);

#endif
