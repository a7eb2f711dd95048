#ifndef COMMANDS_JOB_KEYS_H
#define COMMANDS_JOB_KEYS_H

#include <argp.h>
#include <stddef.h>

#include "workloads/options.h"

/* The job keys of options_table() as argp options: --iodepth=4 is the key
 * iodepth. Keys that mean nothing for a LUN are taken, but not shown. */

enum { JOB_KEYS_FIRST = 0x1000 }; /* argp key: this + index in the table */

struct job_keys {
	const struct option_desc *table; /* options_table() */
	size_t nr;
	struct argp_option *options; /* owned */
	char **docs;		     /* owned */
};

/* @others: a subcommand's own options win over a job key of that name. 0 or
 * -ENOMEM; the caller releases @k in both cases. */
int job_keys_init(struct job_keys *k, const struct argp_child *others);
void job_keys_release(struct job_keys *k);

/* The job key that argp's @key stands for, or NULL. */
const struct option_desc *job_keys_find(const struct job_keys *k, int key);

#endif
