#ifndef REPORT_BASELINE_H
#define REPORT_BASELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What the verdict leans on where it was measured (`lunbench baseline`): the
 * same blocks, operation and depth with less and less of the way in it. One
 * JSON document, {"baseline": {...}}; its form is in docs/baseline.schema.json.
 */

enum baseline_what {
	BASELINE_SOCKETS, /* two sockets of this host, nothing else */
	BASELINE_NULL,	  /* the bundled target's null store */
	BASELINE_DEVICE,  /* what lies below the bundled target, without it */
	BASELINES
};

/* "sockets", "null LUN", "device" */
const char *baseline_name(enum baseline_what w);

struct baseline_row {
	bool is_measured;
	bool applies;	/* to the URL: its verdicts may lean on it */
	char of[256];	/* what was measured: "/dev/md100" */
	char note[256]; /* why it was not, or does not apply */
	double bytes_per_s, ios_per_s; /* a message is an I/O */
	double mean_ns;		       /* service time; 0: none is taken */
	double cpu_ns;		       /* lunbench's own, per I/O */
};

struct baseline {
	char url[512]; /* display form, no secrets */
	char rw[32];
	uint64_t block_bytes, iodepth;
	struct baseline_row row[BASELINES];
};

/* The document, or NULL without memory. */
json_t *baseline_build(const struct baseline *b, uint64_t start_wall_ns,
		       struct err *e);

/* -EINVAL: it is none, of another version, or no JSON. Any bytes are safe;
 * @name is for the sentence. */
int baseline_parse(struct baseline *b, const char *name, const char *text,
		   struct err *e);
int baseline_read(struct baseline *b, const char *path, struct err *e);

#endif
