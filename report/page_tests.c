#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/text.h"

/* Jobs that are read as CrystalDiskMark's table: of each test the best of the
 * runs, which that program shows, beside mean, interval and median, which
 * others do. */

static bool is_test(const struct page *g, size_t row, size_t test)
{
	const struct layout_row *r = &g->layout.rows[row];

	return r->test == test && !strcmp(layout_view(r), "cdm");
}

static bool has_tests(const struct page *g, size_t test)
{
	size_t row;

	for (row = 0; row < g->layout.nr_rows; row++)
		if (is_test(g, row, test))
			return true;
	return false;
}

static void put_number(struct page *g, const struct spread *s, enum metric m,
		       double value)
{
	char text[64];

	if (s->n)
		page_cell(g, value, metric_text(m, value, text, sizeof(text)));
	else
		page_empty_cell(g);
}

static void put_line(struct page *g, const struct cell *f)
{
	const struct spread *of = f->figure->spread;
	char name[256], text[300];

	layout_row_name(&g->layout.rows[f->row], name, sizeof(name));
	snprintf(text, sizeof(text), "%s %s", name,
		 op_name(f->figure->point->op));
	page_format(g, "<tr>");
	page_text_cell(g, text);
	put_number(g, &of[METRIC_MB_S], METRIC_MB_S, of[METRIC_MB_S].best);
	page_metric_cell(g, f, METRIC_MB_S);
	put_number(g, &of[METRIC_MB_S], METRIC_MB_S, of[METRIC_MB_S].median);
	put_number(g, &of[METRIC_IOPS], METRIC_IOPS, of[METRIC_IOPS].best);
	put_number(g, &of[METRIC_MEAN], METRIC_MEAN, of[METRIC_MEAN].best);
	page_metric_cell(g, f, METRIC_MEAN);
	snprintf(text, sizeof(text), "%zu", cell_measured(f));
	page_cell(g, (double)cell_measured(f), text);
	page_format(g, "</tr>\n");
}

static void put_block(struct page *g, size_t array, size_t test)
{
	const struct cell *f;

	if (!layout_has(&g->layout, array, test))
		return;
	page_format(g, "<tbody><tr class=\"group\"><th class=\"text\" "
		       "colspan=\"8\">");
	page_text(g, page_array(g->layout.arrays[array]));
	page_format(g, "</th></tr>\n");
	for (f = g->layout.cells; f < g->layout.cells + g->layout.nr; f++)
		if (f->array == array && is_test(g, f->row, test) &&
		    f->figure->point->op != OP_FLUSH)
			put_line(g, f);
	page_format(g, "</tbody>\n");
}

static void put_job(struct page *g, size_t test)
{
	size_t array;

	page_format(g, "<h3>");
	page_text(g, page_test(g->layout.tests[test]));
	page_format(g, "</h3>\n");
	page_table(g, "tests", "Best, mean and median of the runs");
	page_format(g,
		    "<thead><tr><th class=\"text\">test</th><th>best MB/s</th>"
		    "<th>mean MB/s</th><th>median MB/s</th><th>best IOPS</th>"
		    "<th>least latency</th><th>mean latency</th><th>runs</th>"
		    "</tr></thead>\n");
	for (array = 0; array < g->layout.nr_arrays; array++)
		put_block(g, array, test);
	page_table_end(g);
	page_put_rates(g, test, "cdm");
}

void page_put_tests(struct page *g)
{
	bool has_heading = false;
	size_t test;

	for (test = 0; test < g->layout.nr_tests; test++) {
		if (!has_tests(g, test))
			continue;
		if (!has_heading)
			page_heading(g, "tests", "Best and mean of the runs");
		has_heading = true;
		put_job(g, test);
	}
	if (has_heading)
		page_format(g,
			    "<p class=\"sub\">CrystalDiskMark shows the best "
			    "throughput and the least mean latency of its "
			    "runs, KDiskMark the mean. &plusmn; is the 95 %% "
			    "interval of the mean.</p>\n");
}
