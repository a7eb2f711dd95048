#include "report/bottlenecks.h"
#include "report/page.h"

/* What held each throughput where it is: the verdicts of the results. */

enum { LINES_MOST = 200 };

static const json_t *rows_of(const struct result_file *f)
{
	return json_object_get(json_object_get(f->doc, "lunbench"), "rows");
}

static size_t count_lines(const struct page *g)
{
	struct bottleneck_line l;
	size_t i, at, n = 0;

	for (i = 0; i < g->set->nr_files; i++)
		for (at = 0;
		     bottleneck_next(rows_of(&g->set->files[i]), &at, &l);)
			n++;
	return n;
}

static void put_line(struct page *g, const struct result_file *f,
		     const struct bottleneck_line *l)
{
	page_format(g, "<tr>");
	if (g->set->nr_files > 1)
		page_text_cell(g, f->path);
	page_text_cell(g, l->title);
	page_text_cell(g, *l->what ? l->what : "not known");
	page_text_cell(g, l->why);
	page_format(g, "</tr>\n");
}

void page_put_limits(struct page *g)
{
	size_t i, at, told = 0, all = count_lines(g);
	const struct result_file *f;
	struct bottleneck_line l;

	if (!all)
		return;
	page_heading(g, "limits", "What limited it");
	page_table(g, "limits", "What limited it");
	page_format(g,
		    "<thead><tr>%s<th class=\"text\">job</th>"
		    "<th class=\"text\">limit</th>"
		    "<th class=\"text\">because</th></tr></thead><tbody>\n",
		    g->set->nr_files > 1 ? "<th class=\"text\">result</th>"
					 : "");
	for (i = 0; i < g->set->nr_files; i++) {
		f = &g->set->files[i];
		for (at = 0; bottleneck_next(rows_of(f), &at, &l);)
			if (told++ < LINES_MOST)
				put_line(g, f, &l);
	}
	page_table_end(g);
	if (all > LINES_MOST)
		page_format(g, "<p>... and %zu more, in the result files</p>\n",
			    all - LINES_MOST);
}
