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

static char *copy_text(const char *from, bool *failed)
{
	return copy_of(from, from ? strlen(from) + 1 : 0, failed);
}

static char **copy_texts(char *const *from, size_t nr, bool *failed)
{
	char **to = nr ? calloc(nr, sizeof(*to)) : NULL;
	size_t i;

	if (nr && !to)
		*failed = true;
	for (i = 0; to && i < nr; i++)
		to[i] = copy_text(from[i], failed);
	return to;
}

int job_opts_copy(struct job_opts *to, const struct job_opts *from)
{
	const struct distribution *d = &from->distribution;
	bool failed = false;
	int op;

	*to = *from;
	to->name = copy_text(from->name, &failed);
	to->description = copy_text(from->description, &failed);
	to->steps = copy_of(from->steps, from->nr_steps * sizeof(*from->steps),
			    &failed);
	to->departs = copy_texts(from->departs, from->nr_departs, &failed);
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
	size_t i;
	int op;

	free(o->name);
	free(o->description);
	free(o->steps);
	for (i = 0; o->departs && i < o->nr_departs; i++)
		free(o->departs[i]);
	free(o->departs);
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
