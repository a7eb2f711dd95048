#include "workloads/plan_fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "workloads/plan_adapt.h"
#include "workloads/plan_check.h"
#include "workloads/plan_region.h"

/* --- repeats --- */

/* Fewest passes that the rule can judge, and most that are made by default:
 * SNIA's rounds, and what a person waits for. */
static const struct {
	unsigned int min, most;
} passes_of[] = {
	[UNTIL_NONE] = {1, 1},
	[UNTIL_CI] = {3, 30},
	[UNTIL_STEADY] = {5, 25},
};

unsigned int plan_repeats(const struct job_opts *o)
{
	if (o->prepare)
		return 1;
	return o->repeats ? o->repeats : passes_of[o->until.kind].most;
}

static int check_repeats(const struct job_opts *o, struct err *e)
{
	unsigned int n = plan_repeats(o), min = passes_of[o->until.kind].min;

	if (n == 1 || o->until.kind == UNTIL_NONE)
		return 0;
	if (o->repeats_together)
		return err_set(e, -EINVAL,
			       "until looks at the repeats of all jobs and "
			       "needs repeat_order=interleaved");
	if (n < min)
		return err_set(e, -EINVAL,
			       "repeats=%u are too few for until: it cannot "
			       "judge less than %u",
			       n, min);
	return 0;
}

int plan_fit_until(struct plan *p, struct err *e)
{
	const struct job_opts *first = NULL, *o, *asks = NULL;
	char a[32], b[32];
	size_t i;

	for (i = 0; i < p->set->nr_jobs; i++) {
		o = &p->set->jobs[i];
		if (o->until.kind != UNTIL_NONE && !o->prepare)
			asks = o;
		if (plan_repeats(o) == 1 || o->repeats_together)
			continue;
		if (!first)
			first = o;
		until_format(&first->until, a, sizeof(a));
		until_format(&o->until, b, sizeof(b));
		if (strcmp(a, b) != 0)
			return err_set(e, -EINVAL,
				       "job \"%.80s\" is repeated until \"%s\" "
				       "and job \"%.80s\" until \"%s\"; the "
				       "passes are common to both: give the "
				       "same",
				       first->name, a, o->name, b);
	}
	if (first)
		p->until = first->until;
	else if (asks)
		return err_set(e, -EINVAL,
			       "job \"%.80s\": until without repeats: it has "
			       "repeats=1; give at least %u",
			       asks->name, passes_of[asks->until.kind].min);
	p->min_passes = passes_of[p->until.kind].min;
	return 0;
}

int plan_fit_side_by_side(const struct job_opts *first,
			  const struct job_opts *o, struct err *e)
{
	const struct job_opts *sweep = first->nr_steps ? first : o;

	if (first->nr_steps || o->nr_steps)
		return err_set(e, -EINVAL,
			       "jobs \"%.80s\" and \"%.80s\" run at the same "
			       "time, and \"%.80s\" goes through several "
			       "numbers of clients; put a stonewall between "
			       "them",
			       first->name, o->name, sweep->name);
	if (plan_repeats(first) != plan_repeats(o) ||
	    first->repeats_together != o->repeats_together)
		return err_set(e, -EINVAL,
			       "jobs \"%.80s\" and \"%.80s\" run at the same "
			       "time, but with %u and %u repeats or in another "
			       "repeat_order; give both the same, or put a "
			       "stonewall between them",
			       first->name, o->name, plan_repeats(first),
			       plan_repeats(o));
	return 0;
}

/* --- workspace --- */

static int check_workspace(const struct job_plan *j)
{
	const struct job_opts *o = j->o;

	if (o->size.set || o->filesize || o->offset.is_percent)
		return err_set(j->e, -EINVAL,
			       "workspace says how large the region is; leave "
			       "size, filesize and an offset in percent out");
	if (o->numjobs > 1)
		return err_set(j->e, -EINVAL,
			       "workspace is for clients, not for numjobs=%u "
			       "clones; give clients=N",
			       o->numjobs);
	return 0;
}

/* The same in all steps: the most clients decide. */
static int fit_workspace(const struct job_plan *j, struct job_opts *o)
{
	bool adapts = o->misfit == MISFIT_ADAPT;
	uint64_t whole = adapts ? plan_room(j) : lun_bytes(&j->p->lun);
	uint64_t asked = o->workspace_bytes, room, most, fits;
	char was[32], is[32];
	int ret = asked ? check_workspace(j) : 0;

	if (!asked || ret)
		return ret;
	room = o->offset.bytes < whole ? whole - o->offset.bytes : 0;
	most = room / o->clients;
	units_bytes(was, sizeof(was), asked);
	if (asked > most && !adapts)
		return err_set(j->e, -ENOSPC,
			       "workspace=%s for each of %u clients is more "
			       "than the LUN has (%" PRIu64 " bytes); give a "
			       "smaller one, fewer clients, or misfit=adapt",
			       was, o->clients, whole);
	fits = asked < most ? asked : most;
	o->workspace_bytes = fits / j->unit * j->unit;
	units_bytes(is, sizeof(is), o->workspace_bytes);
	if (!o->workspace_bytes)
		return err_set(j->e, -ENOSPC,
			       "there are only %s for each of %u clients, less "
			       "than one I/O of %s; there is room for %" PRIu64
			       ": give clients=N or a list with no more",
			       units_bytes(was, sizeof(was), fits), o->clients,
			       units_bytes(is, sizeof(is), j->unit),
			       room / j->unit);
	if (o->workspace_bytes == asked)
		return 0;
	return plan_add_note(j, "workspace=%s: %s for each of %u clients, %s%s",
			     was, is, o->clients, most < asked ? "since " : "",
			     most < asked ? plan_why_cut(j)
					  : "a multiple of the largest I/O");
}

/* --- one job --- */

static int check_job(struct job_plan *j, struct job_opts *o, uint64_t *from,
		     uint64_t *to)
{
	int ret = 0;

	j->o = o;
	if (o->misfit == MISFIT_ADAPT)
		ret = plan_adapt(j, o);
	if (!ret)
		ret = plan_check_job(o, &j->p->lun, j->e);
	j->unit = plan_largest_bs(o);
	if (!ret)
		ret = fit_workspace(j, o);
	if (!ret)
		ret = plan_check_regions(j, from, to);
	return ret;
}

/* @o as it is for the most clients and the first repeat -> all variants. */
static int add_variants(struct plan *p, struct plan_fit *f,
			const struct job_opts *o, struct err *e)
{
	bool has_later = o->repeats_together && plan_repeats(o) > 1;
	size_t i, n = f->nr_steps * (has_later ? 2 : 1);

	f->first = p->nr_opts;
	for (i = 0; i < n; i++) {
		struct job_opts *to = &p->opts[p->nr_opts];

		if (job_opts_copy(to, o))
			return err_set(e, -ENOMEM, "out of memory");
		p->nr_opts++;
		if (o->nr_steps)
			to->clients = o->steps[i % f->nr_steps];
		if (i >= f->nr_steps)
			to->ramp_ns = to->startdelay_ns = 0;
	}
	return 0;
}

const struct job_opts *plan_fit_opts(const struct plan_fit *f,
				     const struct plan *p, size_t step,
				     bool is_later)
{
	return &p->opts[f->first + step + (is_later ? f->nr_steps : 0)];
}

/* What the other jobs use, in whole I/Os where the LUN goes that far. */
static void cover(struct job_opts *o, const struct lun *lun, uint64_t from,
		  uint64_t to)
{
	uint64_t unit = plan_largest_bs(o), rest = (to - from) % unit;

	if (from >= to || o->size.set || o->offset.set || o->filesize ||
	    o->workspace_bytes)
		return;
	if (rest && unit - rest <= lun_bytes(lun) - to)
		to += unit - rest;
	o->offset = (struct amount){.set = true, .bytes = from};
	o->size = (struct amount){.set = true, .bytes = to - from};
}

static int fit_one(struct plan *p, size_t n, struct plan_fit *f, uint64_t *from,
		   uint64_t *to, struct err *e)
{
	struct err own = {0};
	struct job_plan j = {.p = p, .job = n, .e = e ? e : &own};
	struct job_opts o;
	int ret;

	if (job_opts_copy(&o, &p->set->jobs[n]))
		return err_set(e, -ENOMEM, "out of memory");
	j.o = &o;
	f->nr_steps = o.nr_steps ? o.nr_steps : 1;
	ret = check_repeats(&o, e);
	if (ret)
		goto out;
	if (o.prepare)
		cover(&o, &p->lun, *from, *to);
	ret = check_job(&j, &o, from, to);
	if (ret && ret != -ENOMEM && o.misfit == MISFIT_SKIP) {
		f->is_left_out = true;
		ret = plan_add_note(&j, "left out: %s", j.e->text);
	} else if (!ret) {
		ret = add_variants(p, f, &o, e);
	}
out:
	if (ret && e)
		err_prefix(e, "job \"%.80s\"", p->set->jobs[n].name);
	job_opts_release(&o);
	return ret;
}

int plan_fit_all(struct plan *p, struct plan_fit *fits, struct err *e)
{
	const struct jobset *set = p->set;
	uint64_t from = UINT64_MAX, to = 0;
	size_t n, nr = 0;
	int ret = 0;

	for (n = 0; n < set->nr_jobs; n++)
		nr += 2 * (set->jobs[n].nr_steps + 1);
	p->opts = calloc(nr, sizeof(*p->opts));
	if (!p->opts)
		return err_set(e, -ENOMEM, "out of memory");
	/* Those that make the LUN ready cover what the others use. */
	for (n = 0; !ret && n < set->nr_jobs; n++)
		if (!set->jobs[n].prepare)
			ret = fit_one(p, n, &fits[n], &from, &to, e);
	for (n = 0; !ret && n < set->nr_jobs; n++) {
		if (!set->jobs[n].prepare)
			continue;
		fits[n].is_left_out = set->no_prepare;
		if (!set->no_prepare)
			ret = fit_one(p, n, &fits[n], &from, &to, e);
	}
	return ret;
}
