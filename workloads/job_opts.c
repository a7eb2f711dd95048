#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/options.h"

void job_opts_init(struct job_opts *o)
{
	static const double percentiles[] = {1,	 5,    10,   20,    30,	  40,
					     50, 60,   70,   80,    90,	  95,
					     99, 99.5, 99.9, 99.95, 99.99};
	int op;

	*o = (struct job_opts){
		.ops = OP_BIT(OP_READ),
		.sequence = 1,
		.iodepth = 1,
		.numjobs = 1,
		.clients = 1,
		.loops = 1,
		.rwmixread = 50,
		.distribution = {.kind = DIST_RANDOM, .center = -1},
		.randrepeat = true,
		.thinktime_blocks = 1,
		.kb_base = 1024,
	};
	for (op = 0; op < OP_DATA_COUNT; op++) {
		o->bs[op] = 4096;
		o->percentage_random[op] = 100;
	}
	memcpy(o->percentiles, percentiles, sizeof(percentiles));
	o->nr_percentiles = sizeof(percentiles) / sizeof(percentiles[0]);
}

static void *copy_of(const void *from, size_t size, bool *failed)
{
	void *to;

	if (!from || !size)
		return NULL;
	to = malloc(size);
	if (to)
		memcpy(to, from, size);
	else
		*failed = true;
	return to;
}

int job_opts_copy(struct job_opts *to, const struct job_opts *from)
{
	const struct distribution *d = &from->distribution;
	bool failed = false;
	int op;

	*to = *from;
	to->name = copy_of(from->name, from->name ? strlen(from->name) + 1 : 0,
			   &failed);
	to->description = copy_of(
		from->description,
		from->description ? strlen(from->description) + 1 : 0, &failed);
	for (op = 0; op < OP_DATA_COUNT; op++)
		to->bssplit[op] =
			copy_of(from->bssplit[op],
				from->nr_bssplit[op] * sizeof(struct bs_share),
				&failed);
	to->distribution.zones =
		copy_of(d->zones, d->nr_zones * sizeof(struct zone), &failed);
	if (!failed)
		return 0;
	job_opts_release(to);
	return -ENOMEM;
}

void job_opts_release(struct job_opts *o)
{
	int op;

	free(o->name);
	free(o->description);
	for (op = 0; op < OP_DATA_COUNT; op++)
		free(o->bssplit[op]);
	free(o->distribution.zones);
	memset(o, 0, sizeof(*o));
}

const char *op_name(enum io_op op)
{
	static const char *const names[OP_COUNT] = {"read", "write", "trim",
						    "flush"};

	return names[op];
}
