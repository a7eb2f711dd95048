#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/steady.h"
#include "report/text.h"

/* Jobs that are repeated until=steady: I/Os a second of each round, and what
 * SNIA's rules say of the last five. A chart a row, a result a line. */

/* The rounds of one row of one result. */
struct rounds {
	const struct point *first;
	double *x; /* owned; I/Os a second, all ops together */
	size_t n;
};

static bool wants_steady(const struct point *p)
{
	const json_t *repeats = json_object_get(
		json_object_get(p->file->doc, "lunbench"), "repeats");
	const char *until = point_setting(p, "until");

	return !strcmp(text_of(repeats, "until"), "steady") && until &&
	       !strcmp(until, "steady");
}

/* What only makes the LUN ready has one round, whatever is set for all. */
static bool prepares(const struct point *p)
{
	const char *prepare = point_setting(p, "prepare");

	return prepare && strcmp(prepare, "0") != 0;
}

/* The first point of a row that has rounds. */
static bool is_first(const struct page *g, const struct point *p)
{
	return wants_steady(p) && !prepares(p) && p->repeat <= 1 &&
	       (p == g->set->points || p[-1].file != p->file ||
		p[-1].row_index != p->row_index);
}

static bool is_round_of(const struct point *a, const struct point *b)
{
	return a->file == b->file && a->op == b->op && a->nth == b->nth &&
	       a->step == b->step && !strcmp(a->name, b->name);
}

static double rate_of(const json_t *row)
{
	double sum = 0;
	const char *key;
	json_t *op;

	json_object_foreach(json_object_get(row, "ops"), key, op) sum +=
		number_of(op, "ios_per_s");
	return sum;
}

/* False without memory. */
static bool collect(const struct page *g, const struct point *first,
		    struct rounds *r)
{
	const struct set *s = g->set;

	*r = (struct rounds){.first = first};
	r->x = malloc(s->nr_points * sizeof(*r->x));
	for (size_t i = 0; r->x && i < s->nr_points; i++)
		if (is_round_of(first, &s->points[i]) &&
		    json_is_true(
			    json_object_get(s->points[i].row, "has_run")) &&
		    !json_is_true(
			    json_object_get(s->points[i].row, "cut_short")))
			r->x[r->n++] = rate_of(s->points[i].row);
	return r->x;
}

/* Same row of the same job: they share a chart. */
static bool is_beside(const struct point *a, const struct point *b)
{
	return !strcmp(a->test, b->test) && a->nth == b->nth &&
	       a->step == b->step && !strcmp(a->name, b->name);
}

static bool is_drawn(const struct page *g, const struct point *p)
{
	for (const struct point *o = g->set->points; o < p; o++)
		if (is_first(g, o) && is_beside(o, p))
			return true;
	return false;
}

/* --- the chart --- */

static void put_window(struct page *g, json_t *events, const struct rounds *r,
		       size_t color)
{
	json_t *o;

	if (r->n < STEADY_ROUNDS)
		return;
	o = put_object(&g->put, events, NULL);
	put_real(&g->put, o, "at", (double)(r->n - STEADY_ROUNDS + 1));
	put_format(&g->put, o, "text", "%s: the last five",
		   page_array(r->first));
	put_int(&g->put, o, "color", color);
}

static void put_line(struct page *g, json_t *chart, json_t *events,
		     const struct point *p)
{
	size_t color = layout_array(&g->layout, p), i;
	json_t *series;
	struct rounds r;

	if (!collect(g, p, &r)) {
		g->put.failed = true;
		return;
	}
	series = page_series(g, chart, page_array(p), color);
	for (i = 0; i < r.n; i++)
		page_point(g, series, (double)(i + 1), r.x[i], 0);
	put_window(g, events, &r, color);
	free(r.x);
}

static char *name_of(const struct page *g, const struct point *p, char *buf,
		     size_t size)
{
	char text[512];

	snprintf(text, sizeof(text), "%.200s%s%.200s",
		 g->layout.nr_tests > 1 ? page_test(p) : "",
		 g->layout.nr_tests > 1 ? ": " : "", p->name);
	text_clean(buf, size, text);
	return buf;
}

static void put_chart(struct page *g, const struct point *first)
{
	const struct point *p, *end = g->set->points + g->set->nr_points;
	json_t *chart, *events;
	char name[512];

	chart = page_chart(g, "lines", 220,
			   name_of(g, first, name, sizeof(name)),
			   "I/Os a second of each round.");
	page_axis(g, chart, "x", "round", "", false);
	put_bool(&g->put, json_object_get(chart, "x"), "whole", true);
	page_axis(g, chart, "y", "IOPS", "IOPS", false);
	/* Each round is a dot. */
	put_array(&g->put, chart, "marks");
	events = put_array(&g->put, chart, "events");
	for (p = first; p < end; p++)
		if (is_first(g, p) && is_beside(first, p))
			put_line(g, chart, events, p);
}

/* --- the table --- */

static void put_rounds(struct page *g, const struct point *p)
{
	struct rounds r;
	struct steady s;
	char text[64];

	if (!collect(g, p, &r)) {
		g->put.failed = true;
		return;
	}
	steady_check(&s, r.x, r.n);
	page_format(g, "<tr>");
	page_text_cell(g, page_array(p));
	page_text_cell(g, name_of(g, p, (char[512]){""}, 512));
	page_number_cell(g, "%.0f", (double)r.n);
	page_cell(g, s.mean, units_count(text, sizeof(text), s.mean));
	page_number_cell(g, "%.1f %%", 100 * s.range);
	page_number_cell(g, "%.1f %%", 100 * s.excursion);
	page_format(g, "<td class=\"text\">%s</td></tr>\n",
		    s.is_steady ? "steady" : "not steady");
	free(r.x);
}

static void put_table(struct page *g)
{
	const struct point *p = g->set->points;

	page_table(g, "steady", "The last five rounds");
	page_format(g,
		    "<thead><tr><th class=\"text\">array</th><th class=\"text\""
		    ">row</th><th>rounds</th><th>mean IOPS</th><th>range</th>"
		    "<th>rise or fall</th><th class=\"text\"></th></tr></thead>"
		    "\n<tbody>\n");
	for (size_t i = 0; i < g->set->nr_points; i++, p++)
		if (is_first(g, p))
			put_rounds(g, p);
	page_table_end(g);
}

void page_put_steady(struct page *g)
{
	const struct point *p = g->set->points;
	bool has_heading = false;

	for (size_t i = 0; i < g->set->nr_points; i++, p++) {
		if (!is_first(g, p) || is_drawn(g, p))
			continue;
		if (!has_heading) {
			page_heading(g, "steady", "Steady state");
			page_format(g, "<div class=\"pair\">\n");
		}
		has_heading = true;
		put_chart(g, p);
	}
	if (!has_heading)
		return;
	page_format(g, "</div>\n");
	put_table(g);
	page_format(g,
		    "<p class=\"sub\">SNIA's rules, over the last %d rounds: "
		    "the range (highest less lowest) is at most %.0f %% of "
		    "their mean, and the line fitted to them rises or falls "
		    "by at most %.0f %% of it. Upright lines mark the first "
		    "of the five.</p>\n",
		    STEADY_ROUNDS, 100 * STEADY_RANGE, 100 * STEADY_EXCURSION);
}
