#include "report/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char sweep_rule[] =
	"peak: the highest mean throughput; knee: the smallest number of "
	"clients within 5 % of it; flat: from there to the last within 5 %, if "
	"the clients grow by more than 10 % over it or the peak is before the "
	"last step";

const char *const sweep_phase_names[] = {
	[SWEEP_RISING] = "rising",
	[SWEEP_FLAT] = "flat",
	[SWEEP_FALLING] = "falling",
};

/* --- points --- */

/* Beyond any wire and clock; squares of it are still finite. */
#define VALUE_MOST 1e30

static bool is_sane(double x)
{
	return x >= 0 && x <= VALUE_MOST; /* no NaN is */
}

static bool is_kept(const struct sweep_sample *x)
{
	return x->clients > 0 && is_sane(x->rate) && is_sane(x->response_ns);
}

/* By value too, so that the order of the samples does not show in the last
 * digit of a mean. */
static int compare_samples(const void *pa, const void *pb)
{
	const struct sweep_sample *a = pa, *b = pb;

	if (a->clients != b->clients)
		return a->clients < b->clients ? -1 : 1;
	if (a->rate != b->rate)
		return a->rate < b->rate ? -1 : 1;
	return (a->response_ns > b->response_ns) -
	       (a->response_ns < b->response_ns);
}

static void summarize(const double *x, size_t n, struct summary *s)
{
	stats_summarize(x, n, s);
	if (n < 2)
		s->half = 0;
}

/* @x: sorted. @scratch: as many numbers as there are samples. */
static void make_points(struct sweep *s, const struct sweep_sample *x,
			size_t nr, double *scratch)
{
	struct sweep_point *p;
	size_t first, n, i;

	for (first = 0; first < nr; first += n) {
		for (n = 1; first + n < nr &&
			    x[first + n].clients == x[first].clients;)
			n++;
		p = &s->points[s->nr_points++];
		p->clients = x[first].clients;
		for (i = 0; i < n; i++)
			scratch[i] = x[first + i].rate;
		summarize(scratch, n, &p->rate);
		for (i = 0; i < n; i++)
			scratch[i] = x[first + i].response_ns;
		summarize(scratch, n, &p->response_ns);
	}
}

/* --- what they say --- */

static struct sweep_ratio ratio_of(const struct summary *a,
				   const struct summary *b)
{
	struct estimate ea = stats_estimate(a), eb = stats_estimate(b);
	struct sweep_ratio r = {0};

	if (!(b->mean > 0))
		return r;
	r.value = a->mean / b->mean;
	r.has_interval =
		stats_ratio(&ea, &eb, &r.interval) && isfinite(r.interval.high);
	return r;
}

static bool is_within(const struct sweep *s, size_t i)
{
	return s->points[i].rate.mean >=
	       (1 - SWEEP_BAND) * s->points[s->peak].rate.mean;
}

static void find_knee(struct sweep *s)
{
	size_t i;

	for (i = 1; i < s->nr_points; i++)
		if (s->points[i].rate.mean > s->points[s->peak].rate.mean)
			s->peak = i;
	s->has_knee = s->nr_points > 1 && s->points[s->peak].rate.mean > 0;
	if (!s->has_knee)
		return;
	while (!is_within(s, s->knee))
		s->knee++;
}

/* A step is its own equal; one that did nothing is below any peak. */
static struct sweep_ratio ratio_to_peak(const struct sweep *s, size_t i)
{
	struct sweep_ratio r = {1, true, {1, 1}};

	if (i == s->peak)
		return r;
	r = ratio_of(&s->points[i].rate, &s->points[s->peak].rate);
	if (s->points[i].rate.mean > 0)
		return r;
	return (struct sweep_ratio){0, true, {0, 0}};
}

static void find_interval(struct sweep *s)
{
	bool has_low = false, has_high = false;
	struct sweep_ratio r;
	size_t i;

	for (i = 0; i < s->nr_points; i++)
		if (s->points[i].rate.n < 2)
			return;
	for (i = 0; i < s->nr_points && !has_high; i++) {
		r = ratio_to_peak(s, i);
		if (!has_low &&
		    (!r.has_interval || r.interval.high >= 1 - SWEEP_BAND)) {
			has_low = true;
			s->knee_low = i;
		}
		if (r.has_interval && r.interval.low >= 1 - SWEEP_BAND) {
			has_high = true;
			s->knee_high = i;
		}
	}
	s->has_interval = true;
}

static void add_phase(struct sweep *s, enum sweep_phase_kind kind, size_t first,
		      size_t last)
{
	if (first < last)
		s->phases[s->nr_phases++] =
			(struct sweep_phase){kind, first, last};
}

static void find_phases(struct sweep *s)
{
	size_t last = s->nr_points - 1, end = last, top;

	while (!is_within(s, end))
		end--;
	if ((end == last && (s->knee == 0 || s->peak != last)) ||
	    s->points[end].clients >
		    SWEEP_FLAT_LEAST * s->points[s->knee].clients) {
		add_phase(s, SWEEP_RISING, 0, s->knee);
		add_phase(s, SWEEP_FLAT, s->knee, end);
		add_phase(s, SWEEP_FALLING, end, last);
		return;
	}
	top = end == last ? last : s->knee ? s->peak : 0;
	add_phase(s, SWEEP_RISING, 0, top);
	add_phase(s, SWEEP_FALLING, top, last);
}

static void find_response_ratio(struct sweep *s)
{
	const struct sweep_point *first = s->points,
				 *last = &s->points[s->nr_points - 1];

	if (s->nr_points < 2 || !(first->response_ns.mean > 0) ||
	    !(last->response_ns.mean > 0))
		return;
	s->has_response_ratio = true;
	s->response_ratio = ratio_of(&last->response_ns, &first->response_ns);
}

int sweep_analyze(struct sweep *s, const struct sweep_sample samples[],
		  size_t nr, struct err *e)
{
	struct sweep_sample *sorted = calloc(nr + 1, sizeof(*sorted));
	double *scratch = calloc(nr + 1, sizeof(*scratch));
	size_t n = 0, i;
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->points = calloc(nr + 1, sizeof(*s->points));
	if (!sorted || !scratch || !s->points) {
		err = err_set(e, -ENOMEM, "no memory for the sweep");
		goto out;
	}
	for (i = 0; i < nr; i++)
		if (is_kept(&samples[i]))
			sorted[n++] = samples[i];
	qsort(sorted, n, sizeof(*sorted), compare_samples);
	make_points(s, sorted, n, scratch);
	find_knee(s);
	if (s->has_knee) {
		find_interval(s);
		find_phases(s);
		find_response_ratio(s);
	}
out:
	free(sorted);
	free(scratch);
	if (err)
		sweep_release(s);
	return err;
}

void sweep_release(struct sweep *s)
{
	free(s->points);
	memset(s, 0, sizeof(*s));
}

struct sweep_ratio sweep_phase_ratio(const struct sweep *s,
				     const struct sweep_phase *p)
{
	return ratio_of(&s->points[p->last].rate, &s->points[p->first].rate);
}

bool sweep_is_rising(const struct sweep *s)
{
	return s->nr_phases && s->phases[s->nr_phases - 1].kind == SWEEP_RISING;
}
