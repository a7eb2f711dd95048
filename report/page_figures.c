#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/text.h"

/* All figures, a table a job; and of those that no other section draws,
 * throughput and latency as charts. */

/* --- charts of one job, an array a colour --- */

static bool is_drawn(const struct page *g, size_t row, size_t test,
		     const char *view)
{
	const struct layout_row *r = &g->layout.rows[row];

	return r->test == test && !strcmp(layout_view(r), view);
}

/* Whether some array has that op in that row. */
static bool has_op(const struct page *g, size_t row, enum io_op op)
{
	size_t array;

	for (array = 0; array < g->layout.nr_arrays; array++)
		if (layout_find(&g->layout, array, row, op))
			return true;
	return false;
}

typedef void put_figure_fn(struct page *g, json_t *series,
			   const struct cell *f);

/* Calls @put for each row and op of the chart, in one order for all arrays; for
 * SIZE_MAX none: only the names. Returns how many there are. */
static size_t each_figure(struct page *g, size_t test, const char *view,
			  bool with_flush, size_t array, json_t *to,
			  put_figure_fn *put)
{
	char name[256];
	size_t row, n = 0;
	int op;

	for (row = 0; row < g->layout.nr_rows; row++)
		for (op = 0; op < OP_COUNT; op++) {
			if (!is_drawn(g, row, test, view) ||
			    (op == OP_FLUSH && !with_flush) ||
			    !has_op(g, row, op))
				continue;
			n++;
			if (put)
				put(g, to,
				    layout_find(&g->layout, array, row, op));
			else if (to)
				put_format(&g->put, to, NULL, "%s %s",
					   layout_row_name(&g->layout.rows[row],
							   name, sizeof(name)),
					   op_name(op));
		}
	return n;
}

static void put_rate(struct page *g, json_t *series, const struct cell *f)
{
	page_metric(g, series, f, METRIC_MB_S);
}

/* [mean, p50, p99] */
static void put_range(struct page *g, json_t *series, const struct cell *f)
{
	json_t *data = json_object_get(series, "data"), *range;
	double mean, p50, p99;

	if (!f || !cell_latency(f, "mean_ns", &mean) ||
	    !cell_latency(f, "p50_ns", &p50) ||
	    !cell_latency(f, "p99_ns", &p99)) {
		put_value(&g->put, data, NULL, json_null());
		return;
	}
	range = put_array(&g->put, data, NULL);
	put_real(&g->put, range, NULL, mean);
	put_real(&g->put, range, NULL, p50);
	put_real(&g->put, range, NULL, p99);
}

static size_t count_arrays(const struct page *g, size_t test)
{
	size_t n = 0, array;

	for (array = 0; array < g->layout.nr_arrays; array++)
		n += layout_has(&g->layout, array, test);
	return n;
}

static void fill(struct page *g, json_t *chart, size_t test, const char *view,
		 bool with_flush, put_figure_fn *put)
{
	size_t array;

	each_figure(g, test, view, with_flush, 0,
		    put_array(&g->put, chart, "rows"), NULL);
	for (array = 0; array < g->layout.nr_arrays; array++)
		if (layout_has(&g->layout, array, test))
			each_figure(
				g, test, view, with_flush, array,
				page_series(g, chart,
					    page_array(g->layout.arrays[array]),
					    array),
				put);
}

void page_put_rates(struct page *g, size_t test, const char *view)
{
	size_t n = each_figure(g, test, view, false, 0, NULL, NULL);
	json_t *chart;

	if (!n)
		return;
	chart = page_chart(g, "bars",
			   90 + n * (16 + 14 * count_arrays(g, test)),
			   "Throughput", "MB/s; 95 % intervals of repeats.");
	page_axis(g, chart, "x", "MB/s", "MB/s", false);
	fill(g, chart, test, view, false, put_rate);
}

static void put_ranges(struct page *g, size_t test, const char *view)
{
	size_t n = each_figure(g, test, view, true, 0, NULL, NULL);
	json_t *chart;

	if (!n)
		return;
	chart = page_chart(g, "ranges",
			   90 + n * (16 + 14 * count_arrays(g, test)),
			   "Latency",
			   "dot: mean; line: median to 99th percentile; log "
			   "scale.");
	page_axis(g, chart, "x", "latency", "time", true);
	fill(g, chart, test, view, true, put_range);
}

/* --- the table --- */

static void put_count(struct page *g, json_int_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	page_cell(g, (double)n, text);
}

/* The mean size, which is the block size unless sizes vary: then "~". */
static void put_block(struct page *g, const struct cell *f)
{
	json_int_t bytes = cell_sum(f, "bytes"), ios = cell_sum(f, "ios");
	char size[60], text[64];

	if (bytes <= 0 || ios <= 0) {
		page_empty_cell(g);
		return;
	}
	units_bytes(size, sizeof(size), (uint64_t)(bytes / ios));
	snprintf(text, sizeof(text), "%s%s", bytes % ios ? "~" : "", size);
	page_cell(g, (double)bytes / (double)ios, text);
}

static void put_latency(struct page *g, const struct cell *f, const char *key)
{
	double ns;
	bool has = cell_latency(f, key, &ns);

	page_time_cell(g, has, ns);
}

static void put_runs(struct page *g, const struct cell *f)
{
	size_t n = cell_measured(f);
	char text[64];

	if (n == f->nr)
		snprintf(text, sizeof(text), "%zu", n);
	else
		snprintf(text, sizeof(text), "%zu of %zu", n, f->nr);
	page_cell(g, (double)n, text);
}

static void put_name(struct page *g, const struct cell *f)
{
	char name[256], text[300];

	layout_row_name(&g->layout.rows[f->row], name, sizeof(name));
	snprintf(text, sizeof(text), "%s %s%s", name,
		 op_name(f->figure->point->op),
		 point_is_open(f->figure->point) ? " *" : "");
	if (g->layout.nr_arrays > 1)
		page_text_cell(g, page_array(f->figure->point));
	page_text_cell(g, text);
}

/* IOPS; their interval is that of MB/s, where there are these. */
static void put_rate_cell(struct page *g, const struct cell *f)
{
	const struct spread *s = &f->figure->spread[METRIC_IOPS];

	if (s->n)
		page_mean_cell(g, METRIC_IOPS, s->mean,
			       f->figure->point->op == OP_FLUSH ? s->half : 0);
	else
		page_empty_cell(g);
}

static void put_line(struct page *g, const struct cell *f)
{
	const char *failure = cell_failure(f);
	double cpu_ns;
	bool has_cpu;

	page_format(g, "<tr%s>", *failure ? " class=\"bad\"" : "");
	put_name(g, f);
	if (*failure) {
		page_format(g, "<td class=\"text failure\" colspan=\"13\">");
		page_text(g, failure);
		page_format(g, "</td></tr>\n");
		return;
	}
	put_block(g, f);
	put_count(g, int_of(f->figure->point->row, "total_depth"));
	put_count(g, int_of(json_object_get(f->figure->point->row, "fairness"),
			    "clients"));
	put_runs(g, f);
	page_metric_cell(g, f, METRIC_MB_S);
	put_rate_cell(g, f);
	page_metric_cell(g, f, METRIC_MEAN);
	put_latency(g, f, "p50_ns");
	page_metric_cell(g, f, METRIC_P99);
	put_latency(g, f, "p99_9_ns");
	put_latency(g, f, "max_ns");
	has_cpu = cell_cpu(f, &cpu_ns);
	page_time_cell(g, has_cpu, cpu_ns);
	put_count(g, cell_sum(f, "errors"));
	page_format(g, "</tr>\n");
}

static void put_table(struct page *g, size_t test)
{
	const struct cell *f;

	page_table(g, "figures", "Figures");
	page_format(g,
		    "<thead><tr>%s<th class=\"text\">job</th><th>block</th>"
		    "<th>QD</th><th>clients</th><th>runs</th><th>MB/s</th>"
		    "<th>IOPS</th><th>mean</th><th>p50</th><th>p99</th>"
		    "<th>p99.9</th><th>max</th><th>CPU/IO</th><th>errors</th>"
		    "</tr></thead>\n<tbody>\n",
		    g->layout.nr_arrays > 1 ? "<th class=\"text\">array</th>"
					    : "");
	for (f = g->layout.cells; f < g->layout.cells + g->layout.nr; f++)
		if (g->layout.rows[f->row].test == test)
			put_line(g, f);
	page_table_end(g);
}

static void put_job(struct page *g, size_t test)
{
	/* Their sections have shown them; what is left is long. */
	bool is_known = each_figure(g, test, "sweep", true, 0, NULL, NULL) ||
			each_figure(g, test, "bars", true, 0, NULL, NULL);

	page_format(g, "<h3>");
	page_text(g, page_test(g->layout.tests[test]));
	page_format(g, "</h3>\n");
	if (is_known)
		page_format(g, "<details><summary>The figures as a table"
			       "</summary>\n");
	put_table(g, test);
	if (is_known)
		page_format(g, "</details>\n");
	page_put_rates(g, test, "");
	page_put_rates(g, test, "copy");
	put_ranges(g, test, "");
	put_ranges(g, test, "copy");
	put_ranges(g, test, "cdm");
}

void page_put_figures(struct page *g)
{
	size_t test;

	page_heading(g, "figures", "All figures");
	for (test = 0; test < g->layout.nr_tests; test++)
		put_job(g, test);
	page_format(g,
		    "<p class=\"sub\">MB is 10^6 bytes. Latency is service "
		    "time, submitted to done; of jobs with * (at a set rate) "
		    "it is response time, due to done. QD is the total over "
		    "the clients. Of several runs: the mean, with its 95 %% "
		    "interval; of max, the largest.</p>\n");
}
