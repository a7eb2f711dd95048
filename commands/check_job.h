#ifndef COMMANDS_CHECK_JOB_H
#define COMMANDS_CHECK_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/lun.h"

/*
 * The jobs of `lunbench check`, as the text of a job file: the engine runs
 * them as it runs any other. All sizes are in bytes and fit @lun.
 */
struct check_shape {
	uint64_t offset_bytes, size_bytes; /* multiples of the block */
	uint32_t block_bytes;
	uint32_t largest_bytes; /* of an I/O; size_bytes is a multiple of it */
	unsigned int clients, iodepth;
	uint64_t runtime_ns; /* of the load */
};

/* Picks largest_bytes and cuts @size_bytes (0: to the end of the LUN, but at
 * most @most_bytes) to whole blocks of it. False: nothing is left. */
bool check_shape_fit(struct check_shape *s, const struct lun *lun,
		     uint64_t size_bytes, uint64_t most_bytes);

/* A few blocks written and read back: does the LUN keep anything at all? */
void check_job_try(const struct check_shape *s, char *text, size_t size);
/* Fill, load, read back. */
void check_job_load(const struct check_shape *s, char *text, size_t size);
/* Read back alone. */
void check_job_read(const struct check_shape *s, char *text, size_t size);

#endif
