#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_curves.h"
#include "report/compare_parts.h"
#include "report/plan_diff.h"
#include "report/text.h"

const char *const verdict_names[VERDICTS] = {
	[VERDICT_BETTER] = "better",
	[VERDICT_WORSE] = "worse",
	[VERDICT_DIFFERENT] = "different",
	[VERDICT_NO_DIFFERENCE] = "no difference shown",
	[VERDICT_NO_INTERVAL] = "no interval",
	[VERDICT_MISSING] = "not measured",
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "no memory to compare");
}

bool comparison_note(struct comparison *c, const char *fmt, ...)
{
	char **more = realloc(c->notes, (c->nr_notes + 1) * sizeof(*more));
	char text[1024];
	va_list ap;

	if (!more)
		return false;
	c->notes = more;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	more[c->nr_notes] = malloc(sizeof(text));
	if (!more[c->nr_notes])
		return false;
	text_clean(more[c->nr_notes++], sizeof(text), text);
	return true;
}

/* What was left out of a set, and what of it is only a part. */
bool comparison_note_set(struct comparison *c, const struct set *s)
{
	const json_t *own, *run;
	size_t quick = 0, i;
	bool ok = true;

	for (i = 0; i < s->nr_warnings && ok; i++)
		ok = comparison_note(c, "left out: %s", s->warnings[i]);
	for (i = 0; i < s->nr_files && ok; i++) {
		own = json_object_get(s->files[i].doc, "lunbench");
		run = json_object_get(own, "run");
		quick += json_is_true(json_object_get(own, "quick"));
		if (strcmp(text_of(run, "end"), "complete") != 0)
			ok = comparison_note(
				c,
				"\"%s\" is of a run that %s: part of "
				"what was planned",
				s->files[i].path,
				!strcmp(text_of(run, "end"), "failed")
					? "failed"
					: "was interrupted");
	}
	if (quick && ok)
		ok = comparison_note(c,
				     "\"%s\": %zu of %zu results are of runs "
				     "with --quick: times and amounts were "
				     "scaled down",
				     s->name, quick, s->nr_files);
	return ok;
}

/* --- matching --- */

/* What names a point: always row, place among equal names, and op; array and
 * test where one of the sets has several of them. */
struct keys {
	bool arrays, tests;
};

static bool is_same(const struct point *a, const struct point *b,
		    struct keys keys)
{
	return point_is_like(a, b) &&
	       (!keys.arrays || !strcmp(a->array, b->array)) &&
	       (!keys.tests || !strcmp(a->test, b->test));
}

/* The points of @s that are repeats of @p, in a list that the caller frees. */
static const struct point **repeats_of(const struct set *s,
				       const struct point *p, struct keys keys,
				       size_t *nr)
{
	const struct point **list = calloc(s->nr_points + 1, sizeof(*list));
	size_t i;

	*nr = 0;
	for (i = 0; i < s->nr_points && list; i++)
		if (is_same(&s->points[i], p, keys))
			list[(*nr)++] = &s->points[i];
	return list;
}

static bool is_first(const struct set *s, const struct point *p,
		     struct keys keys)
{
	const struct point *before;

	for (before = s->points; before < p; before++)
		if (is_same(before, p, keys))
			return false;
	return true;
}

/* --- verdicts --- */

static enum verdict judge(struct comparison_item *item)
{
	const struct estimate *a = &item->a.estimate, *b = &item->b.estimate;
	bool more = metrics[item->metric].more_is_better;

	if (!item->has_a || !item->has_b || a->mean <= 0 || b->mean <= 0)
		return VERDICT_MISSING;
	item->ratio = b->mean / a->mean;
	if (!stats_ratio(b, a, &item->interval))
		return VERDICT_NO_INTERVAL;
	if (item->interval.low > 1)
		return more ? VERDICT_BETTER : VERDICT_WORSE;
	if (item->interval.high < 1)
		return more ? VERDICT_WORSE : VERDICT_BETTER;
	return VERDICT_NO_DIFFERENCE;
}

/* Worse as shown, and by more than what is allowed. A rate without an interval
 * has nothing that excuses it, so its ratio alone decides: short runs must not
 * pass for want of knowledge. A latency's would fail too many. A figure that is
 * gone fails: a job that no longer runs must not pass. */
static bool fails(const struct comparison_item *item, double max_regress)
{
	bool is_rate = metrics[item->metric].more_is_better;

	if (max_regress < 0)
		return false;
	if (item->verdict == VERDICT_MISSING)
		return item->has_a;
	if (item->verdict != VERDICT_WORSE &&
	    !(item->verdict == VERDICT_NO_INTERVAL && is_rate))
		return false;
	return is_rate ? item->ratio < 1 - max_regress
		       : item->ratio > 1 + max_regress;
}

int comparison_add(struct comparison *c, const struct comparison_item *item,
		   struct err *e)
{
	struct comparison_item *more = realloc(c->items, (c->nr_items + 1) *
								 sizeof(*more)),
			       *it;

	if (!more)
		return no_memory(e);
	c->items = more;
	it = &more[c->nr_items++];
	*it = *item;
	it->verdict = judge(it);
	it->fails = fails(it, c->max_regress);
	return 0;
}

/* --- two sets --- */

static const char *lab_of(const struct point *p)
{
	return text_of(
		json_object_get(json_object_get(p->file->doc, "lunbench"),
				"host"),
		"lab");
}

/* Virtual time of one model and one seed leave nothing to chance. */
static bool is_exact(const struct point *a, const struct point *b)
{
	return file_is_virtual(a->file) && file_is_virtual(b->file) &&
	       !strcmp(lab_of(a), lab_of(b)) &&
	       !strcmp(text_of(json_object_get(a->file->doc, "lunbench"),
			       "seed"),
		       text_of(json_object_get(b->file->doc, "lunbench"),
			       "seed"));
}

struct pair {
	const struct point **a, **b; /* owned */
	size_t nr_a, nr_b;
};

/* Also among the repeats of one side. */
static int check_plans(struct comparison *c, const struct pair *p,
		       const char *label, const struct compare_opts *o,
		       struct err *e)
{
	const struct point *first = p->nr_a ? p->a[0] : p->b[0], *other;
	char what[400];
	size_t i;

	for (i = 1; i < p->nr_a + p->nr_b; i++) {
		other = i < p->nr_a ? p->a[i] : p->b[i - p->nr_a];
		if (!plan_differs(first, other, what, sizeof(what)))
			continue;
		if (o->force)
			return comparison_note(c, "the plans differ: %s: %s",
					       label, what)
				       ? 0
				       : no_memory(e);
		return err_set(e, -EINVAL,
			       "the plans differ: %s: %s; compare runs of one "
			       "plan, or say --force",
			       label, what);
	}
	return 0;
}

static int compare_pair(struct comparison *c, const struct pair *p,
			const char *label, const struct compare_opts *o,
			struct err *e)
{
	bool exact = p->nr_a == 1 && p->nr_b == 1 && is_exact(*p->a, *p->b);
	struct comparison_item item;
	int err, m;

	err = check_plans(c, p, label, o, e);
	for (m = 0; m < METRICS && !err; m++) {
		if (!(o->metrics & 1U << m))
			continue;
		item = (struct comparison_item){
			.metric = m,
			.is_step = (p->nr_a ? p->a : p->b)[0]->step > 0};
		snprintf(item.label, sizeof(item.label), "%s", label);
		item.has_a = sample_take(&item.a, p->a, p->nr_a, m);
		item.has_b = sample_take(&item.b, p->b, p->nr_b, m);
		if (exact) {
			sample_make_exact(&item.a);
			sample_make_exact(&item.b);
		}
		if ((item.has_a || item.has_b || m == METRIC_IOPS))
			err = comparison_add(c, &item, e);
	}
	return err;
}

/* What is in one set alone makes another plan, too. */
static int only_in(struct comparison *c, const char *label, const char *set,
		   const struct compare_opts *o, struct err *e)
{
	if (!o->force)
		return err_set(e, -EINVAL,
			       "the plans differ: %s is in \"%s\" alone; "
			       "compare runs of one plan, or say --force",
			       label, set);
	return comparison_note(c, "not compared: %s is in \"%s\" alone", label,
			       set)
		       ? 0
		       : no_memory(e);
}

static int compare_points_of_a(struct comparison *c, const struct set *a,
			       const struct set *b, struct keys keys,
			       const struct compare_opts *o, struct err *e)
{
	char label[256];
	struct pair p;
	int err = 0;
	size_t i;

	for (i = 0; i < a->nr_points && !err; i++) {
		const struct point *pa = &a->points[i];

		if (!is_first(a, pa, keys))
			continue;
		point_label(a, pa, label, sizeof(label));
		p.a = repeats_of(a, pa, keys, &p.nr_a);
		p.b = repeats_of(b, pa, keys, &p.nr_b);
		if (!p.a || !p.b)
			err = no_memory(e);
		else if (!p.nr_b)
			err = only_in(c, label, a->name, o, e);
		else
			err = compare_pair(c, &p, label, o, e);
		free(p.a);
		free(p.b);
	}
	return err;
}

static int find_points_of_b_alone(struct comparison *c, const struct set *a,
				  const struct set *b, struct keys keys,
				  const struct compare_opts *o, struct err *e)
{
	char label[256];
	int err = 0;
	size_t i, k;

	for (i = 0; i < b->nr_points && !err; i++) {
		if (!is_first(b, &b->points[i], keys))
			continue;
		for (k = 0; k < a->nr_points; k++)
			if (is_same(&a->points[k], &b->points[i], keys))
				break;
		if (k == a->nr_points)
			err = only_in(c,
				      point_label(b, &b->points[i], label,
						  sizeof(label)),
				      b->name, o, e);
	}
	return err;
}

int compare_sets(struct comparison *c, const struct set *a, const struct set *b,
		 const struct compare_opts *o, struct err *e)
{
	struct keys keys = {
		.arrays = set_has_arrays(a) || set_has_arrays(b),
		.tests = set_has_tests(a) || set_has_tests(b),
	};
	int err;

	*c = (struct comparison){
		.a = a->name, .b = b->name, .max_regress = o->max_regress};
	err = comparison_note_set(c, a) && comparison_note_set(c, b)
		      ? 0
		      : no_memory(e);
	if (!err)
		err = compare_points_of_a(c, a, b, keys, o, e);
	if (!err)
		err = find_points_of_b_alone(c, a, b, keys, o, e);
	if (!err)
		err = compare_curves(c, a, b, keys.arrays, keys.tests, e);
	if (!err && !c->nr_items)
		err = err_set(e, -ENOENT,
			      "nothing to compare: no job and operation is in "
			      "both \"%s\" and \"%s\"",
			      a->name, b->name);
	return err;
}

void comparison_release(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nr_notes; i++)
		free(c->notes[i]);
	free(c->notes);
	free(c->items);
	free(c->curves);
	memset(c, 0, sizeof(*c));
}

size_t comparison_unjudged(const struct comparison *c)
{
	size_t n = 0, i;

	for (i = 0; i < c->nr_items; i++)
		n += c->items[i].verdict == VERDICT_NO_INTERVAL &&
		     !metrics[c->items[i].metric].more_is_better;
	return n;
}

size_t comparison_failures(const struct comparison *c)
{
	size_t n = 0, i;

	for (i = 0; i < c->nr_items; i++)
		n += c->items[i].fails;
	return n;
}
