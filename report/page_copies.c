#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/text.h"

/* Beside published figures: absolute, relative to RAID 0 of each table, and by
 * rank; whether the two tables agree on which volume is faster. */

static const char base_volume[] = "raid0";

/* Lines of one test in one direction. */
static bool is_beside(const struct comparison_item *a,
		      const struct comparison_item *b)
{
	return a->point->op == b->point->op &&
	       !strcmp(a->line->test, b->line->test) &&
	       !strcmp(a->point->name, b->point->name);
}

static double published(const struct comparison_item *i)
{
	return i->a.estimate.mean;
}

static double here(const struct comparison_item *i)
{
	return i->has_b ? i->b.estimate.mean : 0;
}

typedef double value_fn(const struct comparison_item *i);

/* 1 for the fastest of the volumes that both tables have. */
static size_t rank(const struct comparison *c, const struct comparison_item *of,
		   value_fn *value)
{
	const struct comparison_item *i;
	size_t n = 1;

	for (i = c->items; i < c->items + c->nr_items; i++)
		n += is_beside(i, of) && i->has_b && value(i) > value(of);
	return n;
}

static const struct comparison_item *base_of(const struct comparison *c,
					     const struct comparison_item *of)
{
	const struct comparison_item *i;

	for (i = c->items; i < c->items + c->nr_items; i++)
		if (is_beside(i, of) && i->has_b &&
		    !strcmp(i->line->volume, base_volume))
			return i;
	return NULL;
}

static void put_relative(struct page *g, const struct comparison_item *i,
			 const struct comparison_item *base, value_fn *value)
{
	char text[32];

	if (!base || !(value(base) > 0)) {
		page_empty_cell(g);
		return;
	}
	snprintf(text, sizeof(text), "%.2f", value(i) / value(base));
	page_cell(g, value(i) / value(base), text);
}

static void put_rank(struct page *g, size_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", n);
	page_cell(g, (double)n, text);
}

static void put_here(struct page *g, const struct comparison_item *i)
{
	const struct estimate *e = &i->b.estimate;

	if (!i->has_b)
		page_empty_cell(g);
	else
		page_mean_cell(g, METRIC_MB_S, e->mean,
			       i->b.basis == BASIS_RUNS ? e->se * stats_t(e->df)
							: 0);
}

static void put_line(struct page *g, const struct comparison_item *i)
{
	const struct comparison_item *base = base_of(g->beside, i);
	size_t ours = rank(g->beside, i, here),
	       theirs = rank(g->beside, i, published);
	char text[64];

	page_format(g, "<tr>");
	page_text_cell(g, i->line->volume);
	put_here(g, i);
	page_cell(g, published(i),
		  metric_text(METRIC_MB_S, published(i), text, sizeof(text)));
	if (!i->has_b) {
		page_format(g, "<td class=\"text none\" colspan=\"6\">not "
			       "measured</td></tr>\n");
		return;
	}
	snprintf(text, sizeof(text), "%.3f", i->ratio);
	page_cell(g, i->ratio, text);
	put_relative(g, i, base, here);
	put_relative(g, i, base, published);
	put_rank(g, ours);
	put_rank(g, theirs);
	page_format(g, "<td class=\"text\">%s</td></tr>\n",
		    ours == theirs ? "agrees" : "differs");
}

/* Pairs of volumes that both tables put in the same order. */
static void count_pairs(const struct comparison *c,
			const struct comparison_item *of, size_t *same,
			size_t *all)
{
	const struct comparison_item *i, *k, *end = c->items + c->nr_items;

	*same = *all = 0;
	for (i = c->items; i < end; i++)
		for (k = i + 1; k < end; k++) {
			if (!is_beside(i, of) || !is_beside(k, of) ||
			    !i->has_b || !k->has_b)
				continue;
			++*all;
			*same += (here(i) - here(k)) *
					 (published(i) - published(k)) >
				 0;
		}
}

static void put_chart(struct page *g, const struct comparison_item *first,
		      const char *title)
{
	const struct comparison *c = g->beside;
	const struct comparison_item *base = base_of(c, first), *i;
	json_t *chart, *rows, *ours, *theirs;
	size_t n = 0;

	for (i = c->items; i < c->items + c->nr_items; i++)
		n += is_beside(i, first) && i->has_b;
	if (!base || !(here(base) > 0) || n < 2)
		return;
	chart = page_chart(g, "bars", 90 + 34 * n, title,
			   "relative to RAID 0 of the same table.");
	page_axis(g, chart, "x", "times RAID 0", "x", false);
	rows = put_array(&g->put, chart, "rows");
	ours = page_series(g, chart, "here", 0);
	theirs = page_series(g, chart, "published", 0);
	put_bool(&g->put, theirs, "pale", true);
	for (i = c->items; i < c->items + c->nr_items; i++) {
		if (!is_beside(i, first) || !i->has_b)
			continue;
		put_text(&g->put, rows, NULL, i->line->volume);
		page_value(g, ours, here(i) / here(base), 0);
		page_value(g, theirs, published(i) / published(base), 0);
	}
}

static void put_test(struct page *g, const struct comparison_item *first)
{
	const struct comparison *c = g->beside;
	const char *way = first->point->op == OP_WRITE ? "up" : "down";
	const struct comparison_item *i;
	char title[300];
	size_t same, all;

	if (!strcmp(first->point->name, first->line->test) ||
	    !strcmp(first->point->name, way))
		snprintf(title, sizeof(title), "%s, %s", first->line->test,
			 way);
	else
		snprintf(title, sizeof(title), "%s, %s (%.100s)",
			 first->line->test, way, first->point->name);
	page_table(g, "published", title);
	page_format(g,
		    "<thead><tr><th class=\"text\" rowspan=\"2\">volume</th>"
		    "<th colspan=\"3\">MB/s</th><th colspan=\"2\">times RAID 0"
		    "</th><th colspan=\"3\">rank</th></tr>\n<tr><th>here</th>"
		    "<th>publ.</th><th>ratio</th><th>here</th><th>publ.</th>"
		    "<th>here</th><th>publ.</th><th class=\"text\"></th></tr>"
		    "</thead>\n<tbody>\n");
	for (i = c->items; i < c->items + c->nr_items; i++)
		if (is_beside(i, first))
			put_line(g, i);
	page_table_end(g);
	count_pairs(c, first, &same, &all);
	if (all)
		page_format(g,
			    "<p class=\"sub\">Both tables put %zu of %zu pairs "
			    "of volumes in the same order.</p>\n",
			    same, all);
	put_chart(g, first, title);
}

void page_put_copies(struct page *g)
{
	const struct comparison *c = g->beside;
	size_t i, k;

	if (!c || !c->nr_items)
		return;
	page_heading(g, "published", "Beside published figures");
	page_format(g, "<p class=\"sub\">Published (publ.): ");
	page_text(g, strrchr(c->a, '/') ? strrchr(c->a, '/') + 1 : c->a);
	page_format(g, ". A published figure is of other disks, another "
		       "network and a file system: what can be compared is the "
		       "order of the volumes, not the MB/s.</p>\n"
		       "<div class=\"pair\">\n");
	for (i = 0; i < c->nr_items; i++) {
		for (k = 0; k < i && !is_beside(&c->items[k], &c->items[i]);
		     k++)
			;
		if (k < i || !c->items[i].line)
			continue;
		page_format(g, "<section>");
		put_test(g, &c->items[i]);
		page_format(g, "</section>\n");
	}
	page_format(g, "</div>\n");
}
