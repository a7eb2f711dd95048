#include <string.h>

#include "report/page.h"
#include "report/text.h"

/* Jobs that are read as bars, as ATTO shows them: a size a line, write and read
 * under each other; a chart an array, all of a job on one scale. */

static const enum io_op ops[] = {OP_WRITE, OP_READ};

enum { OPS = 2 };

static bool is_bar(const struct page *g, size_t row, size_t test)
{
	const struct layout_row *r = &g->layout.rows[row];

	return r->test == test && !strcmp(layout_view(r), "bars");
}

static size_t count_bars(const struct page *g, size_t test)
{
	size_t n = 0, row;

	for (row = 0; row < g->layout.nr_rows; row++)
		n += is_bar(g, row, test);
	return n;
}

static double highest(const struct page *g, size_t test)
{
	const struct cell *f;
	double most = 0, mean;

	for (f = g->layout.cells; f < g->layout.cells + g->layout.nr; f++) {
		mean = f->figure->spread[METRIC_MB_S].mean;
		if (is_bar(g, f->row, test) && mean > most)
			most = mean;
	}
	return most;
}

static void put_chart(struct page *g, size_t array, size_t test)
{
	size_t rows = count_bars(g, test), row, k;
	json_t *chart, *names, *series;
	char name[256];

	chart = page_chart(g, "bars", 80 + 30 * rows,
			   page_array(g->layout.arrays[array]), "MB/s");
	page_axis(g, chart, "x", "MB/s", "MB/s", false);
	put_real(&g->put, json_object_get(chart, "x"), "max", highest(g, test));
	names = put_array(&g->put, chart, "rows");
	for (row = 0; row < g->layout.nr_rows; row++)
		if (is_bar(g, row, test))
			put_text(&g->put, names, NULL,
				 layout_row_name(&g->layout.rows[row], name,
						 sizeof(name)));
	for (k = 0; k < OPS; k++) {
		series = page_series(g, chart, op_name(ops[k]), array);
		put_bool(&g->put, series, "pale", ops[k] == OP_READ);
		for (row = 0; row < g->layout.nr_rows; row++)
			if (is_bar(g, row, test))
				page_metric(g, series,
					    layout_find(&g->layout, array, row,
							ops[k]),
					    METRIC_MB_S);
	}
}

static void put_heads(struct page *g, size_t test)
{
	size_t array, n = 0;

	page_format(g, "<thead><tr><th class=\"text\" rowspan=\"2\">job</th>");
	for (array = 0; array < g->layout.nr_arrays; array++) {
		if (!layout_has(&g->layout, array, test))
			continue;
		n++;
		page_format(g, "<th colspan=\"2\">");
		page_text(g, page_array(g->layout.arrays[array]));
		page_format(g, "</th>");
	}
	page_format(g, "</tr>\n<tr>");
	while (n--)
		page_format(g, "<th>write</th><th>read</th>");
	page_format(g, "</tr></thead>\n<tbody>\n");
}

static void put_line(struct page *g, size_t row, size_t test)
{
	size_t array, k;
	char name[256];

	page_format(g, "<tr>");
	page_text_cell(
		g, layout_row_name(&g->layout.rows[row], name, sizeof(name)));
	for (array = 0; array < g->layout.nr_arrays; array++)
		for (k = 0; k < OPS; k++)
			if (layout_has(&g->layout, array, test))
				page_metric_cell(g,
						 layout_find(&g->layout, array,
							     row, ops[k]),
						 METRIC_MB_S);
	page_format(g, "</tr>\n");
}

static void put_job(struct page *g, size_t test)
{
	size_t array, row;

	page_format(g, "<h3>");
	page_text(g, page_test(g->layout.tests[test]));
	page_format(g, "</h3>\n<div class=\"pair\">\n");
	for (array = 0; array < g->layout.nr_arrays; array++)
		if (layout_has(&g->layout, array, test))
			put_chart(g, array, test);
	page_format(
		g,
		"</div>\n<details class=\"same\"><summary>The same as a table"
		"</summary>\n");
	page_table(g, "bars", "MB/s");
	put_heads(g, test);
	for (row = 0; row < g->layout.nr_rows; row++)
		if (is_bar(g, row, test))
			put_line(g, row, test);
	page_table_end(g);
	page_format(g, "</details>\n");
}

void page_put_bars(struct page *g)
{
	bool has_heading = false;
	size_t test;

	for (test = 0; test < g->layout.nr_tests; test++) {
		if (!count_bars(g, test))
			continue;
		if (!has_heading)
			page_heading(g, "sizes", "Throughput by transfer size");
		has_heading = true;
		put_job(g, test);
	}
}
