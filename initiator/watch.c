#include "initiator/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_limit(const struct plan_group *g)
{
	return g->expected_ns != UINT64_MAX;
}

static void expect(struct watch *p, const struct plan_group *g)
{
	if (has_limit(g))
		p->next_ns += g->expected_ns;
	else
		p->next_bytes += g->amount_bytes;
}

int watch_init(struct watch *p, const struct plan *plan,
	       unsigned int nr_workers, struct err *e)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	p->plan = plan;
	p->before = calloc(nr_workers, sizeof(*p->before));
	p->now = calloc(nr_workers, sizeof(*p->now));
	if (!p->before || !p->now) {
		watch_release(p);
		return err_set(e, -ENOMEM, "no memory for the progress");
	}
	for (i = 0; i < plan->nr_groups; i++)
		expect(p, &plan->groups[i]);
	return 0;
}

void watch_release(struct watch *p)
{
	free(p->before);
	free(p->now);
	memset(p, 0, sizeof(*p));
}

static void name_row(struct watch *p, const struct plan_row *row)
{
	char clients[32] = "", repeat[32] = "";

	if (row && row->clients)
		snprintf(clients, sizeof(clients), ", %u clients",
			 row->clients);
	if (row && row->repeat > 1)
		snprintf(repeat, sizeof(repeat), ", repeat %u", row->repeat);
	snprintf(p->name, sizeof(p->name), "%.80s%s%s", row ? row->name : "",
		 clients, repeat);
}

void watch_begin(struct watch *p, size_t group, unsigned int nr_workers)
{
	const struct plan_group *g = &p->plan->groups[group];
	size_t i;

	p->group_ns = 0;
	if (has_limit(g))
		p->next_ns -= g->expected_ns;
	else
		p->next_bytes -= g->amount_bytes;
	p->nr_workers = nr_workers;
	memset(p->before, 0, nr_workers * sizeof(*p->before));
	memset(&p->shown, 0, sizeof(p->shown));
	p->shown.group = group;
	p->shown.nr_groups = p->plan->nr_groups;
	p->shown.row_name = p->name;
	p->shown.left_is_most = p->plan->until.kind != UNTIL_NONE &&
				g->pass < p->plan->nr_passes;
	for (i = 0; i < p->plan->nr_rows; i++)
		if (p->plan->rows[i].group == group)
			break;
	name_row(p, i < p->plan->nr_rows ? &p->plan->rows[i] : NULL);
}

static uint64_t live_bytes(const struct watch *p, const struct worker *workers)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < p->nr_workers; i++)
		bytes += workers ? workers[i].live.bytes : p->now[i].live.bytes;
	return bytes;
}

void watch_end(struct watch *p, const struct worker *workers)
{
	if (has_limit(&p->plan->groups[p->shown.group]))
		return;
	p->past_ns += p->group_ns;
	p->past_bytes += live_bytes(p, workers);
}

/* Before any row's ramp is over, it is "ramp" for the person who looks. */
static uint64_t shortest_ramp_ns(const struct plan *plan, size_t group)
{
	const struct plan_group *g = &plan->groups[group];
	const struct job_opts *o;
	uint64_t ns = UINT64_MAX;
	size_t i;

	for (i = g->first_client; i < g->first_client + g->nr_clients; i++) {
		o = plan->clients[i].opts;
		if (o->startdelay_ns + o->ramp_ns < ns)
			ns = o->startdelay_ns + o->ramp_ns;
	}
	return ns;
}

static const char *phase_name(const struct watch *p, uint64_t start_ns)
{
	bool is_draining = true;
	uint64_t now_ns = 0;
	unsigned int i;

	if (!start_ns)
		return "connecting";
	for (i = 0; i < p->nr_workers; i++) {
		is_draining &= p->now[i].is_draining;
		if (p->now[i].at_ns > now_ns)
			now_ns = p->now[i].at_ns;
	}
	if (is_draining)
		return "draining";
	if (now_ns < start_ns + shortest_ramp_ns(p->plan, p->shown.group))
		return "ramp";
	return "running";
}

/* Rates since the last call; in a new group, since its start. */
static void make_rates(struct watch *p, uint64_t start_ns)
{
	struct run_progress *s = &p->shown;
	double bytes_per_s = 0, ios_per_s = 0, seconds;
	const struct worker_view *now, *before;
	uint64_t before_ns;
	struct live sum = {0};
	bool is_new = false;
	unsigned int i;

	s->sessions_up = s->sessions_down = 0;
	s->errors = 0;
	for (i = 0; i < p->nr_workers; i++) {
		now = &p->now[i];
		before = &p->before[i];
		s->sessions_up += now->sessions_up;
		s->sessions_down += now->sessions_down;
		s->errors += now->live.errors;
		before_ns = before->at_ns ? before->at_ns : start_ns;
		if (!before_ns || now->at_ns <= before_ns)
			continue;
		is_new = true;
		seconds = (now->at_ns - before_ns) / 1e9;
		ios_per_s += (now->live.ios - before->live.ios) / seconds;
		bytes_per_s += (now->live.bytes - before->live.bytes) / seconds;
		live_add_delta(&sum, &now->live, &before->live);
	}
	memcpy(p->before, p->now, p->nr_workers * sizeof(*p->now));
	if (!is_new)
		return;
	s->ios_per_s = ios_per_s;
	s->bytes_per_s = bytes_per_s;
	s->mean_service_ns = sum.ios ? (double)sum.service_sum_ns / sum.ios : 0;
	s->p99_service_ns = live_percentile_ns(&sum, 99);
}

/* Groups with a time limit take that; what the others transfer goes on at the
 * rate that there was. */
static void make_fraction(struct watch *p)
{
	const struct plan_group *g = &p->plan->groups[p->shown.group];
	double left_ns = p->next_ns, left_bytes = p->next_bytes;
	double ns = p->past_ns, bytes = p->past_bytes, moved, elapsed_ns;
	struct run_progress *s = &p->shown;

	s->fraction = -1;
	s->left_ns = UINT64_MAX;
	if (has_limit(g)) {
		if (g->expected_ns > p->group_ns)
			left_ns += g->expected_ns - p->group_ns;
	} else {
		moved = live_bytes(p, NULL);
		ns += p->group_ns;
		bytes += moved;
		if (g->amount_bytes > moved)
			left_bytes += g->amount_bytes - moved;
	}
	/* A rate of too little is a guess. */
	if (left_bytes > 0 && bytes < 0.01 * left_bytes)
		return;
	if (left_bytes > 0)
		left_ns += left_bytes * ns / bytes;
	elapsed_ns = s->elapsed_ns;
	if (elapsed_ns + left_ns <= 0 || left_ns >= 1e18)
		return;
	s->fraction = elapsed_ns / (elapsed_ns + left_ns);
	s->left_ns = (uint64_t)left_ns;
}

const struct run_progress *watch_make(struct watch *p, struct group_run *g,
				      const struct worker *workers,
				      uint64_t elapsed_ns)
{
	uint64_t start_ns = atomic_load(&g->start_ns);
	unsigned int i;

	pthread_mutex_lock(&g->lock);
	for (i = 0; i < p->nr_workers; i++)
		p->now[i] = workers[i].view;
	pthread_mutex_unlock(&g->lock);

	p->shown.elapsed_ns = elapsed_ns;
	if (start_ns && elapsed_ns > start_ns - g->origin_ns)
		p->group_ns = elapsed_ns - (start_ns - g->origin_ns);
	p->shown.phase = phase_name(p, start_ns);
	make_rates(p, start_ns);
	make_fraction(p);
	return &p->shown;
}
