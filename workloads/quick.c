#include "workloads/quick.h"

#include <errno.h>

#include "workloads/plan.h"

enum { REPEATS = 3, ROUNDS = 5 };

static void cap(uint64_t *ns, uint64_t most_ns)
{
	if (*ns > most_ns)
		*ns = most_ns;
}

static void scale_job(struct job_opts *o)
{
	unsigned int most = o->until.kind == UNTIL_STEADY ? ROUNDS : REPEATS;

	/* Without a time limit it has one now: the amount may not be done. */
	if (!o->runtime_ns)
		o->runtime_ns = QUICK_RUNTIME_NS;
	cap(&o->runtime_ns, QUICK_RUNTIME_NS);
	cap(&o->ramp_ns, QUICK_RAMP_NS);
	o->startdelay_ns = 0;
	if (plan_repeats(o) > most)
		o->repeats = most;
}

int quick_scale(struct jobset *set, struct err *e)
{
	size_t i;

	for (i = 0; i < set->nr_jobs; i++)
		scale_job(&set->jobs[i]);
	set->is_quick = true;
	return jobset_warn(set,
			   "--quick: each measurement ends after a second, "
			   "done or not: it shows that everything works, and "
			   "is no measurement",
			   e);
}
