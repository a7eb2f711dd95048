#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/text.h"

/* The load curves: a job's arrays on one chart, throughput and response time
 * against clients, and the steps as a table. */

bool page_curves_are_beside(const struct curve *a, const struct curve *b)
{
	return !strcmp(a->point->test, b->point->test) &&
	       (!a->point->step || !strcmp(a->point->name, b->point->name));
}

static void put_line(struct page *g, json_t *rate, json_t *time,
		     const struct curve *c)
{
	size_t color = layout_array(&g->layout, c->point), i;
	const char *name = page_array(c->point);
	json_t *a = page_series(g, rate, name, color);
	json_t *b = page_series(g, time, name, color);

	for (i = 0; i < c->sweep.nr_points; i++) {
		const struct sweep_point *p = &c->sweep.points[i];

		page_point(g, a, p->clients, p->rate.mean, p->rate.half);
		page_point(g, b, p->clients, p->response_ns.mean,
			   p->response_ns.half);
	}
}

char *page_knee(const struct curve *c, char *buf, size_t size)
{
	const struct sweep *s = &c->sweep;
	unsigned int low, high;

	if (!s->has_knee) {
		snprintf(buf, size, "none");
		return buf;
	}
	snprintf(buf, size, "%u", s->points[s->knee].clients);
	if (!s->has_interval)
		return buf;
	low = s->points[s->knee_low].clients;
	high = s->points[s->knee_high].clients;
	if (low == high)
		snprintf(buf, size, "%u (no other)", low);
	else
		snprintf(buf, size, "%u (%u to %u)", s->points[s->knee].clients,
			 low, high);
	return buf;
}

static void put_mark(struct page *g, json_t *chart, const struct curve *c,
		     bool is_time)
{
	json_t *marks = json_object_get(chart, "marks"), *o;
	const struct sweep_point *p;
	char knee[64];

	if (!c->sweep.has_knee)
		return;
	p = &c->sweep.points[c->sweep.knee];
	if (!marks)
		marks = put_array(&g->put, chart, "marks");
	o = put_object(&g->put, marks, NULL);
	put_int(&g->put, o, "x", p->clients);
	put_real(&g->put, o, "y", is_time ? p->response_ns.mean : p->rate.mean);
	put_int(&g->put, o, "color", layout_array(&g->layout, c->point));
	if (is_time)
		put_format(&g->put, o, "text", "%u", p->clients);
	else
		put_format(&g->put, o, "text", "%s: %s", page_array(c->point),
			   page_knee(c, knee, sizeof(knee)));
}

static void put_sentences(struct page *g, size_t first)
{
	const struct curve *c = g->curves.list;
	char text[1024];
	size_t i;

	page_format(g, "<ul>\n");
	for (i = first; i < g->curves.nr; i++) {
		if (!page_curves_are_beside(&c[i], &c[first]))
			continue;
		page_format(g, "<li><strong>");
		page_text(g, page_array(c[i].point));
		page_format(g, "</strong>: ");
		page_text(g, curve_say(&c[i], text, sizeof(text)));
		page_format(g, "</li>\n");
	}
	page_format(g, "</ul>\n");
}

/* --- the steps as a table --- */

static void put_step(struct page *g, const struct curve *c, size_t i)
{
	const struct sweep_point *p = &c->sweep.points[i];
	const struct load *l = &c->loads[i];
	char text[64];

	page_format(g, "<tr>");
	page_text_cell(g, page_array(c->point));
	page_number_cell(g, "%.0f", p->clients);
	page_mean_cell(g, METRIC_MB_S, p->rate.mean, p->rate.half);
	page_number_cell(g, "%.0f", p->rate.mean * 8);
	page_cell(g, l->iops, units_count(text, sizeof(text), l->iops));
	page_mean_cell(g, METRIC_MEAN, p->response_ns.mean,
		       p->response_ns.half);
	page_time_cell(g, true, l->p99_ns);
	page_number_cell(g, "%.3f", l->fairness);
	page_time_cell(g, l->has_cpu, l->cpu_ns);
	page_number_cell(g, "%.3f", l->littles_law);
	page_format(g, "</tr>\n");
}

static void put_steps(struct page *g, size_t first)
{
	const struct curve *c = g->curves.list;
	size_t i, k;

	page_format(g, "<details class=\"same\"><summary>Each step as a "
		       "table</summary>\n");
	page_table(g, "steps", "Steps");
	page_format(g,
		    "<thead><tr><th class=\"text\">array</th><th>clients</th>"
		    "<th>MB/s</th><th>Mbit/s</th><th>IOPS</th><th>mean "
		    "response</th><th>p99</th><th>fairness</th><th>CPU/IO</th>"
		    "<th>X R / N</th></tr>"
		    "</thead>\n<tbody>\n");
	for (i = first; i < g->curves.nr; i++)
		for (k = 0; page_curves_are_beside(&c[i], &c[first]) &&
			    k < c[i].sweep.nr_points;
		     k++)
			put_step(g, &c[i], k);
	page_table_end(g);
	page_format(g, "<p class=\"sub\">All operations together. Fairness is "
		       "Jain's index over the clients. X R / N is throughput "
		       "times response time over what was outstanding: 1 by "
		       "Little's law.</p>\n</details>\n");
}

/* --- a job --- */

static void put_job(struct page *g, size_t first)
{
	const struct curve *c = g->curves.list;
	json_t *rate, *time;
	char title[300];
	size_t i;

	page_format(g, "<h3>");
	page_text(g, page_test(c[first].point));
	page_format(g, "</h3>\n");
	snprintf(title, sizeof(title), "Throughput against clients");
	rate = page_chart(
		g, "lines", 0, title,
		"MB/s, all operations; ring: the knee, with its interval.");
	snprintf(title, sizeof(title), "Response time against clients");
	time = page_chart(g, "lines", 0, title,
			  "mean of all operations; ring: at the knee.");
	page_axis(g, rate, "x", "clients", "", false);
	page_axis(g, rate, "y", "MB/s", "MB/s", false);
	page_axis(g, time, "x", "clients", "", false);
	page_axis(g, time, "y", "mean response time", "time", false);
	for (i = first; i < g->curves.nr; i++)
		if (page_curves_are_beside(&c[i], &c[first])) {
			put_line(g, rate, time, &c[i]);
			put_mark(g, rate, &c[i], false);
			put_mark(g, time, &c[i], true);
		}
	put_sentences(g, first);
	page_format(g, "<p class=\"sub\">");
	page_text(g, sweep_rule);
	page_format(g, ". Bars and bands: 95 %% intervals of the mean, where "
		       "there are repeats.</p>\n");
	put_steps(g, first);
}

void page_put_curves(struct page *g)
{
	const struct curve *c = g->curves.list;
	size_t i, k;

	if (g->curves.nr)
		page_heading(g, "curves", "Load curves");
	for (i = 0; i < g->curves.nr; i++) {
		for (k = 0; k < i && !page_curves_are_beside(&c[k], &c[i]); k++)
			;
		if (k == i)
			put_job(g, i);
	}
}
