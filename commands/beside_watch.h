#ifndef COMMANDS_BESIDE_WATCH_H
#define COMMANDS_BESIDE_WATCH_H

#include "base/usage.h"
#include "initiator/run.h"
#include "report/beside.h"
#include "target/tgt.h"

/*
 * Watches what is beside the load (report/beside.h): as a row's window opens
 * and after its last I/O, and never between. Reads /proc and /sys alone.
 */
struct beside_watch {
	int pid; /* of the target's tgtd; 0: none of ours on this host */
	char disk[BESIDE_DISKS][128]; /* devices */
	size_t nr_disks;
	bool has_disks;		       /* all that there are */
	struct beside_sample *samples; /* owned; in order of time */
	size_t nr_samples;
	size_t *opened, *ended; /* owned; of each row: a sample, or SIZE_MAX */
	size_t nr_rows;
};

/* @target: the bundled one that is measured, on this host; NULL: none of ours.
 * A URL of the block transport names its disk itself. Without memory nothing
 * is watched. */
void beside_watch_attach(struct beside_watch *w, size_t nr_rows,
			 const struct tgt_status *target, struct run_opts *o);

/* What was seen beside @row. */
void beside_watch_result(const struct beside_watch *w, size_t row,
			 struct beside *b);

/* Takes a zeroed one, too. */
void beside_watch_release(struct beside_watch *w);

#endif
