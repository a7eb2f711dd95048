#include "report/curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/bins.h"
#include "report/text.h"

/* What is a curve without a job that says so. */
enum { LOADS_LEAST = 3 };

/* One row. */
struct sample {
	const struct point *point; /* its first */
	unsigned int clients;
	struct load load;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "no memory for the sweeps");
}

/* --- rows --- */

static bool is_same_row(const struct point *a, const struct point *b)
{
	return a->file == b->file && a->row_index == b->row_index;
}

/* Its ops together; the mean latency is each I/O's. */
static void add_up(struct load *l, const struct point *p)
{
	const json_t *ops = json_object_get(p->row, "ops"), *op;
	double ios = 0, sum_ns = 0, n;
	const char *key;

	json_object_foreach((json_t *)ops, key, op)
	{
		n = number_of(op, "ios");
		l->mb_s += number_of(op, "bytes_per_s") / 1e6;
		l->iops += number_of(op, "ios_per_s");
		sum_ns += n *
			  number_of(json_object_get(op, "latency"), "mean_ns");
		ios += n;
	}
	l->mean_ns = ios > 0 ? sum_ns / ios : 0;
}

static void add_facts(struct load *l, const struct point *p)
{
	const json_t *cpu = json_object_get(p->row, "cpu");

	l->fairness = number_of(json_object_get(p->row, "fairness"), "jain");
	l->littles_law =
		number_of(json_object_get(p->row, "littles_law"), "ratio");
	l->has_cpu = json_is_object(cpu);
	l->cpu_ns = number_of(cpu, "user_ns_per_io") +
		    number_of(cpu, "system_ns_per_io");
}

/* Of all I/Os of the row, by their histograms. */
static int add_p99(struct load *l, const struct set *s, const struct point *p,
		   struct err *e)
{
	const struct point *end = s->points + s->nr_points, *op;
	struct bins b = {0};
	int err = 0;

	for (op = p; op < end && is_same_row(op, p) && !err; op++)
		err = bins_add(&b, op, e);
	l->p99_ns = (double)bins_percentile_ns(&b, 99);
	bins_release(&b);
	return err;
}

static unsigned int clients_of(const struct point *p)
{
	json_int_t n = int_of(json_object_get(p->row, "fairness"), "clients");

	return p->step ? p->step : n > 0 ? (unsigned int)n : 0;
}

static int make_samples(struct sample *samples, size_t *nr, const struct set *s,
			bool steps_only, struct err *e)
{
	const struct point *p;
	struct sample *one;
	int err = 0;

	for (p = s->points; p && p < s->points + s->nr_points && !err; p++) {
		if ((p > s->points && is_same_row(p, p - 1)) ||
		    (steps_only && !p->step))
			continue;
		one = &samples[*nr];
		*one = (struct sample){.point = p, .clients = clients_of(p)};
		add_up(&one->load, p);
		if (!(one->load.iops > 0)) /* it never ran */
			continue;
		add_facts(&one->load, p);
		err = add_p99(&one->load, s, p, e);
		(*nr)++;
	}
	return err;
}

/* --- curves --- */

static bool is_of(const struct point *p, const struct point *first)
{
	return !strcmp(p->array, first->array) &&
	       !strcmp(p->test, first->test) && !p->step == !first->step &&
	       (!p->step ||
		(p->nth == first->nth && !strcmp(p->name, first->name)));
}

static void name_curve(struct curve *c, const struct set *s)
{
	const struct point *p = c->point;
	bool arrays = *p->array && set_has_arrays(s);
	const char *job = p->step ? p->name : *p->test ? p->test : p->name;
	char text[512];

	snprintf(text, sizeof(text), "%.200s%s%.200s", arrays ? p->array : "",
		 arrays ? " " : "", job);
	text_clean(c->label, sizeof(c->label), text);
}

static void average(struct load *l, const struct load *one, double n)
{
	l->mb_s += (one->mb_s - l->mb_s) / n;
	l->iops += (one->iops - l->iops) / n;
	l->mean_ns += (one->mean_ns - l->mean_ns) / n;
	l->p99_ns += (one->p99_ns - l->p99_ns) / n;
	l->fairness += (one->fairness - l->fairness) / n;
	l->cpu_ns += (one->cpu_ns - l->cpu_ns) / n;
	l->has_cpu = one->has_cpu;
	l->littles_law += (one->littles_law - l->littles_law) / n;
}

static void make_loads(struct curve *c, const struct sample *samples, size_t nr)
{
	const struct sample *x;
	double n;
	size_t i;

	for (i = 0; i < c->sweep.nr_points; i++) {
		n = 0;
		for (x = samples; x < samples + nr; x++)
			if (is_of(x->point, c->point) &&
			    x->clients == c->sweep.points[i].clients)
				average(&c->loads[i], &x->load, ++n);
	}
}

/* Of the samples from @first on. -ENODATA: they are no sweep. */
static int make_curve(struct curve *c, const struct set *s,
		      const struct sample *samples, size_t nr,
		      struct sweep_sample *scratch, struct err *e)
{
	const struct sample *x;
	size_t n = 0;
	int err;

	*c = (struct curve){.point = samples->point};
	for (x = samples; x < samples + nr; x++)
		if (is_of(x->point, c->point))
			scratch[n++] = (struct sweep_sample){
				x->clients, x->load.mb_s, x->load.mean_ns};
	err = sweep_analyze(&c->sweep, scratch, n, e);
	if (err)
		return err;
	if (!c->point->step && c->sweep.nr_points < LOADS_LEAST)
		return -ENODATA;
	c->loads = calloc(c->sweep.nr_points + 1, sizeof(*c->loads));
	if (!c->loads)
		return no_memory(e);
	make_loads(c, samples, nr);
	name_curve(c, s);
	return 0;
}

static void release_curve(struct curve *c)
{
	sweep_release(&c->sweep);
	free(c->loads);
	*c = (struct curve){0};
}

static bool is_new(const struct sample *samples, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_of(samples[i].point, samples[k].point))
			return false;
	return true;
}

int curves_of(struct curves *c, const struct set *s, bool steps_only,
	      struct err *e)
{
	size_t most = s->nr_points + 1, nr = 0, i;
	struct sample *samples = calloc(most, sizeof(*samples));
	struct sweep_sample *scratch = calloc(most, sizeof(*scratch));
	int err = 0;

	*c = (struct curves){.list = calloc(most, sizeof(*c->list))};
	if (!samples || !scratch || !c->list)
		err = no_memory(e);
	else
		err = make_samples(samples, &nr, s, steps_only, e);
	for (i = 0; i < nr && !err; i++) {
		if (!is_new(samples, i))
			continue;
		err = make_curve(&c->list[c->nr], s, &samples[i], nr - i,
				 scratch, e);
		if (!err)
			c->nr++;
		else
			release_curve(&c->list[c->nr]);
		if (err == -ENODATA)
			err = 0;
	}
	free(samples);
	free(scratch);
	if (err)
		curves_release(c);
	return err;
}

void curves_release(struct curves *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		release_curve(&c->list[i]);
	free(c->list);
	*c = (struct curves){0};
}
