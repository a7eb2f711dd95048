#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/curves.h"
#include "report/samples.h"

/* --- as JSON --- */

static void put_half(struct put *p, json_t *o, const char *key,
		     const struct summary *s)
{
	if (s->n < 2)
		put_value(p, o, key, json_null());
	else
		put_real(p, o, key, s->half);
}

static void put_point(struct put *p, json_t *points, const struct curve *c,
		      size_t i)
{
	const struct sweep_point *at = &c->sweep.points[i];
	const struct load *l = &c->loads[i];
	json_t *o = put_object(p, points, NULL);

	put_int(p, o, "clients", at->clients);
	put_int(p, o, "n", at->rate.n);
	put_real(p, o, "mb_s", l->mb_s);
	put_half(p, o, "mb_s_ci95", &at->rate);
	put_real(p, o, "mbit_s", 8 * l->mb_s);
	put_real(p, o, "iops", l->iops);
	put_real(p, o, "mean_ns", l->mean_ns);
	put_half(p, o, "mean_ns_ci95", &at->response_ns);
	put_real(p, o, "p99_ns", l->p99_ns);
	put_real(p, o, "fairness", l->fairness);
	if (l->has_cpu)
		put_real(p, o, "cpu_ns_per_io", l->cpu_ns);
	else
		put_value(p, o, "cpu_ns_per_io", json_null());
	put_real(p, o, "littles_law", l->littles_law);
}

static void put_ratio(struct put *p, json_t *o, const struct sweep_ratio *r)
{
	put_real(p, o, "ratio", r->value);
	if (r->has_interval) {
		put_real(p, o, "low", r->interval.low);
		put_real(p, o, "high", r->interval.high);
	} else {
		put_value(p, o, "low", json_null());
		put_value(p, o, "high", json_null());
	}
}

static void put_knee(struct put *p, json_t *o, const struct sweep *s)
{
	json_t *one;

	if (!s->has_knee) {
		put_value(p, o, "peak", json_null());
		put_value(p, o, "knee", json_null());
		return;
	}
	one = put_object(p, o, "peak");
	put_int(p, one, "clients", s->points[s->peak].clients);
	put_real(p, one, "mb_s", s->points[s->peak].rate.mean);
	one = put_object(p, o, "knee");
	put_int(p, one, "clients", s->points[s->knee].clients);
	put_int_or_null(p, one, "low",
			s->has_interval ? s->points[s->knee_low].clients
					: UINT64_MAX);
	put_int_or_null(p, one, "high",
			s->has_interval ? s->points[s->knee_high].clients
					: UINT64_MAX);
}

static void put_phases(struct put *p, json_t *o, const struct sweep *s)
{
	json_t *phases = put_array(p, o, "phases"), *one;
	struct sweep_ratio r;
	size_t i;

	for (i = 0; i < s->nr_phases; i++) {
		const struct sweep_phase *phase = &s->phases[i];

		one = put_object(p, phases, NULL);
		put_text(p, one, "phase", sweep_phase_names[phase->kind]);
		put_int(p, one, "from", s->points[phase->first].clients);
		put_int(p, one, "to", s->points[phase->last].clients);
		r = sweep_phase_ratio(s, phase);
		put_ratio(p, one, &r);
	}
	if (!s->has_response_ratio) {
		put_value(p, o, "response_ratio", json_null());
		return;
	}
	one = put_object(p, o, "response_ratio");
	put_int(p, one, "from", s->points[0].clients);
	put_int(p, one, "to", s->points[s->nr_points - 1].clients);
	put_ratio(p, one, &s->response_ratio);
}

void curves_put(struct put *p, json_t *sweeps, const struct curves *c,
		bool of_set)
{
	const struct curve *one;
	json_t *o, *points;
	char text[512];
	size_t i;

	for (one = c->list; one < c->list + c->nr; one++) {
		o = put_object(p, sweeps, NULL);
		if (of_set) {
			put_text(p, o, "label", one->label);
			put_text(p, o, "array", one->point->array);
			put_text(p, o, "test", one->point->test);
		}
		put_text(p, o, "job", one->point->name);
		put_text(p, o, "op", "all");
		points = put_array(p, o, "points");
		for (i = 0; i < one->sweep.nr_points; i++)
			put_point(p, points, one, i);
		put_knee(p, o, &one->sweep);
		put_phases(p, o, &one->sweep);
		put_text(p, o, "text", curve_say(one, text, sizeof(text)));
		put_text(p, o, "rule", sweep_rule);
	}
}

/* --- as a sentence --- */

/* Text that grows in a buffer; what does not fit is cut. */
struct speech {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct speech *s,
						      const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->buf + s->used, s->size - s->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->used += (size_t)n < s->size - s->used
				   ? (size_t)n
				   : s->size - s->used - 1;
}

static void say_clients(struct speech *s, unsigned int n)
{
	say(s, "%u client%s", n, n == 1 ? "" : "s");
}

static void say_knee(struct speech *out, const struct sweep *s)
{
	double mb_s = s->points[s->peak].rate.mean;
	char rate[32];

	say(out, "Knee at ");
	say_clients(out, s->points[s->knee].clients);
	if (s->has_interval && s->knee_low == s->knee_high)
		say(out, " (no other at 95 %%)");
	else if (s->has_interval)
		say(out, " (%u to %u at 95 %%)", s->points[s->knee_low].clients,
		    s->points[s->knee_high].clients);
	say(out,
	    ": the smallest load within 5 %% of the peak, %s MB/s (%.0f "
	    "Mbit/s) at ",
	    metric_text(METRIC_MB_S, mb_s, rate, sizeof(rate)), 8 * mb_s);
	say_clients(out, s->points[s->peak].clients);
	say(out, ".");
	if (!s->has_interval)
		say(out, " No interval: that takes two repeats of each step.");
}

/* A flat phase goes on to the last step within 5 %; not each of it need be. */
static void say_dips(struct speech *out, const struct sweep *s,
		     const struct sweep_phase *p)
{
	double least = (1 - SWEEP_BAND) * s->points[s->peak].rate.mean;
	size_t i, n = 0;
	enum { SAID_MOST = 3 };

	for (i = p->first; i <= p->last; i++)
		if (s->points[i].rate.mean < least && n++ < SAID_MOST)
			say(out, "%s%u", n > 1 ? ", " : " (but lower at ",
			    s->points[i].clients);
	if (n > SAID_MOST)
		say(out, " and %zu more", n - SAID_MOST);
	if (n)
		say(out, ")");
}

static void say_phases(struct speech *out, const struct sweep *s)
{
	static const char *const verbs[] = {
		[SWEEP_RISING] = "rises",
		[SWEEP_FLAT] = "is flat",
		[SWEEP_FALLING] = "falls",
	};
	size_t i;

	for (i = 0; i < s->nr_phases; i++) {
		const struct sweep_phase *p = &s->phases[i];

		say(out, "%s %s to ", i ? "," : " Throughput", verbs[p->kind]);
		if (i)
			say(out, "%u", s->points[p->last].clients);
		else
			say_clients(out, s->points[p->last].clients);
		if (p->kind == SWEEP_FLAT)
			say_dips(out, s, p);
		if (p->kind == SWEEP_FALLING)
			say(out, ", to %.0f %% of the peak",
			    100 * s->points[p->last].rate.mean /
				    s->points[s->peak].rate.mean);
	}
	say(out, ".");
	if (sweep_is_rising(s))
		say(out, " It still rises at the highest load: the knee may "
			 "lie beyond.");
}

static void say_response(struct speech *out, const struct sweep *s)
{
	const struct sweep_ratio *r = &s->response_ratio;

	if (!s->has_response_ratio)
		return;
	say(out, " Response time at %u clients: %.3g times that at %u",
	    s->points[s->nr_points - 1].clients, r->value,
	    s->points[0].clients);
	if (r->has_interval)
		say(out, " (%.3g to %.3g)", r->interval.low, r->interval.high);
	say(out, ".");
}

char *curve_say(const struct curve *c, char *buf, size_t size)
{
	struct speech out = {buf, size, 0};
	const struct sweep *s = &c->sweep;

	if (!s->has_knee) {
		say(&out, "No knee: one load alone is no curve.");
		return buf;
	}
	say_knee(&out, s);
	say_phases(&out, s);
	say_response(&out, s);
	return buf;
}
