#ifndef REPORT_BESIDE_H
#define REPORT_BESIDE_H

#include "report/put.h"

/*
 * What else was busy while a row was measured: this host's CPUs, the bundled
 * target, the disks below it. Read twice, as the row's window opened and after
 * its last I/O. What cannot be seen from here is absent, never 0.
 */

enum { BESIDE_DISKS = 24 };

struct beside_disk {
	char name[64];	    /* "sdb" */
	double busy, queue; /* see struct disk_share */
};

struct beside {
	bool has_host;
	unsigned int cpus;
	double used, steal; /* of all CPUs, 0..1 */

	bool has_target; /* ours, on this host; 1 is one core */
	size_t threads;
	double busiest, starved, all; /* see struct process_share */

	struct beside_disk disk[BESIDE_DISKS];
	size_t nr_disks;
	bool has_disks; /* these are all that there are; none: it is memory */
};

/* As "beside"; nothing where nothing could be seen, or @b is NULL. */
void beside_put(struct put *p, json_t *row, const struct beside *b);

#endif
