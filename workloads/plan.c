#include "workloads/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "workloads/plan_check.h"
#include "workloads/plan_fit.h"
#include "workloads/plan_region.h"

enum { CLIENTS_MAX = 65536 };

static const uint64_t default_seed = 1;

/* Jobs that run at the same time, and how often. */
struct part {
	size_t first, nr; /* jobs; those left out are among them */
	size_t nr_steps;  /* 1: no sweep */
	unsigned int repeats;
	bool together;
};

struct layout {
	struct plan *p;
	const struct plan_fit *fits; /* one a job */
	struct part *parts;	     /* owned */
	size_t nr_parts;
	unsigned int groupid;
	struct err *e;
};

/* Which of its measurements a group is. */
struct turn {
	size_t part, step;
	unsigned int pass, repeat;
};

/* --- clients --- */

/* Named by place, not by count: a client more elsewhere changes nothing here.
 */
static uint64_t client_seed(const struct job_plan *j,
			    const struct plan_client *c, unsigned int repeat)
{
	uint64_t seed = j->o->randseed_set ? j->o->randseed : j->p->seed;

	if (repeat > 1) /* far from the numbers of jobs */
		seed = rng_derive(seed, UINT64_MAX - repeat);
	seed = rng_derive(seed, j->job);
	seed = rng_derive(seed, c->clone);
	return rng_derive(seed, c->number);
}

static int add_clone(const struct job_plan *j, const struct turn *t,
		     unsigned int clone, size_t row, size_t group)
{
	struct plan *p = j->p;
	unsigned int i, n = j->o->clients;
	uint64_t offset, length, slice;
	int ret = plan_clone_region(j, clone, &offset, &length);

	if (!ret)
		ret = plan_slice(j, clone, length, &slice);
	for (i = 0; !ret && i < n; i++) {
		struct plan_client *c = &p->clients[p->nr_clients];

		*c = (struct plan_client){.opts = j->o,
					  .job = j->job,
					  .row = row,
					  .group = group,
					  .clone = clone,
					  .number = i,
					  .offset_bytes = offset + slice * i,
					  .length_bytes = slice};
		ret = plan_set_amounts(j, length, c);
		c->seed = client_seed(j, c, t->repeat);
		p->nr_clients++;
	}
	if (ret)
		return ret;
	p->rows[row].nr_clients += n;
	p->groups[group].nr_clients += n;
	return 0;
}

/* --- rows and groups --- */

static unsigned int ops_of(const struct job_opts *o)
{
	unsigned int ops = o->ops;

	if ((ops & OP_BIT(OP_WRITE)) &&
	    (o->fsync || o->fdatasync || o->end_fsync))
		ops |= OP_BIT(OP_FLUSH);
	return ops;
}

/* As fio counts (stat.c): a clone opens a row unless it asks for group
 * reporting and the clone before is of the same reporting group. */
static int add_row(const struct layout *l, const struct job_plan *j,
		   const struct turn *t)
{
	struct plan *p = j->p;
	struct plan_row *row = &p->rows[p->nr_rows];

	if (p->nr_rows && j->o->group_reporting &&
	    row[-1].groupid == l->groupid) {
		bool is_new_job = p->clients[p->nr_clients - 1].job != j->job;

		row[-1].ops |= ops_of(j->o);
		if (!is_new_job)
			return 0;
		return plan_add_note(j,
				     "group_reporting puts it into the row of "
				     "\"%.80s\"; new_group gives it a row of "
				     "its own",
				     row[-1].name);
	}
	*row = (struct plan_row){.name = strdup(j->o->name),
				 .groupid = l->groupid,
				 .group = p->nr_groups - 1,
				 .job = j->job,
				 .first_client = p->nr_clients,
				 .ops = ops_of(j->o),
				 .repeat = t->repeat,
				 .view = view_name(j->o->view)};
	if (!row->name)
		return err_set(j->e, -ENOMEM, "out of memory");
	if (l->parts[t->part].nr_steps > 1)
		row->clients = j->o->clients * j->o->numjobs;
	p->nr_rows++;
	return 0;
}

static void expect_time(struct plan_group *g, const struct job_opts *o)
{
	uint64_t ns = o->runtime_ns;

	if (!ns) {
		g->expected_ns = UINT64_MAX;
	} else if (__builtin_add_overflow(ns, o->ramp_ns, &ns) ||
		   __builtin_add_overflow(ns, o->startdelay_ns, &ns)) {
		ns = UINT64_MAX;
	}
	if (g->expected_ns != UINT64_MAX && ns > g->expected_ns)
		g->expected_ns = ns;
	if (!o->time_based)
		g->may_end_early = true;
}

static int note_traps(const struct job_plan *j)
{
	const struct job_opts *o = j->o;
	const struct lun *l = &j->p->lun;
	uint64_t granularity =
		(uint64_t)l->unmap_granularity_blocks * l->block_bytes;
	char text[32];
	int ret = 0;

	if (o->numjobs > 1 && !o->is_random && !o->offset_increment.set)
		ret = plan_add_note(
			j,
			"its %u clones go over the same region; "
			"offset_increment or clients=N keeps them apart",
			o->numjobs);
	if (!ret && plan_has_holes(o) && !o->io_size.set && !o->time_based)
		ret = plan_add_note(
			j,
			"ends when it is through its region: %" PRIi64
			" bytes are left out after each I/O",
			o->step_bytes);
	if (!ret && o->time_based && o->number_ios)
		ret = plan_add_note(j, "number_ios is ignored with time_based");
	if (!ret && (o->ops & OP_BIT(OP_TRIM)) &&
	    plan_smallest_bs(o, OP_TRIM) < granularity)
		ret = plan_add_note(
			j,
			"trims smaller than %s, the LUN's unmap "
			"granularity, may free nothing",
			units_bytes(text, sizeof(text), granularity));
	return ret;
}

/* What a client transfers until it ends by itself. */
static uint64_t amount_of(const struct plan_client *c)
{
	double ios = (double)c->number_ios * plan_mean_bytes(c->opts);

	if (c->number_ios == UINT64_MAX || ios >= (double)c->io_bytes)
		return c->io_bytes;
	return (uint64_t)ios;
}

static void sum_amounts(struct plan *p, struct plan_group *g)
{
	size_t i;

	for (i = g->first_client; i < p->nr_clients; i++)
		g->amount_bytes =
			plan_add(g->amount_bytes, amount_of(&p->clients[i]));
}

/* Lays out one measurement of job @n: the clones of a job stand side by side.
 */
static int add_job(struct layout *l, size_t n, const struct turn *t)
{
	const struct part *part = &l->parts[t->part];
	const struct plan_fit *f = &l->fits[n];
	struct plan *p = l->p;
	struct job_plan j = {.p = p, .job = n, .e = l->e};
	unsigned int clone;
	int ret = 0;

	j.o = plan_fit_opts(f, p, t->step, part->together && t->repeat > 1);
	j.unit = plan_largest_bs(j.o);
	j.is_quiet = t->repeat > 1 || t->step + 1 < part->nr_steps;
	expect_time(&p->groups[p->nr_groups - 1], j.o);
	p->writes |= (j.o->ops & (OP_BIT(OP_WRITE) | OP_BIT(OP_TRIM))) != 0;
	for (clone = 0; !ret && clone < j.o->numjobs; clone++) {
		ret = add_row(l, &j, t);
		if (!ret)
			ret = add_clone(&j, t, clone, p->nr_rows - 1,
					p->nr_groups - 1);
	}
	if (!ret)
		ret = note_traps(&j);
	if (ret && l->e)
		err_prefix(l->e, "job \"%.80s\"", j.o->name);
	return ret;
}

/* As fio counts: a stonewall and new_group start a new reporting group. */
static int add_group(struct layout *l, const struct turn *t)
{
	const struct part *part = &l->parts[t->part];
	struct plan *p = l->p;
	bool is_first = true;
	size_t n;
	int ret = 0;

	if (p->nr_groups)
		l->groupid++;
	p->groups[p->nr_groups++] =
		(struct plan_group){.first_client = p->nr_clients,
				    .part = t->part,
				    .pass = t->pass};
	for (n = part->first; !ret && n < part->first + part->nr; n++) {
		if (l->fits[n].is_left_out)
			continue;
		if (!is_first && p->set->jobs[n].new_group)
			l->groupid++;
		is_first = false;
		ret = add_job(l, n, t);
	}
	sum_amounts(p, &p->groups[p->nr_groups - 1]);
	return ret;
}

static int add_part(struct layout *l, size_t part, unsigned int pass)
{
	const struct part *b = &l->parts[part];
	struct turn t = {.part = part, .pass = pass};
	unsigned int last = b->together ? b->repeats : pass;
	int ret = 0;

	if (b->together ? pass > 1 : pass > b->repeats)
		return 0;
	for (t.step = 0; !ret && t.step < b->nr_steps; t.step++)
		for (t.repeat = pass; !ret && t.repeat <= last; t.repeat++)
			ret = add_group(l, &t);
	return ret;
}

/* --- parts --- */

/* A job that is left out takes its stonewall with it, but not the parting that
 * the stonewall made. */
static int find_parts(struct layout *l)
{
	const struct jobset *set = l->p->set;
	struct part *part = NULL;
	bool is_parted = true;
	size_t n;
	int ret = 0;

	l->parts = calloc(set->nr_jobs, sizeof(*l->parts));
	if (!l->parts)
		return err_set(l->e, -ENOMEM, "out of memory");
	for (n = 0; !ret && n < set->nr_jobs; n++) {
		const struct job_opts *o = &set->jobs[n];

		is_parted |= o->stonewall;
		if (l->fits[n].is_left_out)
			continue;
		if (is_parted) {
			part = &l->parts[l->nr_parts++];
			*part = (struct part){
				.first = n,
				.nr_steps = o->nr_steps ? o->nr_steps : 1,
				.repeats = plan_repeats(o),
				.together = o->repeats_together,
			};
			is_parted = false;
		} else {
			ret = plan_fit_side_by_side(&set->jobs[part->first], o,
						    l->e);
		}
		part->nr = n + 1 - part->first;
	}
	if (!ret && !l->nr_parts)
		ret = set->no_prepare && !l->p->nr_notes
			      ? err_set(l->e, -EINVAL,
					"all jobs only prepare, and are left "
					"out by --no-prepare")
			      : err_set(l->e, -ENOSPC,
					"no job fits the LUN: %s; all are left "
					"out (misfit=skip)",
					l->p->nr_notes ? l->p->notes[0] : "");
	return ret;
}

static int set_passes(struct layout *l)
{
	struct plan *p = l->p;
	size_t i;

	p->nr_parts = l->nr_parts;
	p->nr_passes = 1;
	for (i = 0; i < l->nr_parts; i++)
		if (!l->parts[i].together && l->parts[i].repeats > p->nr_passes)
			p->nr_passes = l->parts[i].repeats;
	return plan_fit_until(p, l->e);
}

/* Most of each that there can be: nothing moves while the plan grows. */
static int reserve(struct layout *l)
{
	uint64_t clients = 0, clones = 0, groups = 0, times;
	struct plan *p = l->p;
	size_t i, n, s;

	for (i = 0; i < l->nr_parts; i++) {
		const struct part *part = &l->parts[i];

		times = part->repeats;
		groups += times * part->nr_steps;
		for (n = part->first; n < part->first + part->nr; n++) {
			const struct job_opts *o = &p->set->jobs[n];

			clones += times * part->nr_steps * o->numjobs;
			for (s = 0; s < part->nr_steps; s++)
				clients += times * o->numjobs *
					   (o->nr_steps ? o->steps[s]
							: o->clients);
			if (clients > CLIENTS_MAX)
				return err_set(l->e, -EINVAL,
					       "the jobs need more than %d "
					       "sessions in all; reduce "
					       "numjobs, clients or repeats",
					       CLIENTS_MAX);
		}
	}
	p->clients = calloc(clients, sizeof(*p->clients));
	p->rows = calloc(clones, sizeof(*p->rows));
	p->groups = calloc(groups, sizeof(*p->groups));
	if (!p->clients || !p->rows || !p->groups)
		return err_set(l->e, -ENOMEM, "out of memory");
	return 0;
}

/* --- the whole --- */

static uint64_t choose_seed(const struct jobset *set, uint64_t seed)
{
	size_t i;

	if (seed)
		return seed;
	for (i = 0; i < set->nr_jobs; i++)
		if (!set->jobs[i].randseed_set ||
		    set->jobs[i].randseed != set->jobs[0].randseed)
			return default_seed;
	return set->jobs[0].randseed;
}

static int lay_out(struct layout *l)
{
	unsigned int pass;
	size_t i;
	int ret = find_parts(l);

	if (!ret)
		ret = set_passes(l);
	if (!ret)
		ret = reserve(l);
	for (pass = 1; !ret && pass <= l->p->nr_passes; pass++)
		for (i = 0; !ret && i < l->nr_parts; i++)
			ret = add_part(l, i, pass);
	free(l->parts);
	return ret;
}

int plan_build(struct plan *p, const struct jobset *set, const struct lun *lun,
	       uint64_t seed, struct err *e)
{
	struct layout l = {.p = p, .e = e};
	struct plan_fit *fits;
	int ret;

	*p = (struct plan){.set = set, .lun = *lun};
	if (!set->nr_jobs)
		return err_set(e, -EINVAL, "there is no job to run");
	if (!lun->blocks || !lun->block_bytes)
		return err_set(e, -ENOSPC,
			       "the LUN has no blocks (size 0); is it "
			       "configured?");
	p->seed = choose_seed(set, seed);
	l.fits = fits = calloc(set->nr_jobs, sizeof(*fits));
	ret = fits ? plan_fit_all(p, fits, e)
		   : err_set(e, -ENOMEM, "out of memory");
	if (!ret)
		ret = lay_out(&l);
	free(fits);
	if (ret)
		plan_release(p);
	return ret;
}

/* Groups, rows and clients are in the order of the passes. */
void plan_end_early(struct plan *p, unsigned int passes, bool reached)
{
	const struct plan_client *last;

	p->until_reached = reached;
	while (p->nr_groups && p->groups[p->nr_groups - 1].pass > passes)
		p->nr_clients = p->groups[--p->nr_groups].first_client;
	last = p->nr_clients ? &p->clients[p->nr_clients - 1] : NULL;
	while (p->nr_rows && (!last || p->nr_rows - 1 > last->row))
		free(p->rows[--p->nr_rows].name);
	p->nr_passes = passes;
}

void plan_release(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_rows; i++)
		free(p->rows[i].name);
	for (i = 0; i < p->nr_notes; i++)
		free(p->notes[i]);
	for (i = 0; i < p->nr_opts; i++)
		job_opts_release(&p->opts[i]);
	free(p->opts);
	free(p->clients);
	free(p->rows);
	free(p->groups);
	free(p->notes);
	memset(p, 0, sizeof(*p));
}
