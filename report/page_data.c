#include "report/page_data.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/bins.h"
#include "report/put.h"
#include "report/samples.h"
#include "report/text.h"

enum { EVENTS_MOST = 100, SWEEP_STEPS_LEAST = 3 };

/* --- points --- */

/* From 29 % on, twice as the rest is halved, down to the last sample: the
 * smallest would flatten all the others on a log axis. */
static void put_curve(struct put *p, json_t *o, const struct bins *b)
{
	json_t *curve = put_array(p, o, "curve"), *pair;
	double x;

	for (x = M_SQRT2; b->nr && x <= 2 * (double)b->total; x *= M_SQRT2) {
		pair = put_array(p, curve, NULL);
		put_real(p, pair, NULL, x);
		put_int(p, pair, NULL, bins_percentile_ns(b, 100 - 100 / x));
	}
}

static void put_metric(struct put *p, json_t *o, const struct point *pt,
		       const char *key, enum metric m)
{
	double value;

	if (metric_value(pt, m, &value))
		put_real(p, o, key, value);
	else
		put_value(p, o, key, json_null());
}

static int put_point(struct put *p, json_t *points, const struct set *s,
		     const struct point *pt, struct err *e)
{
	json_t *o = put_object(p, points, NULL);
	char label[256];
	struct bins b;
	int err;

	put_text(p, o, "label", point_title(s, pt, label, sizeof(label)));
	put_text(p, o, "row", point_row_title(s, pt, label, sizeof(label)));
	put_text(p, o, "op", op_name(pt->op));
	put_metric(p, o, pt, "mb_s", METRIC_MB_S);
	put_metric(p, o, pt, "iops", METRIC_IOPS);
	put_metric(p, o, pt, "mean_ns", METRIC_MEAN);
	put_metric(p, o, pt, "p99_ns", METRIC_P99);
	err = bins_read(&b, pt, e);
	if (!err)
		put_curve(p, o, &b);
	bins_release(&b);
	return err;
}

/* --- series and events --- */

static double group_start_s(const struct point *pt)
{
	const json_t *run = json_object_get(
		json_object_get(pt->file->doc, "lunbench"), "run");
	json_int_t group = int_of(pt->row, "group");
	const json_t *g = json_array_get(json_object_get(run, "groups"),
					 group < 0 ? 0 : (size_t)group);

	return number_of(g, "start_ns") / 1e9;
}

static void put_series(struct put *p, json_t *all, const struct set *s,
		       const struct point *pt)
{
	const json_t *series = json_object_get(pt->row, "series");
	const json_t *bytes = json_object_get(
		json_object_get(series, op_name(pt->op)), "bytes");
	double interval_s = number_of(series, "interval_ns") / 1e9;
	json_t *o, *values;
	char label[256];
	size_t i;

	if (pt->op == OP_FLUSH || !(interval_s > 0))
		return;
	o = put_object(p, all, NULL);
	put_text(p, o, "label", point_title(s, pt, label, sizeof(label)));
	put_real(p, o, "start_s", group_start_s(pt));
	put_real(p, o, "interval_s", interval_s);
	values = put_array(p, o, "mb_s");
	for (i = 0; i < json_array_size(bytes); i++)
		put_real(p, values, NULL,
			 json_number_value(json_array_get(bytes, i)) / 1e6 /
				 interval_s);
}

static void put_events(struct put *p, json_t *all, const struct result_file *f)
{
	const json_t *events =
		json_object_get(json_object_get(f->doc, "lunbench"), "events");
	size_t i;
	json_t *o;

	for (i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);

		if (!strcmp(text_of(event, "kind"), "phase") ||
		    json_array_size(all) >= EVENTS_MOST)
			continue;
		o = put_object(p, all, NULL);
		put_real(p, o, "at_s", number_of(event, "at_ns") / 1e9);
		put_text(p, o, "text", text_of(event, "text"));
	}
}

/* --- sweeps --- */

struct row_sum {
	json_int_t clients;
	double mb_s, iops, mean_ns;
};

/* A row's ops together; the mean latency is each I/O's. */
static struct row_sum sum_row(const struct point *pt)
{
	struct row_sum sum = {
		.clients = int_of(json_object_get(pt->row, "fairness"),
				  "clients")};
	const json_t *ops = json_object_get(pt->row, "ops"), *op;
	double ios = 0, n;
	const char *key;

	json_object_foreach((json_t *)ops, key, op)
	{
		n = number_of(op, "ios");
		sum.mb_s += number_of(op, "bytes_per_s") / 1e6;
		sum.iops += number_of(op, "ios_per_s");
		sum.mean_ns += n * number_of(json_object_get(op, "latency"),
					     "mean_ns");
		ios += n;
	}
	sum.mean_ns = ios > 0 ? sum.mean_ns / ios : 0;
	return sum;
}

static void add_mean(struct put *p, json_t *o, const char *key, double n,
		     double value)
{
	put_real(p, o, key,
		 number_of(o, key) + (value - number_of(o, key)) / n);
}

static void add_step(struct put *p, json_t *steps, const struct row_sum *sum)
{
	json_t *o = NULL;
	size_t i;
	double n;

	for (i = 0; i < json_array_size(steps); i++) {
		o = json_array_get(steps, i);
		if (int_of(o, "clients") >= sum->clients)
			break;
	}
	if (i == json_array_size(steps) ||
	    int_of(o, "clients") != sum->clients) {
		o = json_object();
		if (json_array_insert_new(steps, i, o))
			p->failed = true;
		put_int(p, o, "clients", sum->clients);
	}
	if (p->failed)
		return;
	n = number_of(o, "n") + 1;
	add_mean(p, o, "mb_s", n, sum->mb_s);
	add_mean(p, o, "iops", n, sum->iops);
	add_mean(p, o, "mean_ns", n, sum->mean_ns);
	put_int(p, o, "n", (uint64_t)n);
}

static json_t *sweep_of(struct put *p, json_t *all, const struct point *pt)
{
	json_t *o;
	size_t i;

	for (i = 0; i < json_array_size(all); i++) {
		o = json_array_get(all, i);
		if (!strcmp(text_of(o, "array"), pt->array) &&
		    !strcmp(text_of(o, "test"), pt->test))
			return o;
	}
	o = put_object(p, all, NULL);
	put_text(p, o, "array", pt->array);
	put_text(p, o, "test", pt->test);
	put_format(p, o, "label", "%s%s%s", pt->array,
		   *pt->array && *pt->test ? " " : "",
		   *pt->test || *pt->array ? pt->test : pt->name);
	put_array(p, o, "steps");
	return o;
}

static void put_sweeps(struct put *p, json_t *all, const struct set *s)
{
	const struct point *pt, *before = NULL;
	struct row_sum sum;
	size_t i;

	for (i = 0; i < s->nr_points; i++) {
		pt = &s->points[i];
		if (before && before->row == pt->row) /* another op of it */
			continue;
		before = pt;
		sum = sum_row(pt);
		if (sum.iops > 0)
			add_step(p,
				 json_object_get(sweep_of(p, all, pt), "steps"),
				 &sum);
	}
	for (i = json_array_size(all); i-- > 0;)
		if (json_array_size(
			    json_object_get(json_array_get(all, i), "steps")) <
		    SWEEP_STEPS_LEAST)
			json_array_remove(all, i);
}

json_t *page_data(const struct set *s, struct err *e)
{
	struct put p = {0};
	json_t *d = json_object(), *points = put_array(&p, d, "points"),
	       *series = put_array(&p, d, "series"),
	       *events = put_array(&p, d, "events"),
	       *sweeps = put_array(&p, d, "sweeps");
	int err = 0;
	size_t i;

	for (i = 0; i < s->nr_points && !err; i++) {
		err = put_point(&p, points, s, &s->points[i], e);
		put_series(&p, series, s, &s->points[i]);
	}
	for (i = 0; i < s->nr_files; i++)
		put_events(&p, events, &s->files[i]);
	put_sweeps(&p, sweeps, s);
	if (!err && !p.failed)
		return d;
	if (!err)
		err_set(e, -ENOMEM, "no memory for the charts");
	json_decref(d);
	return NULL;
}
