#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/text.h"

/* What a reader wants first: is it whole, which array wins at what, where the
 * knees are, how many warnings. */

enum { WINNERS_MOST = 24 };

static const json_t *own_of(const struct result_file *f)
{
	return json_object_get(f->doc, "lunbench");
}

/* --- is it whole --- */

static const char *end_of(const struct result_file *f)
{
	return text_of(json_object_get(own_of(f), "run"), "end");
}

static size_t count_partial(const struct page *g)
{
	size_t n = 0, i;

	for (i = 0; i < g->set->nr_files; i++)
		n += strcmp(end_of(&g->set->files[i]), "complete") != 0;
	return n;
}

static size_t count_quick(const struct page *g)
{
	size_t n = 0, i;

	for (i = 0; i < g->set->nr_files; i++)
		n += json_is_true(
			json_object_get(own_of(&g->set->files[i]), "quick"));
	return n;
}

static void put_partial(struct page *g)
{
	const struct result_file *f;
	const char *why, *array;
	size_t i;

	page_format(g, "<ul class=\"bad\">\n");
	for (i = 0; i < g->set->nr_files; i++) {
		f = &g->set->files[i];
		if (!strcmp(end_of(f), "complete"))
			continue;
		array = text_of(json_object_get(own_of(f), "target"), "array");
		why = text_of(json_object_get(json_object_get(own_of(f), "run"),
					      "error"),
			      "text");
		page_format(g, "<li>");
		page_text(g, array);
		page_format(g, *array ? " (" : "");
		page_text(g, f->path);
		page_format(g, "%s %s%s", *array ? ")" : "",
			    !strcmp(end_of(f), "failed") ? "failed"
							 : "was interrupted",
			    *why ? ": " : "");
		page_text(g, why);
		page_format(g, "</li>\n");
	}
	page_format(g, "</ul>\n");
}

/* Repeats that were to go on until a rule was fulfilled. */
static void put_until(struct page *g)
{
	const json_t *repeats;
	size_t i, told = 0;

	for (i = 0; i < g->set->nr_files; i++) {
		repeats = json_object_get(own_of(&g->set->files[i]), "repeats");
		if (!*text_of(repeats, "until"))
			continue;
		page_format(g, "%s<li>", told++ ? "" : "<ul class=\"sub\">\n");
		page_text(g, g->set->files[i].path);
		page_format(g, ": %lld passes until ",
			    (long long)int_of(repeats, "passes"));
		page_text(g, text_of(repeats, "until"));
		page_format(g, json_is_true(json_object_get(repeats, "reached"))
				       ? ", which was reached</li>\n"
				       : ", which was not reached</li>\n");
	}
	if (told)
		page_format(g, "</ul>\n");
}

/* Runs without a result, files that are none. */
static void put_missing(struct page *g)
{
	size_t i;

	page_format(g, "<ul class=\"bad\">\n");
	for (i = 0; i < g->set->nr_warnings; i++) {
		page_format(g, "<li>");
		page_text(g, g->set->warnings[i]);
		page_format(g, "</li>\n");
	}
	page_format(g, "</ul>\n");
}

static void put_state(struct page *g)
{
	size_t all, kinds = page_count_warnings(g, &all);
	size_t partial = count_partial(g), quick = count_quick(g);
	size_t missing = g->set->nr_warnings;

	if (quick)
		page_format(g,
			    "<p class=\"quick\"><strong>Quick%s.</strong> "
			    "Times and amounts were scaled down (--quick): "
			    "enough to see that it works, no figures to go "
			    "by.</p>\n",
			    quick == g->set->nr_files ? "" : " in part");
	page_format(g, "<p class=\"verdict %s\">",
		    partial || missing ? "bad"
		    : kinds	       ? "doubt"
				       : "good");
	if (partial)
		page_format(g,
			    "%zu of %zu runs did not come to their end: what "
			    "is here is part of what was planned. ",
			    partial, g->set->nr_files);
	else
		page_format(g, "Every run %scame to its end. ",
			    missing ? "that is here " : "");
	if (missing)
		page_format(g, "%zu %s. ", missing,
			    missing == 1 ? "is missing or could not be read"
					 : "are missing or could not be read");
	if (kinds)
		page_format(g,
			    "<a href=\"#warnings\">%zu warning%s of %zu "
			    "kind%s</a>.",
			    all, all == 1 ? "" : "s", kinds,
			    kinds == 1 ? "" : "s");
	else
		page_format(g, "No check found anything.");
	page_format(g, "</p>\n");
	if (partial)
		put_partial(g);
	if (missing)
		put_missing(g);
	put_until(g);
}

/* --- who is faster --- */

struct contender {
	const char *name;
	struct estimate rate; /* MB/s */
};

static int by_rate(const void *pa, const void *pb)
{
	const struct contender *a = pa, *b = pb;

	return (a->rate.mean < b->rate.mean) - (a->rate.mean > b->rate.mean);
}

/* " > " where the interval of the ratio says so, " ~ " where it does not, and
 * " >= " where there is none. */
static const char *order_of(const struct contender *a,
			    const struct contender *b)
{
	struct interval i;

	if (a->rate.mean == b->rate.mean)
		return " = ";
	if (!stats_ratio(&a->rate, &b->rate, &i))
		return " &ge; ";
	return i.low > 1 ? " &gt; " : " &asymp; ";
}

/* Sorts @c. */
static void put_ranking(struct page *g, struct contender *c, size_t nr)
{
	size_t i;

	qsort(c, nr, sizeof(*c), by_rate);
	for (i = 0; i < nr; i++) {
		page_format(g, "%s", i ? order_of(&c[i - 1], &c[i]) : "");
		page_text(g, c[i].name);
	}
}

static struct estimate estimate_of(double mean, double sd, size_t n)
{
	struct estimate e = {.mean = mean, .se = NAN};

	if (n > 1) {
		e.se = sd / sqrt((double)n);
		e.df = (double)(n - 1);
	}
	return e;
}

/* --- sweeps --- */

static void put_peak(struct page *g, const struct curve *c)
{
	const struct sweep *s = &c->sweep;
	const struct sweep_point *peak = &s->points[s->peak];
	char text[64];
	size_t i;

	page_mean_cell(g, METRIC_MB_S, peak->rate.mean, peak->rate.half);
	page_number_cell(g, "%.0f", peak->rate.mean * 8);
	page_number_cell(g, "%.0f", peak->clients);
	page_format(g, "<td class=\"text\">");
	for (i = 0; i < s->nr_phases; i++)
		page_format(g, "%s%s", i ? ", " : "",
			    sweep_phase_names[s->phases[i].kind]);
	page_format(g, "</td>");
	if (!s->has_response_ratio) {
		page_empty_cell(g);
		return;
	}
	snprintf(text, sizeof(text), "%.3g", s->response_ratio.value);
	page_cell(g, s->response_ratio.value, text);
}

static void put_knee(struct page *g, const struct curve *c)
{
	const struct sweep *s = &c->sweep;
	char text[64];

	page_format(g, "<tr>");
	page_text_cell(g, page_array(c->point));
	if (!s->has_knee) {
		page_format(g, "<td class=\"text none\" colspan=\"6\">no knee: "
			       "one load alone is no curve</td></tr>\n");
		return;
	}
	page_cell(g, s->points[s->knee].clients,
		  page_knee(c, text, sizeof(text)));
	put_peak(g, c);
	page_format(g, "</tr>\n");
}

static void put_sweep_ranking(struct page *g, size_t first)
{
	struct contender *all = calloc(g->curves.nr, sizeof(*all));
	const struct curve *c = g->curves.list;
	const struct summary *s;
	size_t i, nr = 0;

	for (i = first; all && i < g->curves.nr; i++) {
		if (!page_curves_are_beside(&c[i], &c[first]) ||
		    !c[i].sweep.has_knee)
			continue;
		s = &c[i].sweep.points[c[i].sweep.peak].rate;
		all[nr++] =
			(struct contender){page_array(c[i].point),
					   estimate_of(s->mean, s->sd, s->n)};
	}
	if (nr > 1) {
		page_format(g, "<p class=\"ranking\">By peak throughput: "
			       "<strong>");
		put_ranking(g, all, nr);
		page_format(g, "</strong></p>\n");
	}
	if (!all)
		g->put.failed = true;
	free(all);
}

static void put_sweep(struct page *g, size_t first)
{
	const struct curve *c = g->curves.list;
	size_t i;

	page_format(g, "<h3>");
	page_text(g, page_test(c[first].point));
	page_format(g, ": the load curve</h3>\n");
	put_sweep_ranking(g, first);
	page_table(g, "knees", "Knees and peaks");
	page_format(g,
		    "<thead><tr><th class=\"text\">array</th><th>knee, clients"
		    "</th><th>peak, MB/s</th><th>Mbit/s</th><th>at clients</th>"
		    "<th class=\"text\">phases</th><th>response time, last to "
		    "first</th></tr></thead>\n<tbody>\n");
	for (i = first; i < g->curves.nr; i++)
		if (page_curves_are_beside(&c[i], &c[first]))
			put_knee(g, &c[i]);
	page_table_end(g);
}

static void put_sweeps(struct page *g)
{
	const struct curve *c = g->curves.list;
	size_t i, k;

	for (i = 0; i < g->curves.nr; i++) {
		for (k = 0; k < i && !page_curves_are_beside(&c[k], &c[i]); k++)
			;
		if (k == i)
			put_sweep(g, i);
	}
}

/* --- the other jobs --- */

/* The arrays' figures of a row and op. Returns how many were measured. */
static size_t contend(const struct page *g, struct contender *all, size_t row,
		      enum io_op op)
{
	const struct cell *c;
	const struct spread *s;
	size_t array, nr = 0;

	for (array = 0; array < g->layout.nr_arrays; array++) {
		c = layout_find(&g->layout, array, row, op);
		s = c ? &c->figure->spread[METRIC_MB_S] : NULL;
		if (s && s->n)
			all[nr++] = (struct contender){
				page_array(c->figure->point),
				estimate_of(s->mean, s->sd, s->n)};
	}
	return nr;
}

static void put_winner(struct page *g, size_t row, enum io_op op,
		       struct contender *all, size_t nr)
{
	const struct layout_row *r = &g->layout.rows[row];
	char name[256], text[300];

	layout_row_name(r, name, sizeof(name));
	snprintf(text, sizeof(text), "%s %s", name, op_name(op));
	page_format(g, "<tr>");
	if (g->layout.nr_tests > 1)
		page_text_cell(g, page_test(r->point));
	page_text_cell(g, text);
	page_format(g, "<td class=\"text\">");
	put_ranking(g, all, nr);
	page_format(g, "</td>");
	page_cell(
		g, all[0].rate.mean,
		metric_text(METRIC_MB_S, all[0].rate.mean, text, sizeof(text)));
	page_number_cell(g, "%.2f", all[0].rate.mean / all[1].rate.mean);
	page_number_cell(g, "%.2f", all[0].rate.mean / all[nr - 1].rate.mean);
	page_format(g, "</tr>\n");
}

/* Of rows that are read as bars, the one whose best array is fastest stands for
 * all. */
static double best_of(const struct page *g, size_t row, enum io_op op)
{
	const struct cell *c;
	double best = 0;
	size_t array;

	for (array = 0; array < g->layout.nr_arrays; array++) {
		c = layout_find(&g->layout, array, row, op);
		if (c)
			best = fmax(best, c->figure->spread[METRIC_MB_S].mean);
	}
	return best;
}

static bool is_widest(const struct page *g, size_t row, enum io_op op)
{
	const struct layout_row *rows = g->layout.rows;
	double best = best_of(g, row, op), other;
	size_t i;

	for (i = 0; i < g->layout.nr_rows; i++) {
		if (rows[i].test != rows[row].test ||
		    strcmp(layout_view(&rows[i]), "bars") != 0)
			continue;
		other = best_of(g, i, op);
		if (other > best || (other == best && i < row))
			return false;
	}
	return true;
}

static bool is_contest(const struct page *g, size_t row, enum io_op op)
{
	const char *view = layout_view(&g->layout.rows[row]);

	return op != OP_FLUSH && strcmp(view, "sweep") != 0 &&
	       strcmp(view, "prepare") != 0 &&
	       (strcmp(view, "bars") != 0 || is_widest(g, row, op));
}

static void put_winners(struct page *g)
{
	struct contender *all = calloc(g->layout.nr_arrays + 1, sizeof(*all));
	size_t row, nr, told = 0;
	int op;

	if (!all)
		g->put.failed = true;
	for (row = 0; all && row < g->layout.nr_rows; row++)
		for (op = 0; op < OP_COUNT; op++) {
			if (!is_contest(g, row, op))
				continue;
			nr = contend(g, all, row, op);
			if (nr < 2 || told++ >= WINNERS_MOST)
				continue;
			if (told == 1) {
				page_table(g, "winners",
					   "Which array wins at what");
				page_format(
					g,
					"<thead><tr>%s<th class=\"text\">job"
					"</th><th class=\"text\">by throughput"
					"</th><th>best, MB/s</th><th>times the "
					"second</th><th>times the last</th>"
					"</tr></thead>\n<tbody>\n",
					g->layout.nr_tests > 1
						? "<th class=\"text\">test</th>"
						: "");
			}
			put_winner(g, row, op, all, nr);
		}
	if (told)
		page_table_end(g);
	if (told > WINNERS_MOST)
		page_format(g,
			    "<p class=\"sub\">%zu more are in <a "
			    "href=\"#figures\">all figures</a>.</p>\n",
			    told - WINNERS_MOST);
	free(all);
}

/* With one array there is no contest: its two extremes. */
static const struct cell *highest(const struct page *g, enum metric m)
{
	const struct cell *c, *best = NULL;

	for (c = g->layout.cells; c < g->layout.cells + g->layout.nr; c++)
		if (c->figure->point->op != OP_FLUSH &&
		    strcmp(layout_view(&g->layout.rows[c->row]), "prepare") !=
			    0 &&
		    c->figure->spread[m].n &&
		    (!best ||
		     c->figure->spread[m].mean > best->figure->spread[m].mean))
			best = c;
	return best;
}

static void put_extreme(struct page *g, const char *what, enum metric m,
			const char *unit)
{
	const struct cell *c = highest(g, m);
	char name[256], text[64];

	if (!c)
		return;
	metric_text(m, c->figure->spread[m].mean, text, sizeof(text));
	page_format(g, "<div><dt>%s</dt><dd>%s %s<small>", what, text, unit);
	page_text(g,
		  layout_row_name(&g->layout.rows[c->row], name, sizeof(name)));
	page_format(g, " %s</small></dd></div>\n",
		    op_name(c->figure->point->op));
}

static void put_extremes(struct page *g)
{
	page_format(g, "<dl class=\"extremes\">\n");
	put_extreme(g, "Highest throughput", METRIC_MB_S, "MB/s");
	put_extreme(g, "Most I/Os", METRIC_IOPS, "IOPS");
	page_format(g, "</dl>\n");
}

void page_put_summary(struct page *g)
{
	put_state(g);
	put_sweeps(g);
	if (g->layout.nr_arrays > 1)
		put_winners(g);
	else if (!g->curves.nr)
		put_extremes(g);
	if (g->layout.nr_arrays > 1)
		page_format(g, "<p class=\"sub\">&gt; faster, the 95 %% "
			       "interval of the ratio is above 1; &asymp; no "
			       "difference shown; &ge; faster in a single run, "
			       "which has no interval.</p>\n");
}
