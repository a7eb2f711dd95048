#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/text.h"

/* Throughput over the time of each run, with what happened in it. A job's
 * results are on one chart, a result a line; one that is alone has a line for
 * each row and op, or, where these are many, for each op. */

enum {
	OWN_LINES_MOST = 8,
	POINTS_A_LINE = 400,
	EVENTS_DRAWN = 12,
	EVENTS_TOLD = 100
};

/* MB/s by the time since the run's start. */
struct line {
	struct spot {
		double x, y;
	} * spot; /* owned */
	size_t nr;
	double interval_s;
};

static const json_t *own_of(const struct result_file *f)
{
	return json_object_get(f->doc, "lunbench");
}

static const char *test_of(const struct result_file *f)
{
	const char *test = text_of(own_of(f), "job"), *slash;

	slash = strrchr(test, '/');
	return slash ? slash + 1 : test;
}

/* --- lines --- */

static double start_of(const struct result_file *f, const json_t *row)
{
	const json_t *groups =
		json_object_get(json_object_get(own_of(f), "run"), "groups");
	json_int_t group = int_of(row, "group");

	return number_of(json_array_get(groups, group < 0 ? 0 : (size_t)group),
			 "start_ns") /
	       1e9;
}

static const json_t *bytes_of(const json_t *row, enum io_op op)
{
	return json_object_get(
		json_object_get(json_object_get(row, "series"), op_name(op)),
		"bytes");
}

static bool line_add(struct line *l, double x, double y)
{
	struct spot *more = realloc(l->spot, (l->nr + 1) * sizeof(*more));

	if (!more)
		return false;
	l->spot = more;
	more[l->nr++] = (struct spot){x, y};
	return true;
}

/* Adds one row's op. Rows of one group begin together, so what is at the same
 * place in time is in the last intervals, from @from on. */
static bool line_add_row(struct line *l, const struct result_file *f,
			 const json_t *row, enum io_op op, size_t from)
{
	const json_t *bytes = bytes_of(row, op);
	double interval =
		number_of(json_object_get(row, "series"), "interval_ns") / 1e9;
	double start = start_of(f, row), y;
	size_t i;

	if (!(interval > 0))
		return true;
	l->interval_s = interval;
	for (i = 0; i < json_array_size(bytes); i++) {
		y = json_number_value(json_array_get(bytes, i)) / 1e6 /
		    interval;
		if (from + i < l->nr)
			l->spot[from + i].y += y;
		else if (!line_add(l, start + ((double)i + 0.5) * interval, y))
			return false;
	}
	return true;
}

/* Of those ops together (bits), group by group. */
static bool line_add_ops(struct line *l, const struct result_file *f,
			 unsigned int ops)
{
	const json_t *rows = json_object_get(own_of(f), "rows"), *row;
	json_int_t group = -1;
	size_t from = 0, i;
	int op;

	for (i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		if (int_of(row, "group") != group)
			from = l->nr;
		group = int_of(row, "group");
		for (op = 0; op < OP_COUNT; op++)
			if (ops & OP_BIT(op) &&
			    !line_add_row(l, f, row, op, from))
				return false;
	}
	return true;
}

static void line_release(struct line *l)
{
	free(l->spot);
	*l = (struct line){0};
}

/* The line as a row of the table beside the chart. */
static void put_extremes(struct page *g, const char *name, const struct line *l)
{
	double least = INFINITY, most = 0, sum = 0;
	char text[64];
	size_t i;

	for (i = 0; i < l->nr; i++) {
		least = fmin(least, l->spot[i].y);
		most = fmax(most, l->spot[i].y);
		sum += l->spot[i].y;
	}
	page_format(g, "<tr>");
	page_text_cell(g, name);
	page_number_cell(g, "%.0f", (double)l->nr);
	page_cell(g, least,
		  metric_text(METRIC_MB_S, least, text, sizeof(text)));
	sum /= (double)l->nr;
	page_cell(g, sum, metric_text(METRIC_MB_S, sum, text, sizeof(text)));
	page_cell(g, most, metric_text(METRIC_MB_S, most, text, sizeof(text)));
	page_format(g, "</tr>\n");
}

/* Neighbours become their mean where there are too many to see: of how many, is
 * returned. */
static size_t put_line(struct page *g, json_t *chart, const struct line *l,
		       const char *name, size_t color, bool is_unnamed)
{
	size_t step = (l->nr + POINTS_A_LINE - 1) / POINTS_A_LINE, i, k, n;
	json_t *series;
	double x, y;

	if (!l->nr)
		return 1;
	series = page_series(g, chart, name, color);
	put_bool(&g->put, series, "thin", true);
	put_bool(&g->put, series, "unnamed", is_unnamed);
	put_real(&g->put, series, "seconds", l->interval_s * (double)step);
	for (i = 0; i < l->nr; i += n) {
		x = y = 0;
		for (n = 0; n < step && i + n < l->nr; n++)
			;
		for (k = i; k < i + n; k++) {
			x += l->spot[k].x;
			y += l->spot[k].y;
		}
		page_point(g, series, x / (double)n, y / (double)n, 0);
	}
	put_extremes(g, name, l);
	return step;
}

/* --- events --- */

static bool is_told(const json_t *event)
{
	return strcmp(text_of(event, "kind"), "phase") != 0;
}

/* @array: whose they are, where there are several. */
static void put_events(struct page *g, json_t *chart,
		       const struct result_file *f, const char *array,
		       size_t color)
{
	const json_t *all = json_object_get(own_of(f), "events"), *event;
	json_t *events = json_object_get(chart, "events"), *o;
	size_t i;

	if (!events)
		events = put_array(&g->put, chart, "events");
	for (i = 0; i < json_array_size(all); i++) {
		event = json_array_get(all, i);
		if (!is_told(event) || json_array_size(events) >= EVENTS_DRAWN)
			continue;
		o = put_object(&g->put, events, NULL);
		put_real(&g->put, o, "at", number_of(event, "at_ns") / 1e9);
		put_format(&g->put, o, "text", "%s%s%s", array,
			   *array ? ": " : "", text_of(event, "text"));
		if (color != SIZE_MAX)
			put_int(&g->put, o, "color", color);
	}
}

static void put_event_table(struct page *g, const char *test)
{
	const struct result_file *f;
	const json_t *events, *event;
	char at[64];
	size_t i, k, told = 0, more = 0;

	for (i = 0; i < g->set->nr_files; i++) {
		f = &g->set->files[i];
		events = json_object_get(own_of(f), "events");
		for (k = 0; k < json_array_size(events); k++) {
			event = json_array_get(events, k);
			if (!is_told(event) || strcmp(test_of(f), test) != 0)
				continue;
			if (told++ >= EVENTS_TOLD) {
				more++;
				continue;
			}
			if (told == 1) {
				page_table(g, "events", "Events");
				page_format(g, "<thead><tr><th class=\"text\">"
					       "result</th><th>at</th><th "
					       "class=\"text\">what</th></tr>"
					       "</thead>\n<tbody>\n");
			}
			page_format(g, "<tr>");
			page_text_cell(g, f->path);
			snprintf(at, sizeof(at), "%.2f s",
				 number_of(event, "at_ns") / 1e9);
			page_cell(g, number_of(event, "at_ns"), at);
			page_text_cell(g, text_of(event, "text"));
			page_format(g, "</tr>\n");
		}
	}
	if (told)
		page_table_end(g);
	if (more)
		page_format(g,
			    "<p class=\"sub\">%zu more events are in the "
			    "result files.</p>\n",
			    more);
}

/* --- one job --- */

static size_t count_files(const struct page *g, const char *test)
{
	size_t n = 0, i;

	for (i = 0; i < g->set->nr_files; i++)
		n += !strcmp(test_of(&g->set->files[i]), test);
	return n;
}

/* A line for each row and op of the job's one result. */
static size_t put_points(struct page *g, json_t *chart,
			 const struct result_file *f)
{
	size_t color = 0, step = 1, k, i;
	const struct point *p;
	char name[300];

	for (i = 0; i < g->set->nr_points; i++) {
		struct line l = {0};

		p = &g->set->points[i];
		if (p->file != f || p->op == OP_FLUSH)
			continue;
		if (!line_add_row(&l, f, p->row, p->op, 0))
			g->put.failed = true;
		snprintf(name, sizeof(name), "%.200s %s", p->name,
			 op_name(p->op));
		k = put_line(g, chart, &l, name, color++, false);
		step = k > step ? k : step;
		line_release(&l);
	}
	return step;
}

/* A line for each op of the job's one result. */
static size_t put_ops(struct page *g, json_t *chart,
		      const struct result_file *f)
{
	size_t color = 0, step = 1, k;
	int op;

	for (op = 0; op < OP_FLUSH; op++) {
		struct line l = {0};

		if (!line_add_ops(&l, f, OP_BIT(op)))
			g->put.failed = true;
		k = put_line(g, chart, &l, op_name(op), color++, false);
		step = k > step ? k : step;
		line_release(&l);
	}
	return step;
}

/* A line for a result; an array's repeats have its name once. */
static size_t put_result(struct page *g, json_t *chart,
			 const struct result_file *f, const bool *named)
{
	const struct point *p = g->set->points, *end = p + g->set->nr_points;
	struct line l = {0};
	size_t array, step;

	while (p < end && p->file != f)
		p++;
	if (p == end)
		return 1;
	array = layout_array(&g->layout, p);
	if (!line_add_ops(&l, f, ~OP_BIT(OP_FLUSH)))
		g->put.failed = true;
	step = put_line(g, chart, &l, page_array(p), array, named[array]);
	put_events(g, chart, f, page_array(p), array);
	line_release(&l);
	return step;
}

static size_t put_results(struct page *g, json_t *chart, const char *test)
{
	bool *named = calloc(g->layout.nr_arrays + 1, sizeof(*named));
	const struct result_file *f;
	size_t i, k, step = 1;

	for (i = 0; named && i < g->set->nr_files; i++) {
		f = &g->set->files[i];
		if (strcmp(test_of(f), test) != 0)
			continue;
		k = put_result(g, chart, f, named);
		step = k > step ? k : step;
		for (k = 0; k < g->set->nr_points; k++)
			if (g->set->points[k].file == f)
				named[layout_array(&g->layout,
						   &g->set->points[k])] = true;
	}
	if (!named)
		g->put.failed = true;
	free(named);
	return step;
}

static size_t count_points(const struct page *g, const struct result_file *f)
{
	size_t n = 0, i;

	for (i = 0; i < g->set->nr_points; i++)
		n += g->set->points[i].file == f &&
		     g->set->points[i].op != OP_FLUSH;
	return n;
}

static void put_job(struct page *g, const struct result_file *first)
{
	const char *test = test_of(first);
	json_t *chart;
	size_t step;

	chart = page_chart(g, "lines", 0, *test ? test : "command line",
			   "MB/s by completion, ramp and drain included; "
			   "dashed: events.");
	page_axis(g, chart, "x", "seconds since the run's start", "s", false);
	page_axis(g, chart, "y", "MB/s", "MB/s", false);
	put_bool(&g->put, chart, "plain", true);
	page_format(g,
		    "<details class=\"same\"><summary>As a table</summary>\n");
	page_table(g, "lines", "MB/s of the intervals");
	page_format(g, "<thead><tr><th class=\"text\">line</th>"
		       "<th>intervals</th><th>least</th><th>mean</th><th>most"
		       "</th></tr></thead>\n<tbody>\n");
	if (count_files(g, test) > 1) {
		step = put_results(g, chart, test);
	} else {
		step = count_points(g, first) <= OWN_LINES_MOST
			       ? put_points(g, chart, first)
			       : put_ops(g, chart, first);
		put_events(g, chart, first, "", SIZE_MAX);
	}
	page_table_end(g);
	page_format(g, "</details>\n");
	if (step > 1)
		page_format(g,
			    "<p class=\"sub\">Of the longest line, each point "
			    "is the mean of %zu intervals.</p>\n",
			    step);
	put_event_table(g, test);
}

void page_put_series(struct page *g)
{
	const struct result_file *f = g->set->files;
	size_t i, k;

	if (!g->set->nr_points)
		return;
	page_heading(g, "series", "Over time");
	for (i = 0; i < g->set->nr_files; i++) {
		for (k = 0;
		     k < i && strcmp(test_of(&f[k]), test_of(&f[i])) != 0; k++)
			;
		if (k == i)
			put_job(g, &f[i]);
	}
}
