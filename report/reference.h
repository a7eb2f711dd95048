#ifndef REPORT_REFERENCE_H
#define REPORT_REFERENCE_H

#include <stddef.h>

#include "base/err.h"

/* A published table: workloads/reference/NAME.csv, with the columns test,
 * protocol, volume, up, down. MB/s; up is write, down is read. Lines that begin
 * with # say where it is from. */

struct reference_line {
	char test[64], protocol[32], volume[64];
	double up_mb_s, down_mb_s;
};

struct reference {
	char *name;		      /* owned */
	struct reference_line *lines; /* owned */
	size_t nr_lines;
};

/* Errors name file and line. */
int reference_read(struct reference *r, const char *path, struct err *e);
void reference_release(struct reference *r);

#endif
