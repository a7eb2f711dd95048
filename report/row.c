#include "report/row.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static bool job_is_open(const struct job_opts *o)
{
	size_t i;

	for (i = 0; i < OP_DATA_COUNT; i++)
		if ((o->ops & OP_BIT(i)) && (o->rate[i] || o->rate_iops[i]))
			return true;
	return false;
}

static void init_planned(struct row *r)
{
	const struct plan *plan = r->in->plan;
	const struct job_opts *o;
	size_t i;

	for (i = 0; i < plan->nr_clients; i++) {
		if (plan->clients[i].row != r->index)
			continue;
		o = &plan->set->jobs[plan->clients[i].job];
		r->nr_clients++;
		r->total_depth += o->iodepth;
		if (o->iodepth != r->job->iodepth)
			r->mixes_depths = true;
		if (job_is_open(o))
			r->is_open = true;
	}
}

static void init_measured(struct row *r)
{
	const struct row_result *rr = r->result;
	const struct meter *m = &rr->meter;
	uint64_t counted_errors = 0, outside = 0;
	size_t i;

	if (rr->window_end_ns > rr->window_start_ns)
		r->window_ns = rr->window_end_ns - rr->window_start_ns;
	for (i = 0; i < OP_COUNT; i++) {
		r->ios += m->op[i].ios;
		outside += m->op[i].outside_ios;
		counted_errors += m->op[i].errors;
	}
	for (i = 0; i < m->nr_errors; i++)
		r->errors += m->error[i].count;
	/* Kinds beyond ERROR_SAMPLES are in the counters alone. */
	if (r->errors < counted_errors)
		r->errors = counted_errors;
	r->all_ios = r->ios + outside + r->errors;
	for (i = 0; i < RETRY_CAUSES; i++)
		r->retries += m->retries[i];
	for (i = 0; i < rr->nr_clients; i++) {
		r->disconnects += rr->clients[i].disconnects;
		r->outage_ns += rr->clients[i].outage_ns;
	}
}

/* The groups run one after another: only the last that started can be. */
static bool is_cut_short(const struct row *r)
{
	const struct run_result *run = r->in->run;
	size_t next = r->plan->group + 1;

	return r->has_run && run->end != RUN_COMPLETE &&
	       (next >= run->nr_groups ||
		run->group_start_ns[next] == UINT64_MAX);
}

void row_init(struct row *r, const struct result_input *in, size_t index)
{
	static const struct row_result never_ran;
	const struct run_result *run = in->run;

	memset(r, 0, sizeof(*r));
	r->in = in;
	r->index = index;
	r->plan = &in->plan->rows[index];
	r->job = &in->plan->set->jobs[r->plan->job];
	r->result = index < run->nr_rows ? &run->rows[index] : &never_ran;
	r->has_run = r->result->nr_clients > 0;
	r->is_cut_short = is_cut_short(r);
	init_planned(r);
	init_measured(r);
}

double row_per_second(const struct row *r, uint64_t amount)
{
	if (!r->window_ns)
		return 0;
	return (double)amount * NS_PER_SEC / r->window_ns;
}

double row_mean_service_ns(const struct row *r)
{
	double sum_ns = 0, count = 0;
	size_t i;

	for (i = 0; i < OP_COUNT; i++) {
		const struct hist *h = r->result->meter.op[i].service;

		if (!h)
			continue;
		sum_ns += h->sum_ns;
		count += h->count;
	}
	return count ? sum_ns / count : 0;
}

bool row_littles_law(const struct row *r, struct littles_law *l)
{
	memset(l, 0, sizeof(*l));
	if (!r->window_ns || !r->ios || r->result->meter.outstanding_ns <= 0)
		return false;
	l->n_measured = r->result->meter.outstanding_ns / r->window_ns;
	l->x_hz = row_per_second(r, r->ios);
	l->r_ns = row_mean_service_ns(r);
	l->product = l->x_hz * l->r_ns / NS_PER_SEC;
	l->ratio = l->product / l->n_measured;
	return true;
}

static size_t client_job(const struct row *r, size_t i)
{
	const struct plan *plan = r->in->plan;
	size_t client = r->result->clients[i].client;

	return client < plan->nr_clients ? plan->clients[client].job : 0;
}

double row_fairness(const struct row *r)
{
	const struct row_result *rr = r->result;
	double lowest = 1, jain;
	uint64_t *ios;
	size_t job, i, n;

	if (rr->nr_clients < 2)
		return 1;
	ios = calloc(rr->nr_clients, sizeof(*ios));
	if (!ios)
		return 0; /* the document will fail, too */
	for (job = 0; job < r->in->plan->set->nr_jobs; job++) {
		for (n = 0, i = 0; i < rr->nr_clients; i++)
			if (client_job(r, i) == job)
				ios[n++] = rr->clients[i].ios;
		jain = meter_jain(ios, n);
		if (jain < lowest)
			lowest = jain;
	}
	free(ios);
	return lowest;
}

/* Workers are added up one after another: the first that is there need not be
 * the first that came. */
const struct error_sample *row_first_error(const struct row *r, int result)
{
	const struct meter *m = &r->result->meter;
	const struct error_sample *s, *first = NULL;

	for (s = m->error; s < m->error + m->nr_errors; s++)
		if ((!result || s->result == result) &&
		    (!first || s->at_ns < first->at_ns))
			first = s;
	return first;
}

struct intervals row_intervals(const struct row *r)
{
	const struct meter *m = &r->result->meter;
	struct intervals v = {0, 0};

	if (!m->interval_ns || !r->window_ns)
		return v;
	v.first = (r->result->window_start_ns + m->interval_ns - 1) /
		  m->interval_ns;
	v.end = r->result->window_end_ns / m->interval_ns;
	if (v.end > m->nr_series)
		v.end = m->nr_series;
	if (v.first > v.end)
		v.first = v.end;
	return v;
}
