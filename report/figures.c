#include "report/figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a figure --- */

static int compare_numbers(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

void spread_of(struct spread *s, double x[], size_t n, bool more_is_better)
{
	struct summary sum;

	*s = (struct spread){.n = n};
	if (!n)
		return;
	qsort(x, n, sizeof(*x), compare_numbers);
	stats_summarize(x, n, &sum);
	s->best = x[more_is_better ? n - 1 : 0];
	s->mean = sum.mean;
	s->median = (x[(n - 1) / 2] + x[n / 2]) / 2;
	s->sd = sum.sd;
	s->half = n > 1 ? sum.half : 0;
}

/* --- all of them --- */

static struct figure *find(struct figures *f, const struct point *p)
{
	size_t i;

	/* The latest first: repeats that follow each other are found at once.
	 */
	for (i = f->nr; i-- > 0;)
		if (point_is_repeat_of(f->list[i].point, p))
			return &f->list[i];
	return NULL;
}

static void fill(struct figure *f, const struct set *s, double *scratch)
{
	const struct point *p;
	size_t n;
	int m;

	for (m = 0; m < METRICS; m++) {
		n = 0;
		for (p = f->point; p < s->points + s->nr_points; p++)
			if (point_is_repeat_of(p, f->point) &&
			    metric_value(p, m, &scratch[n]))
				n++;
		spread_of(&f->spread[m], scratch, n, metrics[m].more_is_better);
	}
}

int figures_of(struct figures *f, const struct set *s, struct err *e)
{
	double *scratch = calloc(s->nr_points + 1, sizeof(*scratch));
	struct figure *one;
	size_t i;

	memset(f, 0, sizeof(*f));
	f->list = calloc(s->nr_points + 1, sizeof(*f->list));
	if (!scratch || !f->list) {
		free(scratch);
		figures_release(f);
		return err_set(e, -ENOMEM, "no memory for the figures");
	}
	for (i = 0; i < s->nr_points; i++) {
		one = find(f, &s->points[i]);
		if (!one) {
			one = &f->list[f->nr++];
			one->point = &s->points[i];
		}
		one->nr_points++;
	}
	for (i = 0; i < f->nr; i++)
		fill(&f->list[i], s, scratch);
	free(scratch);
	return 0;
}

void figures_release(struct figures *f)
{
	free(f->list);
	memset(f, 0, sizeof(*f));
}

bool figures_have_repeats(const struct figures *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		if (f->list[i].nr_points > 1)
			return true;
	return false;
}

/* --- the document --- */

static void put_spread(struct put *p, json_t *o, const char *key,
		       const struct spread *s)
{
	json_t *one;

	if (!s->n) {
		put_value(p, o, key, json_null());
		return;
	}
	one = put_object(p, o, key);
	put_real(p, one, "best", s->best);
	put_real(p, one, "mean", s->mean);
	put_real(p, one, "median", s->median);
	put_real(p, one, "sd", s->sd);
	if (s->n > 1)
		put_real(p, one, "ci95", s->half);
	else
		put_value(p, one, "ci95", json_null());
}

void figures_put(struct put *p, json_t *summary, const struct figures *f)
{
	static const char *const keys[METRICS] = {
		[METRIC_MB_S] = "mb_s",
		[METRIC_IOPS] = "iops",
		[METRIC_MEAN] = "mean_ns",
		[METRIC_P99] = "p99_ns",
	};
	const struct figure *one;
	json_t *o;
	int m;

	for (one = f->list; one < f->list + f->nr; one++) {
		if (one->nr_points < 2)
			continue;
		o = put_object(p, summary, NULL);
		put_text(p, o, "name", one->point->name);
		if (one->point->step)
			put_int(p, o, "step_clients", one->point->step);
		put_text(p, o, "op", op_name(one->point->op));
		put_int(p, o, "n", one->spread[METRIC_IOPS].n);
		for (m = 0; m < METRICS; m++)
			put_spread(p, o, keys[m], &one->spread[m]);
	}
}
