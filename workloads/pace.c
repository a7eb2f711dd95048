#include "workloads/pace.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

double pace_cost_ns(const struct job_opts *o, enum io_op op, double length)
{
	if (op == OP_FLUSH)
		return 0;
	if (o->rate[op])
		return length * ((double)NS_PER_SEC / o->rate[op]);
	return o->rate_iops[op] ? (double)NS_PER_SEC / o->rate_iops[op] : 0;
}

double pace_mean_bytes(const struct job_opts *o, enum io_op op)
{
	double bytes = 0, percent = 0;
	size_t i;

	if (!o->nr_bssplit[op])
		return o->bs[op];
	for (i = 0; i < o->nr_bssplit[op]; i++) {
		const struct bs_share *s = &o->bssplit[op][i];

		bytes += s->percent * s->bytes;
		percent += s->percent;
	}
	return bytes / percent;
}

void pace_init(struct pace *p, const struct job_opts *o, double share,
	       uint64_t seed, uint64_t start_ns)
{
	double hz[OP_DATA_COUNT] = {0}, total_hz = 0;
	unsigned int op;

	memset(p, 0, sizeof(*p));
	p->opts = o;
	p->start_ns = start_ns;
	p->scale = 1 / share;
	rng_init(&p->rng, seed);
	for (op = 0; op < OP_DATA_COUNT; op++) {
		double cost = pace_cost_ns(o, op, pace_mean_bytes(o, op));

		if (!(o->ops & OP_BIT(op)) || cost <= 0)
			continue;
		p->is_open_loop = true;
		hz[op] = NS_PER_SEC / cost;
		total_hz += hz[op];
	}
	for (op = 0; op < OP_DATA_COUNT; op++)
		p->part[op] = total_hz > 0 ? hz[op] / total_hz : 0;
}

static unsigned int think_after(const struct job_opts *o)
{
	return o->thinktime_blocks ? o->thinktime_blocks : 1;
}

bool pace_must_wait(const struct pace *p)
{
	return p->opts->thinktime_ns && p->started >= think_after(p->opts);
}

/* When the schedule wants @r; its place in the schedule is then taken. */
static uint64_t scheduled_ns(struct pace *p, const struct request *r)
{
	bool by_bytes = p->opts->rate[r->op] != 0;
	double since_start;

	if (p->opts->rate_process == RATE_POISSON) {
		double cost = pace_cost_ns(p->opts, r->op, r->length_bytes);

		p->clock_ns += -log(1 - rng_double(&p->rng)) * cost * p->scale *
			       p->part[r->op];
		since_start = p->clock_ns;
	} else {
		/* From the count, not by adding up: no drift. */
		since_start = p->units[r->op] * p->scale *
			      pace_cost_ns(p->opts, r->op, 1);
		p->units[r->op] += by_bytes ? r->length_bytes : 1;
	}
	return p->start_ns + (uint64_t)(since_start + 0.5);
}

uint64_t pace_next(struct pace *p, const struct request *r, uint64_t free_ns)
{
	uint64_t due_ns = free_ns;

	if (r->op == OP_FLUSH)
		return free_ns;
	p->started++;
	if (p->part[r->op] > 0)
		due_ns = scheduled_ns(p, r);
	return due_ns > p->hold_until_ns ? due_ns : p->hold_until_ns;
}

void pace_completed(struct pace *p, const struct request *r, uint64_t now_ns)
{
	unsigned int n = think_after(p->opts);

	if (!p->opts->thinktime_ns || r->op == OP_FLUSH)
		return;
	if (++p->completed < n)
		return;
	p->hold_until_ns = now_ns + p->opts->thinktime_ns;
	p->completed = 0;
	p->started -= n;
}
