#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"

/* Latency by percentile, on log axes. With several arrays a chart for each row
 * and op, an array a line; with one a chart for each job, a row and op a line.
 * Of a sweep the step that has most clients; jobs that are read as bars have
 * none. */

enum { LINES_A_CHART = 8, CHARTS_MOST = 24 };

static const double percents[] = {50, 90, 99, 99.9, 99.99, 100};

enum { PERCENTS = sizeof(percents) / sizeof(percents[0]) };

struct chart {
	json_t *spec;
	size_t nr;
};

/* The highest step of its sweep that any array has. */
static bool is_last_step(const struct page *g, size_t row)
{
	const struct layout_row *r = &g->layout.rows[row], *other;

	for (other = g->layout.rows; other < g->layout.rows + g->layout.nr_rows;
	     other++)
		if (other->test == r->test &&
		    other->point->step > r->point->step &&
		    !strcmp(other->point->name, r->point->name))
			return false;
	return true;
}

static bool is_wanted(const struct page *g, const struct cell *f)
{
	const struct layout_row *r = &g->layout.rows[f->row];

	return cell_measured(f) && strcmp(layout_view(r), "bars") != 0 &&
	       strcmp(layout_view(r), "prepare") != 0 &&
	       (!r->point->step || is_last_step(g, f->row));
}

/* --- a line --- */

/* From 29 % on, twice as the rest is halved, down to the last sample: the
 * smallest would flatten all the others on a log axis. */
static void put_curve(struct page *g, json_t *series, const struct bins *b)
{
	double x;

	for (x = M_SQRT2; b->nr && x <= 2 * (double)b->total; x *= M_SQRT2)
		page_point(g, series, x,
			   (double)bins_percentile_ns(b, 100 - 100 / x), 0);
}

static void put_cells(struct page *g, const char *name, const struct bins *b)
{
	size_t i;

	page_format(g, "<tr>");
	page_text_cell(g, name);
	for (i = 0; i < PERCENTS; i++)
		page_time_cell(g, b->nr > 0,
			       (double)bins_percentile_ns(b, percents[i]));
	page_format(g, "</tr>\n");
}

typedef void put_bins_fn(struct page *g, const struct cell *f, const char *name,
			 size_t color, const struct bins *b, void *user);

static void with_bins(struct page *g, const struct cell *f, const char *name,
		      size_t color, put_bins_fn *put, void *user)
{
	struct bins b = {0};
	int err = cell_bins(f, &b, g->e);

	if (err && !g->err)
		g->err = err;
	if (!err && b.nr)
		put(g, f, name, color, &b, user);
	bins_release(&b);
}

static void draw(struct page *g, const struct cell *f, const char *name,
		 size_t color, const struct bins *b, void *user)
{
	(void)f;
	put_curve(g, page_series(g, user, name, color), b);
}

static void tell(struct page *g, const struct cell *f, const char *name,
		 size_t color, const struct bins *b, void *user)
{
	(void)f;
	(void)color;
	(void)user;
	put_cells(g, name, b);
}

/* --- which lines --- */

static char *figure_title(const struct page *g, const struct cell *f, char *buf,
			  size_t size)
{
	char name[256];

	snprintf(buf, size, "%s %s",
		 layout_row_name(&g->layout.rows[f->row], name, sizeof(name)),
		 op_name(f->figure->point->op));
	return buf;
}

/* Lines @from to @to of those that are wanted of one row and op, or with one
 * array of one job. */
static size_t each_line(struct page *g, const struct cell *first, size_t from,
			put_bins_fn *put, void *user)
{
	bool by_array = g->layout.nr_arrays > 1;
	const struct cell *f;
	char name[300];
	size_t n = 0;

	for (f = first; f < g->layout.cells + g->layout.nr; f++) {
		if (!is_wanted(g, f) ||
		    (by_array ? f->row != first->row ||
					f->figure->point->op !=
						first->figure->point->op
			      : g->layout.rows[f->row].test !=
					g->layout.rows[first->row].test))
			continue;
		if (put && n >= from && n < from + LINES_A_CHART)
			with_bins(g, f,
				  by_array ? page_array(f->figure->point)
					   : figure_title(g, f, name,
							  sizeof(name)),
				  by_array ? f->array : n - from, put, user);
		n++;
	}
	return n;
}

static bool is_first(struct page *g, const struct cell *f)
{
	const struct cell *before;
	bool by_array = g->layout.nr_arrays > 1;

	if (!is_wanted(g, f))
		return false;
	for (before = g->layout.cells; before < f; before++)
		if (is_wanted(g, before) &&
		    (by_array ? before->row == f->row &&
					before->figure->point->op ==
						f->figure->point->op
			      : g->layout.rows[before->row].test ==
					g->layout.rows[f->row].test))
			return false;
	return true;
}

static void put_chart(struct page *g, const struct cell *first, size_t from)
{
	char title[400], name[300];
	json_t *chart;

	if (g->layout.nr_arrays > 1)
		snprintf(title, sizeof(title), "%.100s%s%s",
			 g->layout.nr_tests > 1
				 ? page_test(first->figure->point)
				 : "",
			 g->layout.nr_tests > 1 ? ": " : "",
			 figure_title(g, first, name, sizeof(name)));
	else
		snprintf(title, sizeof(title), "%.300s",
			 page_test(first->figure->point));
	page_format(g, "<section>");
	chart = page_chart(g, "lines", 0, title, "");
	page_axis(g, chart, "x", "percentile", "percentile", true);
	page_axis(g, chart, "y", "latency", "time", true);
	each_line(g, first, from, draw, chart);
	page_format(g,
		    "<details class=\"same\"><summary>As a table</summary>\n");
	page_table(g, "percentiles", title);
	page_format(g, "<thead><tr><th class=\"text\">line</th><th>50 %%</th>"
		       "<th>90 %%</th><th>99 %%</th><th>99.9 %%</th><th>99.99 "
		       "%%</th><th>max</th></tr></thead>\n<tbody>\n");
	each_line(g, first, from, tell, NULL);
	page_table_end(g);
	page_format(g, "</details></section>\n");
}

void page_put_latency(struct page *g)
{
	const struct cell *f;
	size_t charts = 0, left = 0, from, n;

	for (f = g->layout.cells; f < g->layout.cells + g->layout.nr; f++) {
		if (!is_first(g, f))
			continue;
		n = each_line(g, f, 0, NULL, NULL);
		for (from = 0; from < n; from += LINES_A_CHART) {
			if (charts == CHARTS_MOST) {
				left++;
				continue;
			}
			if (!charts++) {
				page_heading(g, "percentiles",
					     "Latency by percentile");
				page_format(g, "<div class=\"pair\">\n");
			}
			put_chart(g, f, from);
		}
	}
	if (!charts)
		return;
	page_format(g,
		    "</div>\n<p class=\"sub\">Both axes are logarithmic; "
		    "repeats are one histogram; of a sweep the step with most "
		    "clients%s",
		    left ? ". " : ".</p>\n");
	if (left)
		page_format(g,
			    "%zu more charts are not drawn: report fewer jobs "
			    "with --job.</p>\n",
			    left);
}
