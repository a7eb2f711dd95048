#include "report/samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/text.h"

/* Fewer intervals say nothing of how much the next would differ. */
enum { INTERVALS_LEAST = 5 };

const struct metric_desc metrics[METRICS] = {
	[METRIC_MB_S] = {"mb_s", "MB/s", true},
	[METRIC_IOPS] = {"iops", "IOPS", true},
	[METRIC_MEAN] = {"mean", "mean latency", false},
	[METRIC_P99] = {"p99", "p99 latency", false},
};

bool metric_value(const struct point *p, enum metric m, double *value)
{
	const json_t *latency = json_object_get(p->data, "latency");

	if (int_of(p->data, "ios") <= 0)
		return false;
	switch (m) {
	case METRIC_MB_S:
		*value = number_of(p->data, "bytes_per_s") / 1e6;
		return p->op != OP_FLUSH;
	case METRIC_IOPS:
		*value = number_of(p->data, "ios_per_s");
		return true;
	case METRIC_MEAN:
		*value = number_of(latency, "mean_ns");
		return json_is_object(latency);
	case METRIC_P99:
		*value = number_of(latency, "p99_ns");
		return json_is_object(latency);
	case METRICS:
		break;
	}
	return false;
}

char *metric_text(enum metric m, double value, char *buf, size_t size)
{
	if (m == METRIC_IOPS)
		return units_count(buf, size, value);
	if (m != METRIC_MB_S)
		return units_time(buf, size, value);
	snprintf(buf, size, "%.*f",
		 value >= 1000 ? 0
		 : value >= 10 ? 1
			       : 2,
		 value);
	return buf;
}

/* --- the series of one run --- */

/* The series of a row has latencies of all its ops together, by service time:
 * they are a point's own only where it is alone and closed. */
static bool owns_latencies(const struct point *p)
{
	const json_t *ops = json_object_get(p->row, "ops"), *op;
	const char *key;
	size_t with_ios = 0;

	json_object_foreach((json_t *)ops, key, op) with_ios +=
		int_of(op, "ios") > 0;
	return with_ios == 1 && !point_is_open(p);
}

static const json_t *series_of(const struct point *p, enum metric m)
{
	const json_t *series = json_object_get(p->row, "series");
	const json_t *own = json_object_get(series, op_name(p->op));

	if (m == METRIC_MB_S)
		return json_object_get(own, "bytes");
	if (m == METRIC_IOPS)
		return json_object_get(own, "ios");
	if (m == METRIC_MEAN && owns_latencies(p))
		return json_object_get(series, "service_mean_ns");
	return NULL; /* no interval knows its p99 */
}

/* The values of the intervals that lie wholly inside the window, from *first
 * on. */
static size_t inside_window(const struct point *p, size_t nr, size_t *first)
{
	const json_t *window = json_object_get(p->row, "window");
	double interval =
		number_of(json_object_get(p->row, "series"), "interval_ns");
	double start = number_of(window, "start_ns");
	double end = number_of(window, "end_ns");
	double from, to;

	if (!(interval > 0) || !(end > start) || start < 0)
		return 0;
	from = ceil(start / interval);
	to = fmin(floor(end / interval), (double)nr);
	if (to <= from)
		return 0;
	*first = (size_t)from;
	return (size_t)(to - from);
}

/* The error of the whole window's value is that of the intervals' mean, in
 * proportion. */
static void take_series(struct sample_of *s, const struct point *p,
			enum metric m)
{
	const json_t *values = series_of(p, m);
	size_t first = 0, n, i;
	struct summary sum;
	double *x, effective;

	n = inside_window(p, json_array_size(values), &first);
	if (n < INTERVALS_LEAST)
		return;
	x = calloc(n, sizeof(*x));
	if (!x)
		return;
	for (i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(values, first + i));
	stats_summarize(x, n, &sum);
	effective = stats_effective_n(x, n);
	free(x);
	if (!(sum.mean > 0))
		return;
	s->basis = BASIS_SERIES;
	s->n = n;
	s->estimate.se = s->estimate.mean * sum.sd / sum.mean / sqrt(effective);
	s->estimate.df = effective - 1;
}

bool sample_take(struct sample_of *s, const struct point *const points[],
		 size_t nr, enum metric m)
{
	double *x = calloc(nr + 1, sizeof(*x));
	const struct point *one = NULL;
	struct summary sum;
	size_t n = 0, i;

	*s = (struct sample_of){.estimate = {.se = NAN}};
	for (i = 0; i < nr && x; i++)
		if (metric_value(points[i], m, &x[n])) {
			one = points[i];
			n++;
		}
	if (n)
		stats_summarize(x, n, &sum);
	free(x);
	if (!n)
		return false;
	s->estimate = stats_estimate(&sum);
	s->n = n;
	if (n > 1)
		s->basis = BASIS_RUNS;
	else
		take_series(s, one, m);
	return true;
}

void sample_make_exact(struct sample_of *s)
{
	s->basis = BASIS_EXACT;
	s->estimate.se = 0;
	s->estimate.df = INFINITY;
}
