#include "workloads/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "workloads/pace.h"
#include "workloads/plan_check.h"

enum { CLIENTS_MAX = 65536 };

static const uint64_t default_seed = 1;

/* Everything a job's clients need from the steps before. */
struct job_plan {
	struct plan *p;
	size_t job;
	const struct job_opts *o;
	uint64_t unit; /* largest block size: regions are multiples of it */
	struct err *e;
};

static int add_note(const struct job_plan *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int add_note(const struct job_plan *j, const char *fmt, ...)
{
	struct plan *p = j->p;
	char text[400], *note;
	char **grown;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grown = reallocarray(p->notes, p->nr_notes + 1, sizeof(*grown));
	if (!grown)
		return err_set(j->e, -ENOMEM, "out of memory");
	p->notes = grown;
	if (asprintf(&note, "%.80s: %s", j->o->name, text) < 0)
		return err_set(j->e, -ENOMEM, "out of memory");
	grown[p->nr_notes++] = note;
	return 0;
}

static uint64_t percent_of(uint64_t bytes, double percent)
{
	return (uint64_t)((long double)bytes * (long double)percent / 100);
}

/* a * b, or UINT64_MAX - 1 where that is too small for it: an amount must not
 * become "without end" (UINT64_MAX) by accident. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t n;

	return __builtin_mul_overflow(a, b, &n) || n == UINT64_MAX
		       ? UINT64_MAX - 1
		       : n;
}

/* --- regions --- */

/* As fio takes a device with a filesize: only that much of it is there. */
static uint64_t extent_bytes(const struct job_plan *j)
{
	return j->o->filesize ? j->o->filesize : lun_bytes(&j->p->lun);
}

static const char *extent_name(const struct job_plan *j)
{
	return j->o->filesize ? "filesize" : "the LUN";
}

/* An offset: bytes are multiples of the LUN's block (checked before), percents
 * are rounded down to whole I/Os. */
static uint64_t resolve_offset(const struct job_plan *j, const struct amount *a)
{
	uint64_t n;

	if (!a->is_percent)
		return a->bytes;
	n = percent_of(extent_bytes(j), a->percent);
	return n - n % j->unit;
}

static int clone_offset(const struct job_plan *j, unsigned int clone,
			uint64_t *offset)
{
	uint64_t size = extent_bytes(j), step;

	if (__builtin_mul_overflow(resolve_offset(j, &j->o->offset_increment),
				   (uint64_t)clone, &step) ||
	    __builtin_add_overflow(resolve_offset(j, &j->o->offset), step,
				   offset))
		*offset = UINT64_MAX;
	if (*offset < size)
		return 0;
	if (clone)
		return err_set(j->e, -ENOSPC,
			       "clone %u of numjobs=%u starts past the end of "
			       "%s (%" PRIu64 " bytes); reduce "
			       "offset_increment or numjobs",
			       clone, j->o->numjobs, extent_name(j), size);
	return err_set(j->e, -ENOSPC,
		       "offset=%" PRIu64 " is past the end of %s "
		       "(%" PRIu64 " bytes)",
		       *offset, extent_name(j), size);
}

static int clone_length(const struct job_plan *j, unsigned int clone,
			uint64_t offset, uint64_t *length)
{
	const struct amount *a = &j->o->size;
	uint64_t whole = extent_bytes(j), left = whole - offset;

	/* Next to a filesize, size is an amount: see clone_amount(). */
	if (!a->set || j->o->filesize) {
		*length = left;
		return 0;
	}
	if (!a->is_percent) {
		*length = a->bytes;
		if (*length <= left)
			return 0;
		if (offset)
			return err_set(j->e, -ENOSPC,
				       "size=%" PRIu64 " at offset %" PRIu64
				       " ends past the end of the LUN "
				       "(%" PRIu64 " bytes); at most %" PRIu64
				       " are left there",
				       a->bytes, offset, whole, left);
		return err_set(j->e, -ENOSPC,
			       "size=%" PRIu64 " is more than the LUN has "
			       "(%" PRIu64 " bytes)",
			       a->bytes, whole);
	}
	*length = percent_of(whole, a->percent);
	if (*length <= left)
		return 0;
	*length = left;
	return clone ? 0
		     : add_note(j,
				"size=%g%% reaches past the end of the LUN; "
				"cut off there",
				a->percent);
}

static int clone_region(const struct job_plan *j, unsigned int clone,
			uint64_t *offset, uint64_t *length)
{
	char bs[32], text[32];
	uint64_t rest;
	int ret = clone_offset(j, clone, offset);

	if (!ret)
		ret = clone_length(j, clone, *offset, length);
	if (ret)
		return ret;
	rest = *length % j->unit;
	if (*length < j->unit)
		return err_set(j->e, -ENOSPC,
			       "its region of %s is smaller than one I/O of "
			       "%s; give a larger size or a smaller bs",
			       units_bytes(text, sizeof(text), *length),
			       units_bytes(bs, sizeof(bs), j->unit));
	*length -= rest;
	if (rest && j->o->size.set && !clone)
		return add_note(j,
				"size rounded down to %" PRIu64
				" bytes, a multiple of %s",
				*length, units_bytes(bs, sizeof(bs), j->unit));
	return 0;
}

/* --- clients --- */

/* The bytes that one way through @length takes where rw=read:N leaves N bytes
 * out after each I/O; exact for one direction and one size. In a mix the
 * direction that is sooner at the end ends it, as in fio. */
static uint64_t one_way_bytes(const struct job_opts *o, uint64_t length)
{
	double share[OP_DATA_COUNT] = {1, 1, 1}, ios = 0, mean = 0, n;
	uint64_t step = o->step_bytes, bs, places, last, room;
	int op;

	if ((o->ops & (o->ops - 1)) != 0) {
		share[OP_READ] = o->rwmixread / 100.0;
		share[OP_WRITE] = 1 - share[OP_READ];
	}
	for (op = 0; op < OP_DATA_COUNT; op++) {
		if (!(o->ops & OP_BIT(op)) || share[op] <= 0)
			continue;
		bs = pace_mean_bytes(o, op);
		places = (length + step + bs - 1) / (bs + step);
		if (share[op] >= 1 && !o->nr_bssplit[op]) {
			last = (places - 1) * (bs + step);
			room = length - last;
			return (places - 1) * bs + (bs < room ? bs : room);
		}
		n = places / share[op];
		ios = ios && ios < n ? ios : n;
		mean += share[op] * bs;
	}
	return ios * mean;
}

static bool has_holes(const struct job_opts *o)
{
	return !o->is_random && o->step_bytes > 0;
}

/* What io_size, or next to a filesize size, asks of each client; else each goes
 * over its slice once, and what rounding left between the slices is nobody's.
 */
static uint64_t client_amount(const struct job_plan *j, uint64_t length,
			      uint64_t slice)
{
	const struct job_opts *o = j->o;
	uint64_t size = length;

	if (o->filesize && o->size.set)
		size = o->size.is_percent
			       ? percent_of(extent_bytes(j), o->size.percent)
			       : o->size.bytes;
	if (o->io_size.set && o->io_size.is_percent)
		return percent_of(size, o->io_size.percent) / o->clients;
	if (o->io_size.set)
		return o->io_size.bytes / o->clients;
	if (size < length)
		slice = size / o->clients;
	return has_holes(o) && slice ? one_way_bytes(o, slice) : slice;
}

static int set_amounts(const struct job_plan *j, uint64_t length,
		       struct plan_client *c)
{
	const struct job_opts *o = j->o;

	c->io_bytes = UINT64_MAX;
	c->number_ios = UINT64_MAX;
	if (o->time_based)
		return 0;
	c->io_bytes = client_amount(j, length, c->length_bytes);
	if (c->io_bytes < j->p->lun.block_bytes)
		return err_set(j->e, -EINVAL,
			       "%s leaves %" PRIu64 " bytes for each of its %u "
			       "clients, less than one block of %u bytes; give "
			       "more",
			       o->io_size.set ? "io_size" : "size", c->io_bytes,
			       o->clients, j->p->lun.block_bytes);
	c->io_bytes = multiply(c->io_bytes, o->loops);
	if (!o->number_ios)
		return 0;
	if (o->number_ios < o->clients)
		return err_set(j->e, -EINVAL,
			       "number_ios=%" PRIu64
			       " is less than one I/O for each of its %u "
			       "clients",
			       o->number_ios, o->clients);
	c->number_ios = o->number_ios / o->clients +
			(c->number < o->number_ios % o->clients);
	c->number_ios = multiply(c->number_ios, o->loops);
	return 0;
}

/* Named by place, not by count: a client more elsewhere changes nothing here.
 */
static uint64_t client_seed(const struct job_plan *j,
			    const struct plan_client *c)
{
	uint64_t seed = j->o->randseed_set ? j->o->randseed : j->p->seed;

	seed = rng_derive(seed, j->job);
	seed = rng_derive(seed, c->clone);
	return rng_derive(seed, c->number);
}

static int add_clone(const struct job_plan *j, unsigned int clone, size_t row,
		     size_t group)
{
	struct plan *p = j->p;
	unsigned int i, n = j->o->clients;
	uint64_t offset, length, slice;
	char bs[32], text[32];
	int ret = clone_region(j, clone, &offset, &length);

	if (ret)
		return ret;
	slice = length / n / j->unit * j->unit;
	if (!slice)
		return err_set(j->e, -ENOSPC,
			       "its region of %s is too small for clients=%u "
			       "with I/Os of %s; give a larger size or fewer "
			       "clients",
			       units_bytes(text, sizeof(text), length), n,
			       units_bytes(bs, sizeof(bs), j->unit));
	if (slice * n != length && !clone)
		ret = add_note(j,
			       "the last %" PRIu64
			       " bytes are left out: %u equal slices of %s",
			       length - slice * n, n,
			       units_bytes(text, sizeof(text), slice));
	for (i = 0; !ret && i < n; i++) {
		struct plan_client *c = &p->clients[p->nr_clients];

		*c = (struct plan_client){.job = j->job,
					  .row = row,
					  .group = group,
					  .clone = clone,
					  .number = i,
					  .offset_bytes = offset + slice * i,
					  .length_bytes = slice};
		ret = set_amounts(j, length, c);
		c->seed = client_seed(j, c);
		p->nr_clients++;
	}
	p->rows[row].nr_clients += n;
	p->groups[group].nr_clients += n;
	return ret;
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
static int add_row(const struct job_plan *j, size_t group, unsigned int groupid)
{
	struct plan *p = j->p;
	struct plan_row *row = &p->rows[p->nr_rows];

	if (p->nr_rows && j->o->group_reporting && row[-1].groupid == groupid) {
		bool is_new_job = p->clients[p->nr_clients - 1].job != j->job;

		row[-1].ops |= ops_of(j->o);
		if (!is_new_job)
			return 0;
		return add_note(j,
				"group_reporting puts it into the row of "
				"\"%.80s\"; new_group gives it a row of its "
				"own",
				row[-1].name);
	}
	row->name = strdup(j->o->name);
	if (!row->name)
		return err_set(j->e, -ENOMEM, "out of memory");
	row->groupid = groupid;
	row->group = group;
	row->job = j->job;
	row->first_client = p->nr_clients;
	row->ops = ops_of(j->o);
	p->nr_rows++;
	return 0;
}

static void add_group(struct plan *p)
{
	p->groups[p->nr_groups++] =
		(struct plan_group){.first_client = p->nr_clients};
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
		ret = add_note(j,
			       "its %u clones go over the same region; "
			       "offset_increment or clients=N keeps them apart",
			       o->numjobs);
	if (!ret && has_holes(o) && !o->io_size.set && !o->time_based)
		ret = add_note(j,
			       "ends when it is through its region: %" PRIi64
			       " bytes are left out after each I/O",
			       o->step_bytes);
	if (!ret && o->time_based && o->number_ios)
		ret = add_note(j, "number_ios is ignored with time_based");
	if (!ret && (o->ops & OP_BIT(OP_TRIM)) &&
	    plan_smallest_bs(o, OP_TRIM) < granularity)
		ret = add_note(j,
			       "trims smaller than %s, the LUN's unmap "
			       "granularity, may free nothing",
			       units_bytes(text, sizeof(text), granularity));
	return ret;
}

/* Lays out job @n: the clones of a job stand side by side. */
static int add_job(struct plan *p, size_t n, unsigned int *groupid,
		   struct err *e)
{
	const struct job_opts *o = &p->set->jobs[n];
	struct job_plan j = {.p = p, .job = n, .o = o, .e = e};
	unsigned int clone;
	int ret = plan_check_job(o, &p->lun, e);

	if (ret)
		return ret;
	j.unit = plan_largest_bs(o);
	if (n && (o->stonewall || o->new_group))
		++*groupid;
	if (!n || o->stonewall)
		add_group(p);
	expect_time(&p->groups[p->nr_groups - 1], o);
	p->writes |= (o->ops & (OP_BIT(OP_WRITE) | OP_BIT(OP_TRIM))) != 0;
	for (clone = 0; !ret && clone < o->numjobs; clone++) {
		ret = add_row(&j, p->nr_groups - 1, *groupid);
		if (!ret)
			ret = add_clone(&j, clone, p->nr_rows - 1,
					p->nr_groups - 1);
	}
	return ret ? ret : note_traps(&j);
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

/* Most of each that there can be: nothing moves while the plan grows. */
static int reserve(struct plan *p, struct err *e)
{
	uint64_t clients = 0, clones = 0;
	size_t i;

	for (i = 0; i < p->set->nr_jobs; i++) {
		const struct job_opts *o = &p->set->jobs[i];

		clones += o->numjobs;
		clients += (uint64_t)o->numjobs * o->clients;
		if (clients > CLIENTS_MAX)
			return err_set(e, -EINVAL,
				       "the jobs need more than %d sessions; "
				       "reduce numjobs or clients",
				       CLIENTS_MAX);
	}
	p->clients = calloc(clients, sizeof(*p->clients));
	p->rows = calloc(clones, sizeof(*p->rows));
	p->groups = calloc(p->set->nr_jobs, sizeof(*p->groups));
	if (!p->clients || !p->rows || !p->groups)
		return err_set(e, -ENOMEM, "out of memory");
	return 0;
}

int plan_build(struct plan *p, const struct jobset *set, const struct lun *lun,
	       uint64_t seed, struct err *e)
{
	unsigned int groupid = 0;
	size_t i;
	int ret;

	*p = (struct plan){.set = set, .lun = *lun};
	if (!set->nr_jobs)
		return err_set(e, -EINVAL, "there is no job to run");
	if (!lun->blocks || !lun->block_bytes)
		return err_set(e, -ENOSPC,
			       "the LUN has no blocks (size 0); is it "
			       "configured?");
	p->seed = choose_seed(set, seed);
	ret = reserve(p, e);
	for (i = 0; !ret && i < set->nr_jobs; i++) {
		ret = add_job(p, i, &groupid, e);
		if (ret && e)
			err_prefix(e, "job \"%.80s\"", set->jobs[i].name);
	}
	if (ret)
		plan_release(p);
	return ret;
}

void plan_release(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_rows; i++)
		free(p->rows[i].name);
	for (i = 0; i < p->nr_notes; i++)
		free(p->notes[i]);
	free(p->clients);
	free(p->rows);
	free(p->groups);
	free(p->notes);
	memset(p, 0, sizeof(*p));
}
