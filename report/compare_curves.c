#include "report/compare_curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/curves.h"
#include "report/text.h"

static struct comparison_knee knee_of(const struct sweep *s)
{
	struct comparison_knee k = {
		.clients = s->points[s->knee].clients,
		.peak_clients = s->points[s->peak].clients,
		.has_interval = s->has_interval,
		.peak_mb_s = s->points[s->peak].rate.mean,
	};

	if (s->has_interval) {
		k.low = s->points[s->knee_low].clients;
		k.high = s->points[s->knee_high].clients;
	}
	return k;
}

static enum verdict judge_knees(const struct comparison_knee *a,
				const struct comparison_knee *b)
{
	if (!a->has_interval || !b->has_interval)
		return VERDICT_NO_INTERVAL;
	return a->low <= b->high && b->low <= a->high ? VERDICT_NO_DIFFERENCE
						      : VERDICT_DIFFERENT;
}

static void judge_peaks(struct comparison_curve *it, const struct sweep *a,
			const struct sweep *b)
{
	struct estimate ea = stats_estimate(&a->points[a->peak].rate);
	struct estimate eb = stats_estimate(&b->points[b->peak].rate);

	it->ratio = eb.mean / ea.mean;
	if (!stats_ratio(&eb, &ea, &it->interval))
		it->peak = VERDICT_NO_INTERVAL;
	else if (it->interval.low > 1)
		it->peak = VERDICT_BETTER;
	else if (it->interval.high < 1)
		it->peak = VERDICT_WORSE;
	else
		it->peak = VERDICT_NO_DIFFERENCE;
}

static int add(struct comparison *c, const struct curve *a,
	       const struct curve *b, struct err *e)
{
	struct comparison_curve *more = realloc(c->curves, (c->nr_curves +
							    1) * sizeof(*more)),
				*it;

	if (!more)
		return err_set(e, -ENOMEM, "no memory to compare");
	c->curves = more;
	it = &more[c->nr_curves++];
	*it = (struct comparison_curve){.a = knee_of(&a->sweep),
					.b = knee_of(&b->sweep)};
	memcpy(it->label, a->label, sizeof(it->label));
	it->knee = judge_knees(&it->a, &it->b);
	judge_peaks(it, &a->sweep, &b->sweep);
	return 0;
}

int compare_curves(struct comparison *c, const struct set *a,
		   const struct set *b, bool with_arrays, bool with_tests,
		   struct err *e)
{
	struct curves ca = {0}, cb = {0};
	const struct point *pa, *pb;
	size_t i, k;
	int err;

	err = curves_of(&ca, a, true, e);
	if (!err)
		err = curves_of(&cb, b, true, e);
	for (i = 0; i < ca.nr && !err; i++)
		for (k = 0; k < cb.nr && !err; k++) {
			pa = ca.list[i].point;
			pb = cb.list[k].point;
			if (ca.list[i].sweep.has_knee &&
			    cb.list[k].sweep.has_knee && pa->nth == pb->nth &&
			    !strcmp(pa->name, pb->name) &&
			    (!with_arrays || !strcmp(pa->array, pb->array)) &&
			    (!with_tests || !strcmp(pa->test, pb->test)))
				err = add(c, &ca.list[i], &cb.list[k], e);
		}
	curves_release(&ca);
	curves_release(&cb);
	return err;
}

static char *knee_text(const struct comparison_knee *k, char *buf, size_t size)
{
	if (k->has_interval)
		snprintf(buf, size, "%u (%u to %u)", k->clients, k->low,
			 k->high);
	else
		snprintf(buf, size, "%u", k->clients);
	return buf;
}

void compare_curves_print(const struct comparison *c, int width, FILE *out)
{
	const struct comparison_curve *it;
	char text[512], a[64], b[64], interval[64];

	for (size_t i = 0; i < c->nr_curves; i++) {
		it = &c->curves[i];
		snprintf(text, sizeof(text), "knee at %s and %s clients: %s",
			 knee_text(&it->a, a, 64), knee_text(&it->b, b, 64),
			 verdict_names[it->knee]);
		fprintf(out, "%s\n", it->label);
		text_put_wrapped(out, "  ", text, width);
		interval[0] = '\0';
		if (it->peak != VERDICT_NO_INTERVAL)
			snprintf(interval, sizeof(interval), " (%.3f .. %.3f)",
				 it->interval.low, it->interval.high);
		snprintf(text, sizeof(text),
			 "peak of %s MB/s at %u and %s MB/s at %u clients, B/A "
			 "%.3f%s: %s",
			 metric_text(METRIC_MB_S, it->a.peak_mb_s, a, 64),
			 it->a.peak_clients,
			 metric_text(METRIC_MB_S, it->b.peak_mb_s, b, 64),
			 it->b.peak_clients, it->ratio, interval,
			 verdict_names[it->peak]);
		text_put_wrapped(out, "  ", text, width);
	}
}
